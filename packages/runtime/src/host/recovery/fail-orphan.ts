import { defaultPolicy, type EntryBody, type RunRequest, type RunResponse, replayAgent } from "@troupe/core";
import {
  type AgentContext,
  composeResponse,
  failedOutcome,
  openContext,
  openEntry,
  permanentError,
  projectOf,
} from "@troupe/core/internal";
import { openingEntries } from "../claim/open-run.ts";
import type { HostDeps } from "../host-deps.ts";
import { localityOf } from "../offer-run.ts";
import { appendEntries } from "../run/seal-entries.ts";
import { announceSettled } from "../run/settled.ts";

/**
 * Fails a run for its lost host, because no live host has the disk with its files. The append is a compare-and-set: a
 * host that still writes to the run keeps it, and a host that returns later finds the run settled.
 *
 * @returns the response of the run; null if another host has written to its journal meanwhile
 */
export async function failOrphan(deps: HostDeps, request: RunRequest): Promise<RunResponse | null> {
  const { session, run } = request;
  const known = (await deps.journal.readRun(session, run)).map(openEntry);
  const last = known.at(-1);
  if (last?.kind === "run.settled") return last.response;
  const message = `no host is left at the place ${localityOf(request)}, where its files are`;
  const outcome = failedOutcome({ ...permanentError("workspace_lost", message), recoverable: true });
  const bodies = last
    ? endingEntries(composeResponse(replayAgent(known), outcome))
    : await allEntries(deps, request, (context) => composeResponse(context, outcome));
  const written = await appendEntries(deps, request, known, bodies, (last?.epoch ?? 0) + 1);
  const newest = written?.at(-1);
  if (newest?.kind !== "run.settled") return null;
  deps.logger.warn({ session, run, message }, "run given up");
  announceSettled(deps, newest.response);
  return newest.response;
}

function endingEntries(response: RunResponse): EntryBody[] {
  return [
    { kind: "run.claimed", reason: "taken_over" },
    { kind: "run.settled", response },
  ];
}

/** The whole journal of a run that no host has opened. */
async function allEntries(
  deps: HostDeps,
  request: RunRequest,
  respond: (context: AgentContext) => RunResponse,
): Promise<EntryBody[]> {
  const bodies = await openingEntries(deps, request, await deps.agentSource.load(projectOf(request)));
  const [opened] = bodies;
  if (bodies.length > 1 || opened?.kind !== "run.opened") return bodies;
  const response = respond(openContext({ request, pin: opened.pin, openedAt: deps.clock.now() }));
  return [opened, { kind: "run.settled", response }];
}

/** Finds runs that cannot go on because no live host has the disk with their files. */
export interface OrphanDetector {
  /**
   * Whether the run's disk had no live host, and the run wrote no entry, for as long as the policy waits. The caller asks
   * repeatedly. `lastIndex` is the index of the run's newest entry, or -1 if no host has opened it.
   */
  isOrphan(request: Pick<RunRequest, "run" | "workspace">, lastIndex: number): boolean;
}

/** How many runs without a host are remembered; the oldest are forgotten first. */
const runsMax = 10_000;

export function createOrphanDetector(deps: Pick<HostDeps, "hosts" | "delegation" | "clock">): OrphanDetector {
  const { hosts, delegation = defaultPolicy.delegation, clock } = deps;
  const withoutHost = new Map<string, { lastIndex: number; sinceMs: number }>();
  return {
    isOrphan({ run, workspace }, lastIndex) {
      const locality = localityOf({ workspace });
      const hasHost = hosts?.list().some((view) => view.alive && view.place === locality) ?? true;
      const known = withoutHost.get(run);
      withoutHost.delete(run);
      if (locality === "any" || hasHost) return false;
      // The policy can let a run that has not started wait forever.
      if (lastIndex < 0 && delegation.noHost === "queue") return false;
      const now = clock.monotonicMs();
      const noted = known?.lastIndex === lastIndex ? known : { lastIndex, sinceMs: now };
      withoutHost.set(run, noted);
      const oldest = withoutHost.keys().next().value;
      if (withoutHost.size > runsMax && oldest !== undefined) withoutHost.delete(oldest);
      return now - noted.sinceMs >= delegation.workspaceLostMs;
    },
  };
}
