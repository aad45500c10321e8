import type {
  ContentBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { Message, ToolCall } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import { wireNameOf } from "../wire/tool-calls.ts";
import type { ThinkingSignatures } from "./thinking.ts";

type Blocks = ContentBlockParam[];
export type WireMessage = MessageParam & { role: "user" | "assistant"; content: Blocks };
type AssistantMessage = Extract<Message, { role: "assistant" }>;
type ResultMessage = Extract<Message, { role: "tool" }>;

interface OpenCall {
  id: string;
  wireId: string;
}

/**
 * Converts a conversation to the form that the API accepts: it begins and ends with the user, roles alternate, each call
 * has exactly one result right after it, and no text is empty.
 *
 * A longer conversation begins with exactly the same messages: prompt caches and thinking blocks depend on it.
 */
export function wireConversation(messages: readonly Message[], reader: ThinkingReader): ConversationWriter {
  const writer = createConversationWriter(reader);
  const usedIds = new Set<string>();
  let openCalls: OpenCall[] = [];
  let pending: Message[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") {
      pending.push(message);
      continue;
    }
    if (isEmpty(message)) continue;
    writer.write("user", userBlocks(pending, openCalls));
    if (writer.messages.length === 0) writer.write("user", textBlocks(beginning));
    openCalls = message.calls.map(({ id }) => ({ id, wireId: uniqueWireId(id, usedIds) }));
    pending = [];
    writeAssistant(message, openCalls, writer);
  }
  writer.write("user", userBlocks(pending, openCalls));
  const last = writer.messages.at(-1);
  if (last?.role !== "user") writer.write("user", textBlocks(last ? continuation : beginning));
  return writer;
}

const beginning = "(The conversation begins here.)";
const continuation = "(Go on.)";
const noOutput = "(no output)";
const noResult = "(the result of this call is unknown)";

function isEmpty({ text, calls }: AssistantMessage): boolean {
  return text.trim() === "" && calls.length === 0;
}

type Part = { kind: "content"; blocks: Blocks } | { kind: "thinking"; thinking: Thinking };

/** Drops thinking at the end: the API refuses a message that ends with it. */
function writeAssistant(message: AssistantMessage, openCalls: readonly OpenCall[], writer: ConversationWriter): void {
  const parts = partsOf(message, openCalls);
  const end = parts.findLastIndex(({ kind }) => kind === "content") + 1;
  for (const part of parts.slice(0, end)) {
    if (part.kind === "content") writer.write("assistant", part.blocks);
    else writer.writeThinking(part.thinking);
  }
}

/** Splits a reply where thinking interrupted it. */
function partsOf({ text, calls, thinking = [] }: AssistantMessage, openCalls: readonly OpenCall[]): Part[] {
  const uses = calls.map((call, i) => useOf(call, openCalls[i]));
  const parts: Part[] = [];
  let textBegin = 0;
  let callBegin = 0;
  const addContentUpTo = (textEnd: number, callEnd: number): void => {
    const blocks = [...textBlocks(text.slice(textBegin, textEnd)), ...uses.slice(callBegin, callEnd)];
    if (blocks.length > 0) parts.push({ kind: "content", blocks });
    textBegin = textEnd;
    callBegin = callEnd;
  };
  for (const one of thinking) {
    addContentUpTo(Math.max(textBegin, one.textBefore), Math.max(callBegin, one.callsBefore));
    parts.push({ kind: "thinking", thinking: one });
  }
  addContentUpTo(text.length, calls.length);
  return parts;
}

function useOf(call: ToolCall, open: OpenCall | undefined): ContentBlockParam {
  return toolUseBlock(open?.wireId ?? call.id, wireNameOf(call.name), call.args);
}

/** The API accepts each id once and only some characters. Some servers restart their numbering with every turn. */
function uniqueWireId(id: string, used: Set<string>): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
  let unique = plain;
  for (let i = 2; used.has(unique); i += 1) unique = `${plain}_${i}`;
  used.add(unique);
  return unique;
}

