import type { EntryBody } from "@troupe/core";
import { transcriptOf } from "@troupe/core/internal";
import { askForSummary } from "./ask-model.ts";
import type { Perform } from "./effect.ts";

/** How much of a conversation a child gets if the summary failed. */
export const excerptCharactersMax = 4_000;

const system = `You are given a conversation between a user and an agent. A colleague will take over a part of the agent's work.
Sum up for the colleague: the goal, decisions with their reasons, findings (names, paths, numbers, exact words that matter), completed work and open work.
Leave out greetings and detours, add nothing of your own, and do not answer the user. Reply with the summary and nothing else.`;

/**
 * Summarises the conversation for a child. If no budget is left for the call, or the call fails, the child gets the
 * newest part of the conversation itself: a summary never ends a run.
 */
export const summarise: Perform<"summarise"> = async ({ step, messages, maxOutputTokens }, scope) => {
  const { clock } = scope.deps;
  const startedMs = clock.monotonicMs();
  const reply = await askForSummary({ system, text: transcriptOf(messages), step, maxOutputTokens }, scope);
  const summary: EntryBody = {
    kind: "context.summarised",
    step,
    text: reply.error ? transcriptOf(messages, excerptCharactersMax) : reply.text,
    usage: reply.usage,
    error: reply.error,
    durationMs: clock.monotonicMs() - startedMs,
  };
  return summary;
};
