import type { RunRequest } from "@troupe/core";
import { defaultPolicy } from "@troupe/core";
import type { HostDeps } from "../host/host-deps.ts";
import { placeOf } from "../host/offer-run.ts";

/** Says of runs when they are to be given up, because nobody lives where their files are. */
export interface OrphanedWorkspaces {
  /**
   * Whether a run, whose newest entry has this index, has gone without anybody at its place, and without a word of its own,
   * for as long as the machine's policy waits for that. Asked again and again; -1: nobody has begun it.
   */
  isLost(request: Pick<RunRequest, "run" | "workspace">, lastIndex: number): boolean;
}

/** Runs about which is known since when nobody has been where their files are. */
const runsMax = 10_000;

export function createOrphanedWorkspaces(deps: Pick<HostDeps, "hosts" | "delegation" | "clock">): OrphanedWorkspaces {
  const { hosts, delegation = defaultPolicy.delegation, clock } = deps;
  const deserted = new Map<string, { lastIndex: number; sinceMs: number }>();
  return {
    isLost({ run, workspace }, lastIndex) {
      const place = placeOf({ workspace });
      const isAnybodyThere = hosts?.list().some((view) => view.alive && view.place === place) ?? true;
      const known = deserted.get(run);
      deserted.delete(run);
      if (place === "any" || isAnybodyThere) return false;
      // For one that begins with it, policy may let a run wait for ever.
      if (lastIndex < 0 && delegation.noHost === "queue") return false;
      const now = clock.monotonicMs();
      const kept = known?.lastIndex === lastIndex ? known : { lastIndex, sinceMs: now };
      deserted.set(run, kept);
      const oldest = deserted.keys().next().value;
      if (deserted.size > runsMax && oldest !== undefined) deserted.delete(oldest);
      return now - kept.sinceMs >= delegation.workspaceLostMs;
    },
  };
}
