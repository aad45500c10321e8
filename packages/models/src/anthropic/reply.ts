import type { ModelReply, ToolCall, Usage } from "@troupe/core";
import { inlineBytesMax, type Thinking } from "@troupe/core/internal";
import type { PriceTable } from "../prices/price-table.ts";
import type { ProviderSettings } from "../settings.ts";
import { readArguments } from "../wire/tool-calls.ts";
import { textBlocks, toolUseBlock } from "./conversation.ts";
import type { WireRequest } from "./request.ts";
import type { StreamBlock, StreamEvent, WireUsage } from "./stream.ts";

/** A reply while its stream is read. */
export interface Draft {
  /** The model that really answers. */
  model: string | null;
  stopReason: string | null;
  usage: UsageSums;
  /** In order of their begin, by the index in the stream. */
  blocks: Map<number, DraftBlock>;
}

type DraftBlock =
  | { kind: "text"; text: string }
  | { kind: "call"; id: string; name: string; input: unknown; json: string; isComplete: boolean }
  | { kind: "thinking"; block: Extract<StreamBlock, { type: "thinking" | "redacted_thinking" }> };

interface UsageSums {
  input: number;
  output: number;
  cacheRead: number;
  cacheWritten: number;
  thinking: number;
}

export function createDraft(): Draft {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWritten: 0, thinking: 0 };
  return { model: null, stopReason: null, usage, blocks: new Map() };
}

/** Adds one event. Blocks and deltas of unknown types are skipped. */
export function addEvent(draft: Draft, event: StreamEvent, onText: (text: string) => void): void {
  switch (event.type) {
    case "message_start":
      draft.model = event.message.model || draft.model;
      addUsage(draft.usage, event.message.usage);
      break;
    case "content_block_start":
      addBlock(draft, event.index, event.content_block, onText);
      break;
    case "content_block_delta":
      addDelta(draft.blocks.get(event.index), event.delta, onText);
      break;
    case "content_block_stop": {
      const block = draft.blocks.get(event.index);
      if (block?.kind === "call") block.isComplete = true;
      break;
    }
    case "message_delta":
      draft.stopReason = event.delta.stop_reason ?? draft.stopReason;
      addUsage(draft.usage, event.usage);
      break;
    case "message_stop":
    case "error":
      break;
  }
}

/** Characters of the answer in one event. */
export function charactersIn(event: StreamEvent): number {
  if (event.type !== "content_block_delta") return 0;
  switch (event.delta?.type) {
    case "text_delta":
      return event.delta.text.length;
    case "input_json_delta":
      return event.delta.partial_json.length;
    case "thinking_delta":
      return event.delta.thinking.length;
    default:
      return 0;
  }
}

/** The usage that the server has reported so far; null before it has reported any. */
export function reportedUsage(draft: Draft, context: ReplyContext): Usage | null {
  const { input, cacheRead, cacheWritten } = draft.usage;
  return input + cacheRead + cacheWritten > 0 ? usageOf(draft, context) : null;
}

/** The figures are running totals, so the largest is the last. */
function addUsage(usage: UsageSums, update: WireUsage | null | undefined): void {
  usage.input = Math.max(usage.input, update?.input_tokens ?? 0);
  usage.output = Math.max(usage.output, update?.output_tokens ?? 0);
  usage.cacheRead = Math.max(usage.cacheRead, update?.cache_read_input_tokens ?? 0);
  usage.cacheWritten = Math.max(usage.cacheWritten, update?.cache_creation_input_tokens ?? 0);
  usage.thinking = Math.max(usage.thinking, update?.output_tokens_details?.thinking_tokens ?? 0);
}

function addBlock({ blocks }: Draft, index: number, block: StreamBlock | null, onText: (text: string) => void): void {
  switch (block?.type) {
    case "text":
      blocks.set(index, { kind: "text", text: block.text });
      if (block.text !== "") onText(block.text);
      return;
    case "tool_use": {
      const { id, name, input } = block;
      blocks.set(index, { kind: "call", id, name, input, json: "", isComplete: false });
      return;
    }
    case "thinking":
    case "redacted_thinking":
      blocks.set(index, { kind: "thinking", block });
      return;
  }
}

type Delta = Extract<StreamEvent, { type: "content_block_delta" }>["delta"];

function addDelta(block: DraftBlock | undefined, delta: Delta, onText: (text: string) => void): void {
  if (block?.kind === "text" && delta?.type === "text_delta") {
    block.text += delta.text;
    onText(delta.text);
  }
  // Arguments over the size limit are refused anyway: further pieces are dropped.
  if (block?.kind === "call" && delta?.type === "input_json_delta" && block.json.length <= inlineBytesMax) {
    block.json += delta.partial_json;
  }
  if (block?.kind === "thinking" && block.block.type === "thinking") {
    if (delta?.type === "thinking_delta") block.block.thinking += delta.thinking;
    if (delta?.type === "signature_delta") block.block.signature += delta.signature;
  }
}

