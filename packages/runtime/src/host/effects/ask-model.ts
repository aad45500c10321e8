import { type Message, type ModelReply, type RunError, Usage } from "@troupe/core";
import { toRunError } from "@troupe/core/internal";
import { type EffectScope, noteRetry } from "./effect.ts";

/** A question to the model that is not part of the run's conversation. */
export interface ModelQuestion {
  purpose: "intent" | "summary";
  system: string;
  text: string;
  step: number;
  maxOutputTokens: number;
}

/** Asks the model one question outside the run's conversation: one text, no tools, no live text. */
export function askModel(question: ModelQuestion, scope: EffectScope): Promise<ModelReply> {
  const { deps, request, pin, signal } = scope;
  const { session, run, agent, task, attempt, depth } = request;
  const { purpose, system, text, step, maxOutputTokens } = question;
  const messages: Message[] = [{ role: "user", text }];
  return deps.models.call(
    {
      model: pin.model,
      system,
      messages,
      tools: [],
      maxOutputTokens,
      temperature: pin.temperature,
      // Thinking must not use up the few output tokens. An agent without an effort setting gets none here either.
      effort: pin.definition.effort === null ? null : "low",
      origin: { session, run, agent, task, attempt, depth, step, purpose },
    },
    {
      signal,
      onDelta: () => {},
      onProgress: (progress) => scope.noteProgress(progress),
      onRetry: (retry) => noteRetry(retry, scope),
    },
  );
}

/** A model's summary of a conversation. With an error, `text` is empty or unusable. */
export interface ModelSummary {
  text: string;
  usage: Usage;
  error: RunError | null;
}

/**
 * Asks the model for a summary. Never throws: if no budget is left (`maxOutputTokens` 0) or the call fails, the result
 * has an error and the caller continues without a summary.
 */
export async function askForSummary(
  question: Omit<ModelQuestion, "purpose">,
  scope: EffectScope,
): Promise<ModelSummary> {
  if (question.maxOutputTokens === 0) return noBudget;
  try {
    const reply = await askModel({ purpose: "summary", ...question }, scope);
    const text = reply.text.trim();
    const isUsable = text !== "" && reply.stopReason !== "refusal";
    return { text, usage: Usage.parse(reply.usage), error: isUsable ? null : unusable(reply.stopReason) };
  } catch (thrown) {
    // The usage of a failed call is unknown. It is not counted, as for a failed turn.
    return { text: "", usage: noUsage, error: toRunError(thrown, "model") };
  }
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

const noBudget: ModelSummary = {
  text: "",
  usage: noUsage,
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
