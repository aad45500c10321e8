import type { Message, ToolCall } from "@troupe/core";

type ToolMessage = Extract<Message, { role: "tool" }>;

/**
 * The conversation in an order that every server takes: no empty turns of the model, each call with an id of its own
 * and followed by its one result, no result without a call, and what a user says in several messages as one.
 */
export function tidyMessages(messages: readonly Message[]): Message[] {
  const tidy: Message[] = [];
  const usedIds = new Set<string>();
  for (const [place, message] of messages.entries()) {
    if (message.role === "tool") continue;
    if (message.role === "assistant") {
      if (message.text === "" && message.calls.length === 0) continue;
      const calls = message.calls.map((call) => ({ ...call, id: wireIdOf(call.id, usedIds) }));
      tidy.push({ ...message, calls }, ...resultsOf(message.calls, calls, messages.slice(place + 1)));
      continue;
    }
    const before = tidy.at(-1);
    if (before?.role === "user") tidy[tidy.length - 1] = { ...before, text: `${before.text}\n\n${message.text}` };
    else tidy.push(message);
  }
  return tidy;
}

/** One for each call, wherever it stands before the model's next turn. */
function resultsOf(asked: readonly ToolCall[], calls: readonly ToolCall[], after: readonly Message[]): ToolMessage[] {
  const end = after.findIndex(({ role }) => role === "assistant");
  const results = after.slice(0, end < 0 ? after.length : end).filter((message) => message.role === "tool");
  return calls.map(({ id, name }, i) => {
    const result = results.find(({ callId }) => callId === asked[i]?.id) ?? { ...missing, name };
    return { ...result, callId: id };
  });
}

const missing = { role: "tool", text: "there is no result of this call", isError: true } as const;

/** The longest id that OpenAI takes. */
const idCharactersMax = 64;

/** Other providers' calls may have ids that are too long, or the same in every turn. */
function wireIdOf(id: string, used: Set<string>): string {
  let unique = id.slice(0, idCharactersMax) || "call";
  for (let count = 2; used.has(unique); count += 1) unique = `${id.slice(0, idCharactersMax - 8)}-${count}`;
  used.add(unique);
  return unique;
}

/** What a tool said, as the model reads it: the wires have no word of their own for a failure. */
export function resultText({ text, isError }: ToolMessage): string {
  return isError ? `Error: ${text}`.toWellFormed() : text.toWellFormed();
}
