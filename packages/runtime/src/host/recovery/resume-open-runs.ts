import type { Journal, RunRequest, TaskQueue } from "@troupe/core";
import { beginsTurn, type OpenRun, openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { offerRun } from "../offer-run.ts";
import { lastInboxSeq } from "../run/inbox.ts";
import { hasNewCommand, isParkedWithoutCommand, isWaitingForPerson } from "../run/park.ts";
import { createOrphanDetector, failOrphan } from "./fail-orphan.ts";

/** A run without a new entry for this many leases may have no host. */
const idleLeases = 2;

/** Repeats the offers of open runs until it is stopped. */
export interface OpenRunsResumer {
  /** The runs that were offered at the start. */
  offered: readonly string[];
  stop(): void;
}

/**
 * Offers every open run that has no host: now, and with leases once per lease from then on. Any number of processes may
 * do so at the same time, because offering a run that is queued or held changes nothing.
 *
 * @example
 * const resumer = await resumeOpenRuns(deps);
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
  const offerAgain = async (): Promise<string[]> => {
    const offered = await offerIdle();
    if (!stopped) cancel = clock.after(leaseMs, () => void offerAgain());
    return offered;
  };
  return {
    offered: await offerAgain(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/**
 * Offers every open run once, except runs that wait for a person and have no new command. The owner of an embedded
 * journal calls it at start. Offering a run that is queued or held changes nothing.
 *
 * @returns the offered runs
 *
 * @example
 * const runs = await recoverOpenRuns(deps.journal, deps.queue);
 */
export async function recoverOpenRuns(journal: Journal, queue: TaskQueue): Promise<string[]> {
  const open = await journal.openRuns();
  const offered: string[] = [];
  for (const { session, run, lastIndex } of open) {
    const request =
      lastIndex < 0 ? await readAcceptedRequest(journal, session, run) : await readResumable(journal, session, run);
    if (!request) continue;
    await offerRun({ queue }, request);
    offered.push(run);
  }
  return offered;
}

/** The request of a started run; null if the run could only go on waiting. */
async function readResumable(journal: Journal, session: string, run: string): Promise<RunRequest | null> {
  const texts = await journal.readRun(session, run);
  const [first] = texts;
  const opened = first === undefined ? null : openEntry(first);
  if (opened?.kind !== "run.opened" || (await isParkedWithoutCommand(journal, texts))) return null;
  return opened.request;
}

/** The request of a turn that was accepted and not started. */
async function readAcceptedRequest(journal: Journal, session: string, run: string): Promise<RunRequest | null> {
  for (const { item } of await journal.readInbox(session)) {
    if (beginsTurn(item) && item.request.run === run) return item.request;
  }
  return null;
}

/** An open run, valid until the run has a newer entry. */
interface KnownRun {
  lastIndex: number;
  request: RunRequest;
  /** For a run that waits for a person: the newest command in its journal. */
  waitsAfterSeq: number | null;
}

/**
 * Creates the function that offers the runs without a new entry for this time, except runs that wait for a person and
 * have no new command. A run is read again only after a new entry: most idle runs wait for a person.
 *
 * Never rejects: an unreachable server may answer the next time, and one unreadable run does not stop the others.
 */
function createIdleOffers(deps: HostDeps, idleMs: number): () => Promise<string[]> {
  const { journal, logger } = deps;
  const orphans = createOrphanDetector(deps);
  let known = new Map<string, KnownRun>();

  const read = async (open: OpenRun): Promise<KnownRun | null> => {
    const before = known.get(open.run);
    return before?.lastIndex === open.lastIndex ? before : await readKnownRun(journal, open);
  };

  const offerOne = async (open: OpenRun, stillOpen: Map<string, KnownRun>): Promise<boolean> => {
    const found = await read(open);
    if (!found) return false;
    stillOpen.set(open.run, found);
    const { request, waitsAfterSeq } = found;
    if (waitsAfterSeq !== null && !(await hasNewCommand(journal, request, waitsAfterSeq))) return false;
    if (orphans.isOrphan(request, open.lastIndex)) {
      await failOrphan(deps, request);
      return false;
    }
    return (await offerRun(deps, request)) === "offered";
  };

  return async () => {
    const offered: string[] = [];
    const stillOpen = new Map<string, KnownRun>();
    try {
      const idle = (await journal.openRuns()).filter((open) => (open.idleMs ?? Number.POSITIVE_INFINITY) >= idleMs);
      for (const open of idle) {
        try {
          if (await offerOne(open, stillOpen)) offered.push(open.run);
        } catch (err) {
          logger.warn({ session: open.session, run: open.run, err }, "an open run could not be offered");
        }
      }
      known = stillOpen;
    } catch (err) {
      logger.warn({ err }, "open runs could not be listed; trying again");
    }
    if (offered.length > 0) logger.info({ runs: offered.length }, "open runs without a host were offered again");
    return offered;
  };
}

/** Null for a run whose request is unknown, so that it cannot be offered. */
async function readKnownRun(journal: Journal, { session, run, lastIndex }: OpenRun): Promise<KnownRun | null> {
  if (lastIndex < 0) {
    const request = await readAcceptedRequest(journal, session, run);
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
