import type { Entry } from "@troupe/core";
import { type Effect, provideAgent, toFact } from "@troupe/core/internal";
import { createActor } from "xstate";
import { isWork } from "../effects/perform.ts";

/** A run claimed this often in a row without anything coming of it kills its hosts. */
export const poisonClaimsMax = 3;

/** What may stand between two claims without anything having come of the first. */
const poisonRun: ReadonlySet<string> = new Set(["run.claimed", "inbox.received", "child.waiting"]);

/**
 * Whether a run is likely to be what kills the hosts that take it up: claim after claim, its opening included, and nothing
 * came of any of them. Parking in between shows that nothing crashed; and a run that only waits, for children or for
 * time, does nothing that could kill anybody.
 */
export function isPoisonous(known: readonly Entry[]): boolean {
  const lastFruit = known.findLastIndex(({ kind }) => !poisonRun.has(kind));
  const claims = known.slice(lastFruit).filter(({ kind }) => kind === "run.claimed" || kind === "run.opened");
  return claims.length >= poisonClaimsMax && wantsWork(known);
}

/** Whether the run would be at work if it were taken up. */
function wantsWork(known: readonly Entry[]): boolean {
  const [opened, ...rest] = known;
  if (opened?.kind !== "run.opened") return false;
  const wanted = new Set<Effect>();
  const machine = provideAgent((effect) => {
    wanted.add(effect);
    return () => wanted.delete(effect);
  });
  const { request, pin, at: openedAt } = opened;
  const actor = createActor(machine, { input: { request, pin, openedAt } });
  actor.subscribe({ error: () => {} });
  actor.start();
  for (const entry of rest) actor.send(toFact(entry));
  const isWorking = [...wanted].some(({ kind }) => isWork(kind));
  actor.stop();
  return isWorking;
}
