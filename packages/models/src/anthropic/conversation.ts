import type { ContentBlockParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { Message, ToolCall } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import { wireNameOf } from "../wire/wire-names.ts";
import { textBlocks, toolUseBlock } from "./blocks.ts";
import { type Blocks, createWireWriter, type Reader, type WireMessage, type WireWriter } from "./wire-writer.ts";

type Said = Extract<Message, { role: "assistant" }>;
type Result = Extract<Message, { role: "tool" }>;

interface OpenCall {
  id: string;
  wireId: string;
}

/**
 * A conversation as the API takes it: beginning and ending with the user, taking turns, every call with one result
 * right after it, no empty text. What was sent once is sent the same again, whatever comes after it: caches and
 * thoughts depend on that.
 */
export function wireConversation(messages: readonly Message[], reader: Reader): WireWriter {
  const writer = createWireWriter(reader);
  const usedIds = new Set<string>();
  let open: OpenCall[] = [];
  let heard: Message[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") {
      heard.push(message);
      continue;
    }
    if (isEmpty(message)) continue;
    writer.write("user", userBlocks(heard, open));
    if (writer.messages.length === 0) writer.write("user", textBlocks(beginning));
    open = message.calls.map(({ id }) => ({ id, wireId: wireIdOf(id, usedIds) }));
    heard = [];
    writeReply(message, open, writer);
  }
  writer.write("user", userBlocks(heard, open));
  const last = writer.messages.at(-1);
  if (last?.role !== "user") writer.write("user", textBlocks(last ? goingOn : beginning));
  return writer;
}

const beginning = "(The conversation begins here.)";
const goingOn = "(Go on.)";
const noOutput = "(no output)";
const noResult = "(nothing is known of what came of this call)";

function isEmpty({ text, calls }: Said): boolean {
  return text.trim() === "" && calls.length === 0;
}

type Part = { kind: "said"; blocks: Blocks } | { kind: "thought"; thought: Thinking };

/** The API refuses a message that ends with a thought. */
function writeReply(message: Said, open: readonly OpenCall[], writer: WireWriter): void {
  const parts = partsOf(message, open);
  const end = parts.findLastIndex(({ kind }) => kind === "said") + 1;
  for (const part of parts.slice(0, end)) {
    if (part.kind === "said") writer.write("assistant", part.blocks);
    else writer.writeThought(part.thought);
  }
}

/** A reply, taken apart again where it was thought in between. */
function partsOf({ text, calls, thinking = [] }: Said, open: readonly OpenCall[]): Part[] {
  const uses = calls.map((call, i) => useOf(call, open[i]));
  const parts: Part[] = [];
  let textBegin = 0;
  let callBegin = 0;
  const sayUpTo = (textEnd: number, callEnd: number): void => {
    const blocks = [...textBlocks(text.slice(textBegin, textEnd)), ...uses.slice(callBegin, callEnd)];
    if (blocks.length > 0) parts.push({ kind: "said", blocks });
    textBegin = textEnd;
    callBegin = callEnd;
  };
  for (const thought of thinking) {
    sayUpTo(Math.max(textBegin, thought.textBefore), Math.max(callBegin, thought.callsBefore));
    parts.push({ kind: "thought", thought });
  }
  sayUpTo(text.length, calls.length);
  return parts;
}

function useOf(call: ToolCall, open: OpenCall | undefined): ContentBlockParam {
  return toolUseBlock(open?.wireId ?? call.id, wireNameOf(call.name), call.args);
}

/** Some servers count their calls anew in every turn; the API wants an id only once, and of few characters. */
function wireIdOf(id: string, used: Set<string>): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
  let unique = plain;
  for (let i = 2; used.has(unique); i += 1) unique = `${plain}_${i}`;
  used.add(unique);
  return unique;
}

/** Results first, one for each call; a result whose call is no longer part of the conversation is told as words. */
function userBlocks(heard: readonly Message[], open: readonly OpenCall[]): Blocks {
  const answered = new Map<OpenCall, Result>();
  const words: string[] = [];
  for (const message of heard) {
    const call = message.role === "tool" ? open.find((one) => one.id === message.callId && !answered.has(one)) : null;
    if (call && message.role === "tool") answered.set(call, message);
    else words.push(wordsOf(message));
  }
  return [...open.map((call) => resultBlock(call, answered.get(call))), ...words.flatMap(textBlocks)];
}

function wordsOf(message: Message): string {
  if (message.role !== "tool") return message.text;
  return `${message.isError ? "Failure" : "Result"} of ${message.name}: ${message.text}`;
}

function resultBlock({ wireId }: OpenCall, result: Result | undefined): ToolResultBlockParam {
  const text = result?.text.toWellFormed() ?? noResult;
  const content = text.trim() === "" ? noOutput : text;
  const block: ToolResultBlockParam = { type: "tool_result", tool_use_id: wireId, content };
  return !result || result.isError ? { ...block, is_error: true } : block;
}

/**
 * Whether thinking may be asked for where the conversation stands. A loop of calls and results is one turn to the API,
 * and it misses the thoughts that the calls were made after: with a budget all of them, else those that there were.
 */
export function mayAskForThoughts({ messages, lostAt }: WireWriter, thinking: "adaptive" | "manual" | "none"): boolean {
  const begin = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some(({ type }) => type === "tool_result"),
  );
  if (thinking !== "manual") return lostAt <= begin;
  return messages.slice(begin + 1).every(isThoughtFirst);
}

function isThoughtFirst({ role, content }: WireMessage): boolean {
  if (role !== "assistant" || !content.some(({ type }) => type === "tool_use")) return true;
  return content[0]?.type === "thinking" || content[0]?.type === "redacted_thinking";
}
