import { setTimeout as delay } from "node:timers/promises";
import type { Journal } from "@troupe/core";

export interface CheckpointOptions {
  journal: Pick<Journal, "checkpoint">;
  follower: string;
  /** Told of the first of several failures in a row: nothing is lost by them, the next word says it all. */
  onError(thrown: unknown): void;
}

/** Says to a journal how far a follower has come: at most once in a while, because it lets go of old things only. */
export interface Checkpoint {
  note(position: number): void;
  /** Says the last of it. Never throws, and waits for no journal that is out of reach. */
  flush(): Promise<void>;
}

const everyMs = 1_000;
const flushMsMax = 1_000;

export function createCheckpoint({ journal, follower, onError }: CheckpointOptions): Checkpoint {
  let position = 0;
  let said = 0;
  let hasFailed = false;
  let timer: NodeJS.Timeout | null = null;
  let saying: Promise<void> = Promise.resolve();

  const say = async (): Promise<void> => {
    if (position === said) return;
    const now = position;
    try {
      await journal.checkpoint(follower, now);
      said = now;
      hasFailed = false;
    } catch (thrown) {
      if (!hasFailed) onError(thrown);
      hasFailed = true;
    }
  };
  const sayNext = (): Promise<void> => {
    saying = saying.then(say);
    return saying;
  };

  return {
    note(newest) {
      position = newest;
      timer ??= setTimeout(() => {
        timer = null;
        void sayNext();
      }, everyMs).unref();
    },
    flush() {
      if (timer) clearTimeout(timer);
      timer = null;
      return Promise.race([sayNext(), delay(flushMsMax, undefined, { ref: false })]);
    },
  };
}
