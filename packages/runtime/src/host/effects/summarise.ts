import { type EntryBody, type RunError, toRunError, transcriptOf, Usage } from "@troupe/core";
import { askModel } from "./ask-model.ts";
import type { EffectScope, Perform } from "./effect.ts";

/** How much of a conversation is passed on where nobody could sum it up. */
export const cuttingCharactersMax = 4_000;

const system = `You are given a conversation between a user and an agent. A colleague will take over a part of the agent's work.
Sum up what the colleague has to know: what is wanted, what was decided and why, what was found out (names, paths, numbers, exact words that matter), what is done and what is open.
Leave out greetings and detours, add nothing of your own, and do not answer the user. Reply with the summary and nothing else.`;

/**
 * The conversation so far in few words. Where no model can say them, because there is no room left for a call or the
 * call failed, the newest part of the conversation itself: a summary never ends a run.
 */
export const summarise: Perform<"summarise"> = async ({ step, messages, maxOutputTokens }, scope) => {
  const { clock } = scope.world;
  const startedMs = clock.monotonicMs();
  const text = transcriptOf(messages);
  const said = maxOutputTokens === 0 ? noRoom : await sumUp({ text, step, maxOutputTokens }, scope);
  const summary: EntryBody = {
    kind: "context.summarised",
    step,
    text: said.error ? transcriptOf(messages, cuttingCharactersMax) : said.text,
    usage: said.usage,
    error: said.error,
    durationMs: clock.monotonicMs() - startedMs,
  };
  return summary;
};

interface Said {
  text: string;
  usage: Usage;
  error: RunError | null;
}

const nothing: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

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

async function sumUp(
  { text, step, maxOutputTokens }: { text: string; step: number; maxOutputTokens: number },
  scope: EffectScope,
): Promise<Said> {
  try {
    const reply = await askModel({ purpose: "summary", system, text, step, maxOutputTokens }, scope);
    const summary = reply.text.trim();
    const usable = summary !== "" && reply.stopReason !== "refusal";
    return { text: summary, usage: Usage.parse(reply.usage), error: usable ? null : unusable(reply.stopReason) };
  } catch (thrown) {
    // What a failed call has used is unknown; like a failed turn's, it is not counted.
    return { text: "", usage: nothing, error: toRunError(thrown, "model") };
  }
}

function unusable(stopReason: string): RunError {
  const message = `the model gave no summary (it stopped with "${stopReason}")`;
  return { type: "model", message, tool: null, recoverable: false, retryAfterMs: null };
}
