import type { RunRequest, TakenTask } from "@troupe/core";
import { ageMs, leaseMsDefault, type Moment, momentOf, openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";

/** A journal that cannot be read, or is behind, is read again after this long. */
const readAgainMs = 500;

/** So often a read may be behind what this host wrote itself, before the journal is taken for another one. */
const behindMax = 5;

/** What was read longer ago than this share of a lease says nothing any more: this process may have slept since. */
const freshShare = 0.6;

/** Where a run's journal ends, by what its host has written. */
export interface JournalHead {
  index: number;
  epoch: number;
}

export interface FenceOptions {
  deps: Pick<HostDeps, "journal" | "clock" | "logger" | "hostId" | "leaseMs">;
  request: RunRequest;
  task: Pick<TakenTask, "isCertain" | "renew">;
  standing(): JournalHead;
  /** Whether nobody here wants to know any more. */
  isOver(): boolean;
  /** Somebody else has the run. Called before anybody hears that it is not held. */
  lost(why: string): void;
}

/**
 * Says whether a run is still this host's: without delay while its lease is certain; otherwise the journal tells, for as
 * long as it takes to read it. A host that was stopped for a minute and wakes up finds here that another has its runs.
 */
export function createFence(options: FenceOptions): () => Promise<boolean> {
  const { task, isOver } = options;
  let reading: Promise<boolean> | null = null;
  return async () => {
    if (isOver()) return false;
    if (task.isCertain()) return true;
    reading ??= readUntilKnown(options).finally(() => {
      reading = null;
    });
    return await reading;
  };
}

async function readUntilKnown(options: FenceOptions): Promise<boolean> {
  const { deps, request, task, isOver, lost } = options;
  const { session, run } = request;
  for (let behind = 0; !isOver(); ) {
    const askedAt = momentOf(deps.clock);
    const end = await readEnd(options).catch((err: unknown) => {
      deps.logger.warn({ session, run, err }, "the lease is uncertain, and the journal cannot be read; trying again");
      return "unread" as const;
    });
    if (isOver()) return false;
    if (end === "ours") {
      if ((await task.renew()) || isFresh(askedAt, deps)) return !isOver();
      continue;
    }
    if (end === "behind") behind += 1;
    if (end === "anothers" || behind > behindMax) {
      lost(end === "anothers" ? "another host has claimed it" : "the journal has lost its end");
      return false;
    }
    await new Promise<void>((resolve) => deps.clock.after(readAgainMs, resolve));
  }
  return false;
}

function isFresh(askedAt: Moment, { clock, leaseMs = leaseMsDefault }: FenceOptions["deps"]): boolean {
  return ageMs(clock, askedAt) < freshShare * leaseMs;
}

/** A claim takes a new epoch, by compare-and-set: who wrote under the newest one holds the run. */
async function readEnd({ deps, request, standing }: FenceOptions): Promise<"ours" | "anothers" | "behind"> {
  const { index, epoch } = standing();
  const text = await deps.journal.lastOf(request.session, request.run);
  const last = text === null ? null : openEntry(text);
  if (!last || last.epoch < epoch || last.index < index) return "behind";
  return last.epoch === epoch && last.host === deps.hostId ? "ours" : "anothers";
}
