import type { RunSpec } from "../../protocol/entry.ts";
import type { Message, ModelReply } from "../../protocol/model.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { asHistory, withoutHint } from "./result-placeholders.ts";

/** What a model reads, and how long that is by our estimate. */
export interface Conversation {
  messages: readonly Message[];
  /** Tokens of all messages and of what comes with every call, kept as a sum: adding up anew would be quadratic. */
  contextTokens: number;
  /** Where the message with the request stands: before it is what was said in earlier turns of the session. */
  requestAt: number;
  /** The step of the newest reply among them; 0 before the first. */
  repliedStep: number;
}

/** Nearly every text has more bytes to a token: an estimate that is to be a reserve errs upwards. */
export const bytesPerToken = 3;
/** What every message costs besides its words, and every call besides its messages. */
const messageOverheadTokens = 8;
const callOverheadTokens = 64;

const utf8 = new TextEncoder();

export function estimateTokens(text: string): number {
  return Math.ceil(utf8.encode(text).byteLength / bytesPerToken);
}

/**
 * A conversation that begins with what was said in the session before, and then the one message that a run gets:
 * everything else that it has to know is in that.
 */
export function openConversation(request: RunRequest, pin: RunSpec): Conversation {
  const history = asHistory(pin.history, pin);
  const opening: Message = { role: "user", text: openingText(request) };
  const empty = emptyConversation(pin);
  return { ...empty, ...withMessages(empty, [...history, opening]), requestAt: history.length };
}

/** What comes with every call, before a word is said. */
export function emptyConversation(pin: RunSpec): Conversation {
  const contextTokens = callOverheadTokens + estimateTokens(pin.prompt) + estimateTokens(JSON.stringify(pin.tools));
  return { messages: [], contextTokens, requestAt: 0, repliedStep: 0 };
}

function openingText(request: RunRequest): string {
  const parts = [request.task];
  if (request.successCriteria) parts.push(`Success criteria: ${request.successCriteria}`);
  if (request.context) parts.push(`Context:\n${request.context}`);
  return parts.join("\n\n");
}

/** What grows with every message. */
type Said = Pick<Conversation, "messages" | "contextTokens">;

/** The conversation, longer by these messages. */
export function withMessages(conversation: Said, added: readonly Message[]): Said {
  return {
    messages: [...conversation.messages, ...added],
    contextTokens: conversation.contextTokens + tokensOf(added),
  };
}

export function withMessage(conversation: Said, message: Message): Said {
  return withMessages(conversation, [message]);
}

/** The conversation, longer by the model's reply to a step. What it thought goes back to it with what it said. */
export function withReply(conversation: Said, step: number, reply: ModelReply): Said & { repliedStep: number } {
  const { text, calls, thinking } = reply;
  const message: Message = { role: "assistant", text, calls, ...(thinking ? { thinking } : {}) };
  return { ...correctedBy(reply, withMessage(conversation, message)), repliedStep: step };
}

/**
 * A conversation that ends with a reply, of which the provider has counted what was read and said: where that is more
 * than our estimate, it holds. Never less: what is set aside has to be enough. Thoughts that are not kept are not read
 * again.
 */
function correctedBy({ usage, thinking }: ModelReply, conversation: Said): Said {
  const { inputTokens, outputTokens, reasoningTokens = 0 } = usage;
  const keptTokens = thinking ? outputTokens : outputTokens - reasoningTokens;
  return { ...conversation, contextTokens: Math.max(conversation.contextTokens, inputTokens + keptTokens) };
}

export function messageTokens(message: Message): number {
  const said = messageOverheadTokens + estimateTokens(message.text);
  if (message.role !== "assistant") return said;
  const { calls, thinking = [] } = message;
  const parts = [calls, thinking].map((part) => (part.length > 0 ? estimateTokens(JSON.stringify(part)) : 0));
  return parts.reduce((sum, tokens) => sum + tokens, said);
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /^[\uDC00-\uDFFF]/;

/**
 * The whole conversation as a text, for whoever was not part of it; the newest part of it where it is too long.
 *
 * @param referenceOf by what the result at a place among the messages can be asked for again
 */
export function transcriptOf(
  messages: readonly Message[],
  charactersMax = 200_000,
  referenceOf: (index: number) => string | null = () => null,
): string {
  const text = messages.map((message, index) => lineOf(message, referenceOf(index))).join("\n\n");
  if (text.length <= charactersMax) return text;
  return `[the beginning is left out]\n${text.slice(-charactersMax).replace(halfCharacter, "")}`;
}

function lineOf(message: Message, reference: string | null): string {
  switch (message.role) {
    case "user":
      return `User: ${message.text}`;
    case "assistant": {
      const calls = message.calls.map(({ name, args }) => `[calls ${name} ${JSON.stringify(args)}]`);
      return [`Assistant: ${message.text}`, ...calls].join("\n").trimEnd();
    }
    case "tool": {
      const result = `${message.isError ? "Failure" : "Result"}${reference ? ` ${reference}` : ""} of ${message.name}`;
      return `${result}: ${withoutHint(message.text)}`;
    }
  }
}