/** Results come first, one per call. A result whose call is no longer in the conversation becomes text. */
function userBlocks(pending: readonly Message[], openCalls: readonly OpenCall[]): Blocks {
  const answered = new Map<OpenCall, ResultMessage>();
  const texts: string[] = [];
  for (const message of pending) {
    const call =
      message.role === "tool" ? openCalls.find((one) => one.id === message.callId && !answered.has(one)) : null;
    if (call && message.role === "tool") answered.set(call, message);
    else texts.push(textOf(message));
  }
  return [...openCalls.map((call) => resultBlock(call, answered.get(call))), ...texts.flatMap(textBlocks)];
}

function textOf(message: Message): string {
  if (message.role !== "tool") return message.text;
  return `${message.isError ? "Failure" : "Result"} of ${message.name}: ${message.text}`;
}

function resultBlock({ wireId }: OpenCall, result: ResultMessage | undefined): ToolResultBlockParam {
  const text = result?.text.toWellFormed() ?? noResult;
  const content = text.trim() === "" ? noOutput : text;
  const block: ToolResultBlockParam = { type: "tool_result", tool_use_id: wireId, content };
  return !result || result.isError ? { ...block, is_error: true } : block;
}

/** The API refuses a text that is empty or white space. */
export function textBlocks(text: string): TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

/** Arguments that could not be parsed (null) become an empty object: the API accepts only objects. */
export function toolUseBlock(id: string, name: string, args: ToolCall["args"]): ToolUseBlockParam {
  const input = typeof args === "object" && args !== null && !Array.isArray(args) ? args : {};
  return { type: "tool_use", id, name, input };
}

/** The model that will read a conversation. It gets only its own thinking. */
export interface ThinkingReader {
  /** Id of the provider. */
  provider: string;
  /** The model's name, without the provider's id. */
  model: string;
  signatures: ThinkingSignatures;
}

export interface ConversationWriter {
  readonly messages: WireMessage[];
  /** Index of the last message without some of its thinking, because the reader would refuse it; -1 for none. */
  readonly lastWithoutThinking: number;
  write(role: WireMessage["role"], blocks: Blocks): void;
  writeThinking(thinking: Thinking): void;
}

/** Writes messages block by block, merges consecutive messages of one role, and updates the signatures. */
function createConversationWriter({ provider, model, signatures }: ThinkingReader): ConversationWriter {
  const messages: WireMessage[] = [];
  let lastWithoutThinking = -1;
  let hasChanged = false;

  const write = (role: WireMessage["role"], blocks: Blocks): void => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
    for (const block of blocks) signatures.add([role, block]);
  };

  /** After one block with a wrong signature, no later block of a signed conversation is valid. */
  const isValid = (thinking: Thinking): boolean => {
    if (thinking.provider !== provider || thinking.model !== model) return false;
    hasChanged ||= thinking.seal !== signatures.of(thinking.block);
    return !hasChanged;
  };

  return {
    messages,
    get lastWithoutThinking() {
      return lastWithoutThinking;
    },
    write,
    writeThinking(thinking) {
      if (isValid(thinking)) write("assistant", [thinking.block as unknown as ContentBlockParam]);
      else lastWithoutThinking = messages.at(-1)?.role === "assistant" ? messages.length - 1 : messages.length;
    },
  };
}

/**
 * Whether a request for this conversation may ask for thinking. The API treats a loop of calls and results as one turn
 * and refuses it without its thinking: with manual thinking every call needs a block before it, with adaptive thinking
 * no existing block may be missing.
 */
export function mayRequestThinking(
  { messages, lastWithoutThinking }: ConversationWriter,
  thinking: "adaptive" | "manual" | "none",
): boolean {
  const turnBegin = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some(({ type }) => type === "tool_result"),
  );
  if (thinking !== "manual") return lastWithoutThinking <= turnBegin;
  return messages.slice(turnBegin + 1).every(beginsWithThinking);
}

function beginsWithThinking({ role, content }: WireMessage): boolean {
  if (role !== "assistant" || !content.some(({ type }) => type === "tool_use")) return true;
  return content[0]?.type === "thinking" || content[0]?.type === "redacted_thinking";
}
