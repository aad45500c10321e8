import type { Journal, RunRequest } from "@troupe/core";
import { type OpenRun, openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { lastInboxSeq } from "../inbox.ts";
import { offerRun } from "../offer-run.ts";
import { recoverOpenRuns, requestedOf } from "../recover.ts";
import { hasNewCommand, isWaitingForPerson } from "../run/park.ts";
import { failOrphan } from "./fail-orphan.ts";
import { createOrphanedWorkspaces } from "./orphaned-workspaces.ts";

/** A run about which nothing was written for so many leases may be held by nobody. */
const idleLeases = 2;

/** Somebody who sees to it that no run is left lying. */
export interface OpenRunsResumer {
  /** The runs that were offered at first. */
  offered: readonly string[];
  stop(): void;
}

/**
 * Sees to it that every open run goes on: now, and, where hosts come and go, once in a lease from now on. Any number of
 * processes may do so at once: offering what is queued or held already changes nothing.
 *
 * @example
 * const resumer = await resumeOpenRuns(world);
 * await host.start();
 * // …
 * resumer.stop();
 */
export async function resumeOpenRuns(deps: HostDeps): Promise<OpenRunsResumer> {
  const { clock, leaseMs } = deps;
  if (leaseMs === undefined) return { offered: await recoverOpenRuns(deps.journal, deps.queue), stop() {} };
  const offerIdle = createIdleOffers(deps, idleLeases * leaseMs);
  let stopped = false;
  let cancel = (): void => {};
  const sweep = async (): Promise<string[]> => {
    const offered = await offerIdle();
    if (!stopped) cancel = clock.after(leaseMs, () => void sweep());
    return offered;
  };
  return {
    offered: await sweep(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** What is known of an open run as long as its newest entry is the same. */
interface Known {
  lastIndex: number;
  request: RunRequest;
  /** For one that waits for a person: the newest wish that its journal has. */
  waitsAfterSeq: number | null;
}

/**
 * Offers what was idle for so long, but runs that wait for a person who has said nothing yet. What was looked at once is
 * not read again while nothing is written there: most of what is idle waits. Never rejects: a server that cannot be
 * reached may be there the next time, and a run that cannot be read holds up no other.
 */
function createIdleOffers(deps: HostDeps, idleMs: number): () => Promise<string[]> {
  const { journal, logger } = deps;
  const places = createOrphanedWorkspaces(deps);
  let known = new Map<string, Known>();

  const lookAt = async (open: OpenRun): Promise<Known | null> => {
    const before = known.get(open.run);
    return before?.lastIndex === open.lastIndex ? before : await readOpen(journal, open);
  };

  const offerOne = async (open: OpenRun, seen: Map<string, Known>): Promise<boolean> => {
    const found = await lookAt(open);
    if (!found) return false;
    seen.set(open.run, found);
    const { request, waitsAfterSeq } = found;
    if (waitsAfterSeq !== null && !(await hasNewCommand(journal, request, waitsAfterSeq))) return false;
    if (places.isLost(request, open.lastIndex)) {
      await failOrphan(deps, request);
      return false;
    }
    return (await offerRun(deps, request)) === "offered";
  };

  return async () => {
    const offered: string[] = [];
    const seen = new Map<string, Known>();
    try {
      const idle = (await journal.openRuns()).filter((open) => (open.idleMs ?? Number.POSITIVE_INFINITY) >= idleMs);
      for (const open of idle) {
        try {
          if (await offerOne(open, seen)) offered.push(open.run);
        } catch (err) {
          logger.warn({ session: open.session, run: open.run, err }, "an open run could not be offered");
        }
      }
      known = seen;
    } catch (err) {
      logger.warn({ err }, "open runs could not be looked through; trying again");
    }
    if (offered.length > 0) logger.info({ runs: offered.length }, "open runs that nobody held were offered again");
    return offered;
  };
}

/** Null for what cannot be offered: nobody knows any more what it was asked for. */
async function readOpen(journal: Journal, { session, run, lastIndex }: OpenRun): Promise<Known | null> {
  if (lastIndex < 0) {
    const request = await requestedOf(journal, session, run);
    return request && { lastIndex, request, waitsAfterSeq: null };
  }
  const entries = (await journal.readRun(session, run)).map(openEntry);
  const [opened] = entries;
  const last = entries.at(-1);
  if (opened?.kind !== "run.opened" || !last) return null;
  return {
    lastIndex: last.index,
    request: opened.request,
    waitsAfterSeq: isWaitingForPerson(last) ? lastInboxSeq(entries) : null,
  };
}
