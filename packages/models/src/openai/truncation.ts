import { type ModelRequest, RunFailure } from "@troupe/core";
import { type ServerKind, widerContextFix } from "../local/local-model.ts";
import type { Said } from "./said.ts";
import { estimatedInputTokens } from "./usage.ts";

/** What is known of the server that answered. */
export interface Answerer {
  kind: ServerKind;
  /** The model's name, without the provider's id. */
  model: string;
  /** What it is run with; null: nobody knows. */
  contextTokens: number | null;
}

/**
 * The failure of an answer to which a server has not read all, or that it could not finish, for want of room; null for
 * one that is whole. Some say nothing of it: the model answers from what was left of the conversation, and what it
 * answers is nonsense.
 */
export function truncationOf(said: Said, request: ModelRequest, answerer: Answerer): RunFailure | null {
  if (!looksTruncated(said, request)) return null;
  const { inputTokens = 0, outputTokens = 0 } = said.tokens ?? {};
  const { contextTokens } = answerer;
  const totalTokens = inputTokens + outputTokens;
  if (wasStopped(said, request) && isWindow(totalTokens, contextTokens)) {
    return truncated(answerer, totalTokens, `stopped it after ${totalTokens} tokens of conversation and answer`);
  }
  // Our estimate errs upwards: what fits by it, fits.
  if (contextTokens !== null && estimatedInputTokens(request) <= contextTokens) return null;
  if (!wasReadInPart(said, request)) return null;
  return truncated(answerer, inputTokens, `read no more than ${inputTokens} tokens of a longer conversation`);
}

/** Whether it is worth while to ask the server how much of a conversation it takes. */
export function looksTruncated(said: Said, request: ModelRequest): boolean {
  return wasStopped(said, request) || wasReadInPart(said, request);
}

/** The answer was cut off, though not by our limit. */
function wasStopped({ tokens, stopReason }: Said, { maxOutputTokens }: ModelRequest): boolean {
  return tokens !== null && stopReason === "max_tokens" && tokens.outputTokens < maxOutputTokens;
}

/** Windows are multiples of this, unless somebody has a reason. */
const windowStepTokens = 1_024;

function isWindow(totalTokens: number, contextTokens: number | null): boolean {
  return contextTokens === null ? totalTokens % windowStepTokens === 0 : totalTokens >= contextTokens - 1;
}

/** No model is run with a window as small as this. */
const wordsMin = 1_024;

/** Fewer tokens than words nobody has read: no tokenizer makes one of two words. */
function wasReadInPart({ tokens }: Said, request: ModelRequest): boolean {
  if (tokens === null || tokens.inputTokens === 0) return false;
  const words = wordsIn(request);
  return words >= wordsMin && tokens.inputTokens < words;
}

/** Tools are left out of the count, and what was thought and called: servers rewrite them. */
function wordsIn({ system, messages }: ModelRequest): number {
  return [system, ...messages.map(({ text }) => text)].reduce((sum, text) => sum + countWords(text), 0);
}

function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+(?=\s|$)/gu)?.length ?? 0;
}

function truncated({ kind, model }: Answerer, tokens: number, what: string): RunFailure {
  const least = 32_768;
  const wanted = tokens < least ? least : 2 ** Math.ceil(Math.log2(tokens + 1));
  return new RunFailure({
    type: "params",
    message: `the context was truncated: the server of ${model} ${what}; ${widerContextFix(kind, model, wanted)}`,
    recoverable: false,
    begun: true,
  });
}
