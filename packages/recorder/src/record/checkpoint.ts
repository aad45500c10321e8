import { setTimeout as delay } from "node:timers/promises";
import type { Journal } from "@troupe/core";

export interface CheckpointOptions {
  journal: Pick<Journal, "checkpoint">;
  follower: string;
  /** Receives the first of several consecutive failures. A failure loses nothing: the next report replaces it. */
  onError(thrown: unknown): void;
}

/**
 * Reports to a journal how far a follower has recorded it, at most once a second. The journal needs it only to delete old
 * sessions.
 */
export interface Checkpoint {
  note(position: number): void;
  /** Reports the latest position. Never throws, and waits for an unreachable journal only for a limited time. */
  flush(): Promise<void>;
}

const reportEveryMs = 1_000;
const flushMsMax = 1_000;

export function createCheckpoint({ journal, follower, onError }: CheckpointOptions): Checkpoint {
  let position = 0;
  let reported = 0;
  let hasFailed = false;
  let timer: NodeJS.Timeout | null = null;
  let reporting: Promise<void> = Promise.resolve();

  const report = async (): Promise<void> => {
    if (position === reported) return;
    const now = position;
    try {
      await journal.checkpoint(follower, now);
      reported = now;
      hasFailed = false;
    } catch (thrown) {
      if (!hasFailed) onError(thrown);
      hasFailed = true;
    }
  };
  const reportNext = (): Promise<void> => {
    reporting = reporting.then(report);
    return reporting;
  };

  return {
    note(newest) {
      position = newest;
      timer ??= setTimeout(() => {
        timer = null;
        void reportNext();
      }, reportEveryMs).unref();
    },
    flush() {
      if (timer) clearTimeout(timer);
      timer = null;
      return Promise.race([reportNext(), delay(flushMsMax, undefined, { ref: false })]);
    },
  };
}
