import { createActor } from "xstate";
import { TroupeError } from "../errors.ts";
import type { Entry } from "../protocol/entry.ts";
import type { AgentContext } from "./agent/context.ts";
import { toolResultsOf } from "./agent/result-placeholders.ts";
import { toFact } from "./facts.ts";
import { provideAgent } from "./provide-agent.ts";

const machineWithoutEffects = provideAgent(() => () => {});

/**
 * Rebuilds the context of a run from its entries and starts no effects. Use it to inspect a run, or to respond on its
 * behalf without resuming it.
 *
 * If the machine fails on the way, the result is its context until then: such a run needs a response, too.
 *
 * @example
 * const context = replayAgent((await journal.readRun(session, run)).map(openEntry));
 * composeResponse(context, failedOutcome(error)); // includes everything that the run has used so far
 */
export function replayAgent(entries: readonly Entry[]): AgentContext {
  const [opened, ...rest] = entries;
  if (opened?.kind !== "run.opened") {
    throw new TroupeError(
      "INVALID_MESSAGE",
      `a run's entries begin with run.opened, not with ${opened?.kind ?? "nothing"}`,
    );
  }
  const { request, pin, at: openedAt } = opened;
  const actor = createActor(machineWithoutEffects, { input: { request, pin, openedAt } });
  actor.subscribe({ error: () => {} });
  actor.start();
  for (const entry of rest) actor.send(toFact(entry));
  const { context } = actor.getSnapshot();
  actor.stop();
  return context;
}

/**
 * The full text of a call's result as the model first read it, even if it was trimmed since; null if there is no such
 * result yet.
 *
 * @example
 * const entries = (await journal.readRun(session, run)).map(openEntry);
 * readResult(entries, "3/0"); // the first call of the third turn
 */
export function readResult(entries: readonly Entry[], reference: string): string | null {
  const step = Number(reference.split("/")[0]);
  // The results of a step join the conversation together, before any entry of a later step.
  const end = entries.findIndex((entry) => "step" in entry && entry.step > step);
  const conversation = replayAgent(end === -1 ? entries : entries.slice(0, end));
  return toolResultsOf(conversation).find((result) => result.reference === reference)?.message.text ?? null;
}
