import type { Message, ToolCall } from "@troupe/core";

type ToolMessage = Extract<Message, { role: "tool" }>;

/**
 * The conversation in an order that every server takes: no empty turns of the model, each call followed by its one
 * result, no result without a call, and what a user says in several messages as one.
 */
export function tidyMessages(messages: readonly Message[]): Message[] {
  const tidy: Message[] = [];
  for (const [place, message] of messages.entries()) {
    if (message.role === "tool") continue;
    if (message.role === "assistant") {
      if (message.text === "" && message.calls.length === 0) continue;
      tidy.push(message, ...resultsOf(message.calls, messages.slice(place + 1)));
      continue;
    }
    const before = tidy.at(-1);
    if (before?.role === "user") tidy[tidy.length - 1] = { ...before, text: `${before.text}\n\n${message.text}` };
    else tidy.push(message);
  }
  return tidy;
}

/** One for each call, wherever it stands before the model's next turn. */
function resultsOf(calls: readonly ToolCall[], after: readonly Message[]): ToolMessage[] {
  const results = new Map<string, ToolMessage>();
  for (const message of after) {
    if (message.role === "assistant") break;
    if (message.role === "tool" && !results.has(message.callId)) results.set(message.callId, message);
  }
  return calls.map(({ id, name }) => results.get(id) ?? { ...missing, callId: id, name });
}

const missing = { role: "tool", text: "there is no result of this call", isError: true } as const;

/** Ids of calls that the conversation knows. */
export function callIdsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "assistant" ? message.calls.map(({ id }) => id) : []));
}

/** What a tool said, as the model reads it: the wires have no word of their own for a failure. */
export function resultText({ text, isError }: ToolMessage): string {
  return isError ? `Error: ${text}`.toWellFormed() : text.toWellFormed();
}
