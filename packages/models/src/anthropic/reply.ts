import type { ModelReply, ToolCall, Usage } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import type { PriceTable } from "../prices.ts";
import type { ProviderSettings } from "../settings.ts";
import { readArguments } from "../wire/tool-calls.ts";
import { textBlocks, toolUseBlock } from "./blocks.ts";
import type { Draft, DraftBlock } from "./draft.ts";
import type { WireRequest } from "./request.ts";

export interface ReplyContext extends Pick<WireRequest, "model" | "toolNames" | "seals"> {
  settings: Pick<ProviderSettings, "id" | "isLocal">;
  prices: PriceTable;
}

/** The reply that a finished draft is. */
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
    else addThought(content, block, context);
  }
  return content;
}

function addText(content: Content, text: string, { seals }: ReplyContext): void {
  content.text += text.toWellFormed();
  for (const block of textBlocks(text)) seals.add(["assistant", block]);
}

function addCall(content: Content, block: Extract<DraftBlock, { kind: "call" }>, draft: Draft, context: ReplyContext) {
  const { toolNames, seals } = context;
  const wanted = block.id || "call";
  const isTaken = content.calls.some(({ id }) => id === wanted);
  const id = isTaken ? `${wanted}_${content.calls.length + 1}` : wanted;
  const call = { id, name: toolNames.get(block.name) ?? block.name.toWellFormed(), ...argumentsOf(block, draft) };
  content.calls.push(call);
  // What could not be read cannot be sent back as it was: what is thought after it comes after something else.
  seals.add(["assistant", call.problem ? call.problem : toolUseBlock(id, block.name, call.args)]);
}

/** Some servers give the arguments whole, at the beginning of the block. */
function argumentsOf({ json, input, isWhole }: Extract<DraftBlock, { kind: "call" }>, { stopReason }: Draft) {
  const isGivenWhole = json === "" && typeof input === "object" && input !== null && Object.keys(input).length > 0;
  const read = readArguments(isGivenWhole ? JSON.stringify(input) : json);
  if (!isCutOff[stopReason ?? ""] || (isWhole && read.problem === null)) return read;
  return {
    args: null,
    problem: "the limit of output tokens was reached before its arguments were written: write less",
  };
}

const isCutOff: Readonly<Record<string, boolean>> = { max_tokens: true, model_context_window_exceeded: true };

/** Known by the model that was asked for, since that is the name by which it is asked the next time. */
function addThought(
  content: Content,
  { block }: Extract<DraftBlock, { kind: "thought" }>,
  context: ReplyContext,
): void {
  const { settings, model, seals } = context;
  content.thinking.push({
    provider: settings.id,
    model,
    textBefore: content.text.length,
    callsBefore: content.calls.length,
    seal: seals.of(block),
    block: block as Thinking["block"],
  });
  seals.add(["assistant", block]);
}

/** The wire's figure of the input leaves out what the cache had or took. */
function usageOf({ usage, model: answered }: Draft, { model, prices, settings }: ReplyContext): Usage {
  const counted = {
    inputTokens: Math.ceil(usage.input + usage.cacheRead + usage.cacheWritten),
    outputTokens: Math.ceil(usage.output),
    cachedTokens: Math.ceil(usage.cacheRead),
    ...(usage.cacheWritten > 0 ? { cacheWriteTokens: Math.ceil(usage.cacheWritten) } : {}),
    ...(usage.thought > 0 ? { reasoningTokens: Math.ceil(Math.min(usage.thought, usage.output)) } : {}),
  };
  const cost = prices.costOf(model, counted) ?? prices.costOf(answered ?? model, counted);
  return { ...counted, costUsd: cost ?? (settings.isLocal ? 0 : null) };
}

/** A pause is an answer that is not whole, as one that was cut off; a stop sequence or what is new is an end. */
function stopReasonOf(reason: string | null, hasCalls: boolean): ModelReply["stopReason"] {
  if (reason === "refusal") return "refusal";
  if (isCutOff[reason ?? ""] || (reason === "pause_turn" && !hasCalls)) return "max_tokens";
  return hasCalls ? "tool_calls" : "end";
}
