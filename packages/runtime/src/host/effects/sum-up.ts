import { type RunError, Usage } from "@troupe/core";
import { toRunError } from "@troupe/core/internal";
import { askModel } from "./ask-model.ts";
import type { EffectScope } from "./effect.ts";

/** What a model made of a conversation; with an error it made nothing of it, and `text` is empty or not to be used. */
export interface Said {
  text: string;
  usage: Usage;
  error: RunError | null;
}

const nothing: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

/**
 * Has a model sum a conversation up, in a call beside the run's turns. Never throws: whoever cannot have a summary, for
 * want of budget (`maxOutputTokens` 0) or because the call failed, goes on without.
 */
export async function sumUp(
  question: { system: string; text: string; step: number; maxOutputTokens: number },
  scope: EffectScope,
): Promise<Said> {
  if (question.maxOutputTokens === 0) return noRoom;
  try {
    const reply = await askModel({ purpose: "summary", ...question }, scope);
    const text = reply.text.trim();
    const usable = text !== "" && reply.stopReason !== "refusal";
    return { text, usage: Usage.parse(reply.usage), error: usable ? null : unusable(reply.stopReason) };
  } catch (thrown) {
    // What a failed call has used is unknown; like a failed turn's, it is not counted.
    return { text: "", usage: nothing, error: toRunError(thrown, "model") };
  }
}

const noRoom: Said = {
  text: "",
  usage: nothing,
  error: {
    type: "budget",
    message: "no budget is left for a summary: the newest part of the conversation stands for it",
    tool: null,
    recoverable: false,
    retryAfterMs: null,
  },
};

function unusable(stopReason: string): RunError {
  const message = `the model gave no summary (it stopped with "${stopReason}")`;
  return { type: "model", message, tool: null, recoverable: false, retryAfterMs: null };
}