export interface ReplyContext extends Pick<WireRequest, "model" | "toolNames" | "signatures"> {
  settings: Pick<ProviderSettings, "id" | "isLocal">;
  prices: PriceTable;
}

/** The reply of a complete draft. */
export function composeReply(draft: Draft, context: ReplyContext): ModelReply {
  const { settings, model } = context;
  const { text, calls, thinking } = contentOf(draft, context);
  return {
    text,
    calls,
    usage: usageOf(draft, context),
    stopReason: stopReasonOf(draft.stopReason, calls.length > 0),
    model: `${settings.id}/${draft.model ?? model}`,
    ...(thinking.length > 0 ? { thinking } : {}),
  };
}

interface Content {
  text: string;
  calls: ToolCall[];
  thinking: Thinking[];
}

function contentOf(draft: Draft, context: ReplyContext): Content {
  const content: Content = { text: "", calls: [], thinking: [] };
  for (const block of draft.blocks.values()) {
    if (block.kind === "text") addText(content, block.text, context);
    else if (block.kind === "call") addCall(content, block, draft, context);
    else addThinking(content, block, context);
  }
  return content;
}

function addText(content: Content, text: string, { signatures }: ReplyContext): void {
  content.text += text.toWellFormed();
  for (const block of textBlocks(text)) signatures.add(["assistant", block]);
}

function addCall(content: Content, block: Extract<DraftBlock, { kind: "call" }>, draft: Draft, context: ReplyContext) {
  const { toolNames, signatures } = context;
  const wanted = block.id || "call";
  const isUsed = content.calls.some(({ id }) => id === wanted);
  const id = isUsed ? `${wanted}_${content.calls.length + 1}` : wanted;
  const call = { id, name: toolNames.get(block.name) ?? block.name.toWellFormed(), ...argumentsOf(block, draft) };
  content.calls.push(call);
  // Invalid arguments cannot be sent back unchanged, so later thinking must not match: its signature differs, too.
  signatures.add(["assistant", call.problem ? call.problem : toolUseBlock(id, block.name, call.args)]);
}

/** Some servers send the complete arguments with the start of the block. */
function argumentsOf({ json, input, isComplete }: Extract<DraftBlock, { kind: "call" }>, { stopReason }: Draft) {
  const isInput = json === "" && typeof input === "object" && input !== null && Object.keys(input).length > 0;
  const read = readArguments(isInput ? JSON.stringify(input) : json);
  if (!isCutOff[stopReason ?? ""] || (isComplete && read.problem === null)) return read;
  return {
    args: null,
    problem: "the output token limit was reached before its arguments were complete: write less",
  };
}

const isCutOff: Readonly<Record<string, boolean>> = { max_tokens: true, model_context_window_exceeded: true };

/** Thinking is stored under the requested model's name, by which the next request asks for it. */
function addThinking(
  content: Content,
  { block }: Extract<DraftBlock, { kind: "thinking" }>,
  context: ReplyContext,
): void {
  const { settings, model, signatures } = context;
  content.thinking.push({
    provider: settings.id,
    model,
    textBefore: content.text.length,
    callsBefore: content.calls.length,
    seal: signatures.of(block),
    block: block as Thinking["block"],
  });
  signatures.add(["assistant", block]);
}

/** The API's input figure excludes cache reads and writes; ours includes them. */
function usageOf({ usage, model: answered }: Draft, { model, prices, settings }: ReplyContext): Usage {
  const counted = {
    inputTokens: Math.ceil(usage.input + usage.cacheRead + usage.cacheWritten),
    outputTokens: Math.ceil(usage.output),
    cachedTokens: Math.ceil(usage.cacheRead),
    ...(usage.cacheWritten > 0 ? { cacheWriteTokens: Math.ceil(usage.cacheWritten) } : {}),
    ...(usage.thinking > 0 ? { reasoningTokens: Math.ceil(Math.min(usage.thinking, usage.output)) } : {}),
  };
  const cost = prices.costOf(model, counted) ?? prices.costOf(answered ?? model, counted);
  return { ...counted, costUsd: cost ?? (settings.isLocal ? 0 : null) };
}

/** A paused answer is incomplete, as one that was cut off. A stop sequence or an unknown reason is a normal end. */
function stopReasonOf(reason: string | null, hasCalls: boolean): ModelReply["stopReason"] {
  if (reason === "refusal") return "refusal";
  if (isCutOff[reason ?? ""] || (reason === "pause_turn" && !hasCalls)) return "max_tokens";
  return hasCalls ? "tool_calls" : "end";
}
