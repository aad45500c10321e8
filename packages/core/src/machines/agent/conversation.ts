import type { RunSpec } from "../../protocol/entry.ts";
import type { Message, ModelReply } from "../../protocol/model.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { asHistory, stripHint } from "./result-placeholders.ts";

/** The messages that a model reads, and their estimated length. */
export interface Conversation {
  messages: readonly Message[];
  /** Tokens of all messages and of the parts sent with every call. Kept as a sum: adding up anew would be quadratic. */
  contextTokens: number;
  /** Index of the message with the request. Messages before it come from earlier turns of the session. */
  requestIndex: number;
  /** The step of the newest reply; 0 before the first. */
  lastReplyStep: number;
}

/** The part of a conversation that grows with every message. */
type MessageList = Pick<Conversation, "messages" | "contextTokens">;

/** Nearly every text has more bytes per token: an estimate used as a reserve has to err upwards. */
export const bytesPerToken = 3;
/** Tokens of every message besides its text, and of every call besides its messages. */
const messageOverheadTokens = 8;
const callOverheadTokens = 64;

const utf8 = new TextEncoder();

export function estimateTokens(text: string): number {
  return Math.ceil(utf8.encode(text).byteLength / bytesPerToken);
}

/** The conversation of a new run: the session's history, then one message with everything that the run has to know. */
export function openConversation(request: RunRequest, pin: RunSpec): Conversation {
  const history = asHistory(pin.history, pin);
  const opening: Message = { role: "user", text: openingText(request) };
  const empty = emptyConversation(pin);
  return { ...empty, ...withMessages(empty, [...history, opening]), requestIndex: history.length };
}

/** A conversation without messages: the tokens of the system prompt and the tools, which come with every call. */
export function emptyConversation({ prompt, tools }: RunSpec): Conversation {
  const contextTokens = callOverheadTokens + estimateTokens(prompt) + estimateTokens(JSON.stringify(tools));
  return { messages: [], contextTokens, requestIndex: 0, lastReplyStep: 0 };
}

function openingText(request: RunRequest): string {
  const parts = [request.task];
  if (request.successCriteria) parts.push(`Success criteria: ${request.successCriteria}`);
  if (request.context) parts.push(`Context:\n${request.context}`);
  return parts.join("\n\n");
}

export function withMessages(conversation: MessageList, added: readonly Message[]): MessageList {
  return {
    messages: [...conversation.messages, ...added],
    contextTokens: conversation.contextTokens + tokensOf(added),
  };
}

export function withMessage(conversation: MessageList, message: Message): MessageList {
  return withMessages(conversation, [message]);
}

/** Adds the model's reply to a step. Its thinking goes back to the model with its text. */
export function withReply(
  conversation: MessageList,
  step: number,
  reply: ModelReply,
): MessageList & { lastReplyStep: number } {
  const { text, calls, thinking } = reply;
  const message: Message = { role: "assistant", text, calls, ...(thinking ? { thinking } : {}) };
  return { ...correctedBy(reply, withMessage(conversation, message)), lastReplyStep: step };
}

/**
 * Corrects the estimate by the provider's own count for the reply that ends the conversation. The higher of the two
 * holds, so that a reserve is never too small. Thinking that is not stored is not read again.
 */
function correctedBy({ usage, thinking }: ModelReply, conversation: MessageList): MessageList {
  const { inputTokens, outputTokens, reasoningTokens = 0 } = usage;
  const storedTokens = thinking ? outputTokens : outputTokens - reasoningTokens;
  return { ...conversation, contextTokens: Math.max(conversation.contextTokens, inputTokens + storedTokens) };
}

export function messageTokens(message: Message): number {
  const textTokens = messageOverheadTokens + estimateTokens(message.text);
  if (message.role !== "assistant") return textTokens;
  const { calls, thinking = [] } = message;
  const parts = [calls, thinking].map((part) => (part.length > 0 ? estimateTokens(JSON.stringify(part)) : 0));
  return parts.reduce((sum, tokens) => sum + tokens, textTokens);
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** The second half of a surrogate pair, left over by a cut. */
const loneLowSurrogate = /^[\uDC00-\uDFFF]/;

/**
 * A conversation as plain text, for a reader that did not take part in it. A text over the limit loses its beginning.
 *
 * @param referenceOf returns the reference by which the result at an index can be recalled
 */
export function transcriptOf(
  messages: readonly Message[],
  charactersMax = 200_000,
  referenceOf: (index: number) => string | null = () => null,
): string {
  const text = messages.map((message, index) => lineOf(message, referenceOf(index))).join("\n\n");
  if (text.length <= charactersMax) return text;
  return `[the beginning is left out]\n${text.slice(-charactersMax).replace(loneLowSurrogate, "")}`;
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
      return `${result}: ${stripHint(message.text)}`;
    }
  }
}
