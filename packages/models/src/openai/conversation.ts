import type { Message, ToolCall } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import type { RequestTarget } from "./dialect.ts";

type ResultMessage = Extract<Message, { role: "tool" }>;

/**
 * Converts a conversation to an order that every server accepts: no empty reply of the model, each call with a unique id
 * and exactly one result after it, no result without a call, and consecutive user messages merged.
 */
export function normalizeMessages(messages: readonly Message[]): Message[] {
  const normalized: Message[] = [];
  const usedIds = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") continue;
    if (message.role === "assistant") {
      if (message.text === "" && message.calls.length === 0) continue;
      const calls = message.calls.map((call) => ({ ...call, id: uniqueWireId(call.id, usedIds) }));
      normalized.push({ ...message, calls }, ...resultsOf(message.calls, calls, messages.slice(index + 1)));
      continue;
    }
    const before = normalized.at(-1);
    if (before?.role === "user") {
      normalized[normalized.length - 1] = { ...before, text: `${before.text}\n\n${message.text}` };
    } else {
      normalized.push(message);
    }
  }
  return normalized;
}

/** One result per call, from anywhere before the model's next reply. */
function resultsOf(
  original: readonly ToolCall[],
  calls: readonly ToolCall[],
  after: readonly Message[],
): ResultMessage[] {
  const end = after.findIndex(({ role }) => role === "assistant");
  const results = after.slice(0, end < 0 ? after.length : end).filter((message) => message.role === "tool");
  return calls.map(({ id, name }, i) => {
    const result = results.find(({ callId }) => callId === original[i]?.id) ?? { ...missingResult, name };
    return { ...result, callId: id };
  });
}

const missingResult = { role: "tool", text: "this call has no result", isError: true } as const;

/** OpenAI's limit. */
const idCharactersMax = 64;

/** Call ids of other providers may be too long, or the same in every turn. */
function uniqueWireId(id: string, used: Set<string>): string {
  let unique = id.slice(0, idCharactersMax) || "call";
  for (let count = 2; used.has(unique); count += 1) unique = `${id.slice(0, idCharactersMax - 8)}-${count}`;
  used.add(unique);
  return unique;
}

/** The text of a tool result for the model: these APIs have no field for a failure. */
export function resultText({ text, isError }: ResultMessage): string {
  return isError ? `Error: ${text}`.toWellFormed() : text.toWellFormed();
}

/** Whether this model did this thinking. Other models cannot use it. */
export function isOwnThinking(thinking: Thinking, { provider, model }: RequestTarget): boolean {
  return thinking.provider === provider && thinking.model === model;
}
