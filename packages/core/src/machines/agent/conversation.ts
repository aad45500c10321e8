import type { Pin } from "../../protocol/entry.ts";
import type { Message, ModelReply } from "../../protocol/model.ts";
import type { RunRequest } from "../../protocol/request.ts";

/** What a model reads, and how long that is by our estimate. */
export interface Conversation {
  messages: readonly Message[];
  /** Tokens of all messages and of what comes with every call, kept as a sum: adding up anew would be quadratic. */
  contextTokens: number;
}

/** Nearly every text has more bytes to a token: an estimate that is to be a reserve errs upwards. */
const bytesPerToken = 3;
/** What every message costs besides its words, and every call besides its messages. */
const messageOverheadTokens = 8;
const callOverheadTokens = 64;

const utf8 = new TextEncoder();

export function estimateTokens(text: string): number {
  return Math.ceil(utf8.encode(text).byteLength / bytesPerToken);
}

/** A conversation that begins with the one message that a run gets: everything it has to know is in it. */
export function openConversation(request: RunRequest, pin: Pin): Conversation {
  const fixed = callOverheadTokens + estimateTokens(pin.prompt) + estimateTokens(JSON.stringify(pin.tools));
  return withMessage({ messages: [], contextTokens: fixed }, { role: "user", text: openingText(request) });
}

function openingText(request: RunRequest): string {
  const parts = [request.task];
  if (request.successCriteria) parts.push(`Success criteria: ${request.successCriteria}`);
  if (request.context) parts.push(`Context:\n${request.context}`);
  return parts.join("\n\n");
}

/** The conversation, longer by these messages. */
export function withMessages(conversation: Conversation, added: readonly Message[]): Conversation {
  return {
    messages: [...conversation.messages, ...added],
    contextTokens: added.reduce((sum, message) => sum + messageTokens(message), conversation.contextTokens),
  };
}

export function withMessage(conversation: Conversation, message: Message): Conversation {
  return withMessages(conversation, [message]);
}

/**
 * A conversation that ends with a reply, of which the provider has counted what was read and said: where that is more
 * than our estimate, it holds. Never less: what is set aside has to be enough. Thoughts that are not kept are not read
 * again.
 */
export function correctedBy({ usage, thinking }: ModelReply, conversation: Conversation): Conversation {
  const { inputTokens, outputTokens, reasoningTokens = 0 } = usage;
  const keptTokens = thinking ? outputTokens : outputTokens - reasoningTokens;
  return { ...conversation, contextTokens: Math.max(conversation.contextTokens, inputTokens + keptTokens) };
}

export function messageTokens(message: Message): number {
  const calls = message.role === "assistant" && message.calls.length > 0 ? JSON.stringify(message.calls) : "";
  return messageOverheadTokens + estimateTokens(message.text) + estimateTokens(calls);
}

/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /^[\uDC00-\uDFFF]/;

/** The whole conversation as a text, for whoever was not part of it; the newest part of it where it is too long. */
export function transcriptOf(messages: readonly Message[], charactersMax = 200_000): string {
  const text = messages.map(lineOf).join("\n\n");
  if (text.length <= charactersMax) return text;
  return `[the beginning is left out]\n${text.slice(-charactersMax).replace(halfCharacter, "")}`;
}

function lineOf(message: Message): string {
  switch (message.role) {
    case "user":
      return `User: ${message.text}`;
    case "assistant": {
      const calls = message.calls.map(({ name, args }) => `[calls ${name} ${JSON.stringify(args)}]`);
      return [`Assistant: ${message.text}`, ...calls].join("\n").trimEnd();
    }
    case "tool":
      return `${message.isError ? "Failure" : "Result"} of ${message.name}: ${message.text}`;
  }
}
