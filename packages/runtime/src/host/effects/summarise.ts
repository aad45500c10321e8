import type { EntryBody } from "@troupe/core";
import { transcriptOf } from "@troupe/core/internal";
import type { Perform } from "./effect.ts";
import { sumUp } from "./sum-up.ts";

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
  const { clock } = scope.deps;
  const startedMs = clock.monotonicMs();
  const said = await sumUp({ system, text: transcriptOf(messages), step, maxOutputTokens }, scope);
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
