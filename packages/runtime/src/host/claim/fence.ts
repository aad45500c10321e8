import type { RunRequest, TakenTask } from "@troupe/core";
import { ageMs, leaseMsDefault, type Moment, momentOf, openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";

/** A journal that cannot be read, or is behind, is read again after this time. */
const readAgainMs = 500;

/** How many reads may lack this host's own entries, before the journal counts as another one. */
const behindMax = 5;

/** A read counts for this share of a lease. An older one proves nothing: this process may have slept since. */
const freshShare = 0.6;

/** The end of a run's journal, as far as its host has written it. */
export interface JournalHead {
  index: number;
  epoch: number;
}

export interface FenceOptions {
  deps: Pick<HostDeps, "journal" | "clock" | "logger" | "hostId" | "leaseMs">;
  request: RunRequest;
  task: Pick<TakenTask, "isCertain" | "renew">;
  head(): JournalHead;
  /** Whether the run has ended on this host, so that the answer no longer matters. */
  isEnded(): boolean;
  /** Another host has the run. Called before the fence resolves to false. */
  lost(reason: string): void;
}

/**
 * Creates the check whether this host still holds a run. It resolves at once while the lease is certain; otherwise it
 * reads the journal until the answer is known. A host that was suspended for a minute learns here that others have
 * claimed its runs.
 */
export function createFence(options: FenceOptions): () => Promise<boolean> {
  const { task, isEnded } = options;
  let reading: Promise<boolean> | null = null;
  return async () => {
    if (isEnded()) return false;
    if (task.isCertain()) return true;
    reading ??= readUntilKnown(options).finally(() => {
      reading = null;
    });
    return await reading;
  };
}

async function readUntilKnown(options: FenceOptions): Promise<boolean> {
  const { deps, request, task, isEnded, lost } = options;
  const { session, run } = request;
  for (let behind = 0; !isEnded(); ) {
    const readAt = momentOf(deps.clock);
    const writer = await readLastWriter(options).catch((err: unknown) => {
      deps.logger.warn({ session, run, err }, "the lease is uncertain, and the journal cannot be read; trying again");
      return "unread" as const;
    });
    if (isEnded()) return false;
    if (writer === "this host") {
      if ((await task.renew()) || isFresh(readAt, deps)) return !isEnded();
      continue;
    }
    if (writer === "behind") behind += 1;
    if (writer === "another host" || behind > behindMax) {
      lost(writer === "another host" ? "another host has claimed it" : "the journal has lost its end");
      return false;
    }
    await new Promise<void>((resolve) => deps.clock.after(readAgainMs, resolve));
  }
  return false;
}

function isFresh(readAt: Moment, { clock, leaseMs = leaseMsDefault }: FenceOptions["deps"]): boolean {
  return ageMs(clock, readAt) < freshShare * leaseMs;
}

/** Each claim takes a new epoch by compare-and-set, so the writer of the newest epoch holds the run. */
async function readLastWriter({ deps, request, head }: FenceOptions): Promise<"this host" | "another host" | "behind"> {
  const { index, epoch } = head();
  const text = await deps.journal.lastOf(request.session, request.run);
  const last = text === null ? null : openEntry(text);
  if (!last || last.epoch < epoch || last.index < index) return "behind";
  return last.epoch === epoch && last.host === deps.hostId ? "this host" : "another host";
}
