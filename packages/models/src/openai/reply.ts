import type { Message, ModelReply, ModelRequest, ToolCall, Usage } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import { namesByWire, readArguments } from "../wire/tool-calls.ts";
import type { RequestTarget } from "./dialect.ts";
import type { ServerEvent } from "./stream.ts";
import { estimatedTokens, type Tokens } from "./usage.ts";

/** A complete answer of one of the two APIs. */
export interface WireReply {
  text: string;
  calls: WireCall[];
  thinking: Omit<Thinking, "provider" | "model">[];
  stopReason: ModelReply["stopReason"];
  /** The model that answered; null when the server does not tell. */
  model: string | null;
  /** Null when the server does not tell. */
  tokens: Tokens | null;
}

/** A call as the server sent it. */
export interface WireCall {
  id: string | null;
  name: string;
  arguments: string;
}

/** Composes an answer from events. Throws a `BrokenAnswer` for an event with an error. */
export interface ReplyReader {
  /** Adds an event and forwards its text. True after the last event. */
  take(event: ServerEvent): boolean;
  /**
   * The answer; null when it is incomplete.
   *
   * @param closed whether the server marked the end of the stream
   */
  end(closed: boolean): WireReply | null;
}

/** The model reply of an answer. */
export function composeReply(
  answer: WireReply,
  request: ModelRequest,
  target: RequestTarget,
  usageOf: (tokens: Tokens) => Usage,
): ModelReply {
  const calls = readCalls(answer.calls, request);
  const thinking = answer.thinking.map((one) => ({ provider: target.provider, model: target.model, ...one }));
  return {
    text: answer.text,
    calls,
    usage: usageOf(answer.tokens ?? estimatedTokens(request, outputText(answer))),
    stopReason: answer.stopReason,
    model: `${target.provider}/${answer.model ?? target.model}`,
    ...(thinking.length > 0 ? { thinking } : {}),
  };
}

/** The whole output as text, to estimate its tokens. */
function outputText({ text, calls, thinking }: WireReply): string {
  const args = calls.map((call) => call.name + call.arguments);
  return [text, ...args, ...thinking.map(({ block }) => JSON.stringify(block))].join("");
}

/** Parses the arguments of calls. A call whose id is missing or already used in the conversation gets a new id. */
function readCalls(calls: readonly WireCall[], { messages, tools }: ModelRequest): ToolCall[] {
  const usedIds = new Set(callIdsIn(messages));
  const names = namesByWire(tools);
  return calls.map((call) => {
    const id = uniqueId(call.id, usedIds);
    usedIds.add(id);
    if (call.name === "") return { id, name: "", args: null, problem: "the call names no tool: add the tool's name" };
    const name = names.get(call.name) ?? call.name.toWellFormed();
    return { id, name, ...readArguments(call.arguments) };
  });
}

function callIdsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "assistant" ? message.calls.map(({ id }) => id) : []));
}

function uniqueId(wanted: string | null, used: ReadonlySet<string>): string {
  if (wanted && !used.has(wanted)) return wanted;
  const stem = wanted || "call";
  for (let count = used.size + 1; ; count += 1) {
    const id = `${stem}-${count}`;
    if (!used.has(id)) return id;
  }
}
