import { type ModelRequest, RunFailure } from "@troupe/core";
import { type ServerKind, widerContextFix } from "../local/local-model.ts";
import type { WireReply } from "./reply.ts";
import { estimatedInputTokens } from "./usage.ts";

/** The server and model that answered. */
export interface AnsweringModel {
  kind: ServerKind;
  /** The model's name, without the provider's id. */
  model: string;
  /** Its context window; null when unknown. */
  contextTokens: number | null;
}

/**
 * The failure of an answer whose conversation did not fit into the context window: the server cut the conversation, or the
 * answer. Null for a complete answer. Some servers cut silently, and the model then answers a part of the conversation.
 */
export function truncationOf(answer: WireReply, request: ModelRequest, model: AnsweringModel): RunFailure | null {
  if (!looksTruncated(answer, request)) return null;
  const { inputTokens = 0, outputTokens = 0 } = answer.tokens ?? {};
  const { contextTokens } = model;
  const totalTokens = inputTokens + outputTokens;
  if (wasStopped(answer, request) && isWindow(totalTokens, contextTokens)) {
    return truncated(model, totalTokens, `stopped it after ${totalTokens} tokens of conversation and answer`);
  }
  // Our estimate is never too low: a conversation that fits by it fits.
  if (contextTokens !== null && estimatedInputTokens(request) <= contextTokens) return null;
  if (!wasReadInPart(answer, request)) return null;
  return truncated(model, inputTokens, `read no more than ${inputTokens} tokens of a longer conversation`);
}

/** Whether the context window is worth a request to the server. */
export function looksTruncated(answer: WireReply, request: ModelRequest): boolean {
  return wasStopped(answer, request) || wasReadInPart(answer, request);
}

/** Whether the answer was cut off below our own limit. */
function wasStopped({ tokens, stopReason }: WireReply, { maxOutputTokens }: ModelRequest): boolean {
  return tokens !== null && stopReason === "max_tokens" && tokens.outputTokens < maxOutputTokens;
}

/** Context windows are usually multiples of this. */
const windowStepTokens = 1_024;

function isWindow(totalTokens: number, contextTokens: number | null): boolean {
  return contextTokens === null ? totalTokens % windowStepTokens === 0 : totalTokens >= contextTokens - 1;
}

/** Shorter conversations fit into any context window. */
const wordsMin = 1_024;

/** Fewer tokens than words: a part was not read, because no tokenizer makes one token of two words. */
function wasReadInPart({ tokens }: WireReply, request: ModelRequest): boolean {
  if (tokens === null || tokens.inputTokens === 0) return false;
  const words = wordsIn(request);
  return words >= wordsMin && tokens.inputTokens < words;
}

/** Tools, thinking and calls do not count: servers rewrite them. */
function wordsIn({ system, messages }: ModelRequest): number {
  return [system, ...messages.map(({ text }) => text)].reduce((sum, text) => sum + countWords(text), 0);
}

function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+(?=\s|$)/gu)?.length ?? 0;
}

function truncated({ kind, model }: AnsweringModel, tokens: number, what: string): RunFailure {
  const leastTokens = 32_768;
  const wanted = tokens < leastTokens ? leastTokens : 2 ** Math.ceil(Math.log2(tokens + 1));
  return new RunFailure({
    type: "params",
    message: `the context was truncated: the server of ${model} ${what}; ${widerContextFix(kind, model, wanted)}`,
    recoverable: false,
    begun: true,
  });
}
