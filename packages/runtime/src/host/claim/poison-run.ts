import type { Entry } from "@troupe/core";
import { type Effect, provideAgent, toFact } from "@troupe/core/internal";
import { createActor } from "xstate";
import { isWork } from "../effects/effect.ts";

/** After this many claims in a row without an outcome, a run counts as poison. */
export const poisonClaimsMax = 3;

/** Entries that are not outcomes: they may stand between the claims of a poison run. */
const withoutProgress: ReadonlySet<string> = new Set(["run.claimed", "inbox.received", "child.waiting"]);

/**
 * Whether a run is likely to crash each host that claims it: claim after claim, its opening included, and no outcome
 * between them. A run that was parked in between did not crash its host. A run that only waits, for children or for
 * time, cannot crash one.
 */
export function isPoisonRun(known: readonly Entry[]): boolean {
  const lastProgress = known.findLastIndex((entry) => !withoutProgress.has(entry.kind) || isForkClaim(entry));
  const claims = known.slice(lastProgress).filter(({ kind }) => kind === "run.claimed" || kind === "run.opened");
  return claims.length >= poisonClaimsMax && wantsWork(known);
}

/** The beginning of a fork: the claims before it are copies. */
function isForkClaim(entry: Entry): boolean {
  return entry.kind === "run.claimed" && entry.forkedFrom !== undefined;
}

/** Whether the run would call a model or a tool right after a claim. */
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
