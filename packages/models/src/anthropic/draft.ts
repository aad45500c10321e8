import { inlineBytesMax } from "@troupe/core/internal";
import type { StreamBlock, StreamEvent, WireUsage } from "./stream-event.ts";

/** An answer as far as it has come. */
export interface Draft {
  /** The model that really answers. */
  model: string | null;
  stopReason: string | null;
  usage: UsageSums;
  /** In the order in which they began, by the index that the wire gives them. */
  blocks: Map<number, DraftBlock>;
}

export type DraftBlock =
  | { kind: "text"; text: string }
  | { kind: "call"; id: string; name: string; input: unknown; json: string; isWhole: boolean }
  | { kind: "thought"; block: Extract<StreamBlock, { type: "thinking" | "redacted_thinking" }> };

interface UsageSums {
  input: number;
  output: number;
  cacheRead: number;
  cacheWritten: number;
  thought: number;
}

export function createDraft(): Draft {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWritten: 0, thought: 0 };
  return { model: null, stopReason: null, usage, blocks: new Map() };
}

/** Takes one event in. Blocks and deltas of kinds that are not known are passed over. */
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
      if (block?.kind === "call") block.isWhole = true;
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

/** The figures are sums from the beginning each time, so that the largest is the last. */
function addUsage(usage: UsageSums, news: WireUsage | null | undefined): void {
  usage.input = Math.max(usage.input, news?.input_tokens ?? 0);
  usage.output = Math.max(usage.output, news?.output_tokens ?? 0);
  usage.cacheRead = Math.max(usage.cacheRead, news?.cache_read_input_tokens ?? 0);
  usage.cacheWritten = Math.max(usage.cacheWritten, news?.cache_creation_input_tokens ?? 0);
  usage.thought = Math.max(usage.thought, news?.output_tokens_details?.thinking_tokens ?? 0);
}

function addBlock({ blocks }: Draft, index: number, block: StreamBlock | null, onText: (text: string) => void): void {
  switch (block?.type) {
    case "text":
      blocks.set(index, { kind: "text", text: block.text });
      if (block.text !== "") onText(block.text);
      return;
    case "tool_use":
      blocks.set(index, { kind: "call", id: block.id, name: block.name, input: block.input, json: "", isWhole: false });
      return;
    case "thinking":
    case "redacted_thinking":
      blocks.set(index, { kind: "thought", block });
      return;
  }
}

type Delta = Extract<StreamEvent, { type: "content_block_delta" }>["delta"];

function addDelta(block: DraftBlock | undefined, delta: Delta, onText: (text: string) => void): void {
  if (block?.kind === "text" && delta?.type === "text_delta") {
    block.text += delta.text;
    onText(delta.text);
  }
  // Beyond what may be kept, more of it only makes it more of the same problem.
  if (block?.kind === "call" && delta?.type === "input_json_delta" && block.json.length <= inlineBytesMax) {
    block.json += delta.partial_json;
  }
  if (block?.kind === "thought" && block.block.type === "thinking") {
    if (delta?.type === "thinking_delta") block.block.thinking += delta.thinking;
    if (delta?.type === "signature_delta") block.block.signature += delta.signature;
  }
}
