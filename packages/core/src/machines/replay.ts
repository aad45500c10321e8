import { createActor } from "xstate";
import { TroupeError } from "../errors.ts";
import type { Entry } from "../protocol/entry.ts";
import type { AgentContext } from "./agent/context.ts";
import { toFact } from "./facts.ts";
import { provideAgent } from "./provide-agent.ts";

const still = provideAgent(() => () => {});

/**
 * What a run's machine knows after these entries, with nothing started: for whoever has to answer in a run's name, or
 * wants to know how it stands, without bringing it to life.
 *
 * A machine that fails on its way leaves what it knew until then: such a run must be answered for, too.
 *
 * @example
 * const context = replayAgent((await journal.readRun(session, run)).map(openEntry));
 * composeResponse(context, failed(error)); // with all that the run has used so far
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
  const actor = createActor(still, { input: { request, pin, openedAt } });
  actor.subscribe({ error: () => {} });
  actor.start();
  for (const entry of rest) actor.send(toFact(entry));
  const { context } = actor.getSnapshot();
  actor.stop();
  return context;
}
