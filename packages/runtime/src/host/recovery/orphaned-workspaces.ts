import type { RunRequest } from "@troupe/core";
import { defaultPolicy } from "@troupe/core";
import type { HostDeps } from "../host-deps.ts";
import { placeOf } from "../offer-run.ts";

/** Decides when to give up a run because no living host has the disk with its workspace. */
export interface OrphanedWorkspaces {
  /**
   * Whether the run's disk had no living host, and the run wrote no entry, for as long as the policy waits. The caller
   * asks repeatedly. `lastIndex` is the index of the run's newest entry, or -1 if no host has opened it.
   */
  isLost(request: Pick<RunRequest, "run" | "workspace">, lastIndex: number): boolean;
}

/** The most runs to remember; the oldest are forgotten first. */
const runsMax = 10_000;

export function createOrphanedWorkspaces(deps: Pick<HostDeps, "hosts" | "delegation" | "clock">): OrphanedWorkspaces {
  const { hosts, delegation = defaultPolicy.delegation, clock } = deps;
  const orphanedRuns = new Map<string, { lastIndex: number; sinceMs: number }>();
  return {
    isLost({ run, workspace }, lastIndex) {
      const locality = placeOf({ workspace });
      const hasHost = hosts?.list().some((view) => view.alive && view.place === locality) ?? true;
      const known = orphanedRuns.get(run);
      orphanedRuns.delete(run);
      if (locality === "any" || hasHost) return false;
      // The policy can let a run that has not started wait forever.
      if (lastIndex < 0 && delegation.noHost === "queue") return false;
      const now = clock.monotonicMs();
      const orphaned = known?.lastIndex === lastIndex ? known : { lastIndex, sinceMs: now };
      orphanedRuns.set(run, orphaned);
      const oldest = orphanedRuns.keys().next().value;
      if (orphanedRuns.size > runsMax && oldest !== undefined) orphanedRuns.delete(oldest);
      return now - orphaned.sinceMs >= delegation.workspaceLostMs;
    },
  };
}
