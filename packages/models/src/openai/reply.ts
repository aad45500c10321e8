import type { Message, ModelRequest, ToolCall } from "@troupe/core";
import { readArguments } from "../wire/tool-calls.ts";
import { namesByWire } from "../wire/wire-names.ts";

/** A call as it came over the wire, whatever of it came. */
export interface SaidCall {
  id: string | null;
  name: string;
  arguments: string;
}

/**
 * Calls with their arguments read, and with ids of their own: one that has none, or one that was used before in the
 * conversation, gets another, since results are matched by it.
 */
export function collectCalls(said: readonly SaidCall[], { messages, tools }: ModelRequest): ToolCall[] {
  const used = new Set(callIdsIn(messages));
  const names = namesByWire(tools);
  return said.map((call) => {
    const id = freeId(call.id, used);
    used.add(id);
    if (call.name === "") return { id, name: "", args: null, problem: "the call names no tool: say which" };
    const name = names.get(call.name) ?? call.name.toWellFormed();
    return { id, name, ...readArguments(call.arguments) };
  });
}

function callIdsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "assistant" ? message.calls.map(({ id }) => id) : []));
}

function freeId(wanted: string | null, used: ReadonlySet<string>): string {
  if (wanted && !used.has(wanted)) return wanted;
  const stem = wanted || "call";
  for (let count = used.size + 1; ; count += 1) {
    const id = `${stem}-${count}`;
    if (!used.has(id)) return id;
  }
}
