import type { TextBlockParam, Tool } from "@anthropic-ai/sdk/resources/messages";
import type { WireMessage } from "./wire-writer.ts";

/** One turn to read from what the turn before has written, one to write for the next. */
const markedTurns = 2;

/**
 * Marks up to where a request is worth keeping: its tools, its prompt, and its last turns of the user, four marks in
 * all, which is the most that the API takes. In a long loop of calls each turn reads what the one before wrote.
 */
export function withCacheMarks(prompt: {
  tools: Tool[];
  system: TextBlockParam[];
  messages: WireMessage[];
}): typeof prompt {
  const turns = prompt.messages.flatMap(({ role }, i) => (role === "user" ? [i] : [])).slice(-markedTurns);
  return {
    tools: markLast(prompt.tools),
    system: markLast(prompt.system),
    messages: prompt.messages.map((message, i) =>
      turns.includes(i) ? { ...message, content: markLast(message.content) } : message,
    ),
  };
}

/** The last of a list; none that can be last here is one that cannot be marked. */
function markLast<Item extends object>(items: Item[]): Item[] {
  return items.map((item, i) => (i === items.length - 1 ? { ...item, cache_control: { type: "ephemeral" } } : item));
}
