import type { FeedItem, TroupeError } from "@troupe/core";

const batchItemsMax = 500;
/** A watcher that lags further behind reads from the file again. */
const liveItemsMax = 2_000;

export interface LiveFeed {
  tail(): number;
  /** Publishes the items of one commit: contiguous and in order. */
  publish(items: FeedItem[]): void;
  watch(options: { after: number; signal: AbortSignal }): AsyncGenerator<FeedItem[], void, undefined>;
  /** Ends all watches. With an error, they throw it. */
  end(error: TroupeError | null): void;
}

interface Watcher {
  live: FeedItem[];
  wake: () => void;
}

/**
 * The live end of the journal. A watcher gets new items from memory if it has seen the item before them, and otherwise
 * through `page`. In both cases it gets each position once and in order.
 */
export function createLiveFeed(tailAtOpen: number, page: (after: number) => Promise<FeedItem[]>): LiveFeed {
  const watchers = new Set<Watcher>();
  let tail = tailAtOpen;
  let ended: { error: TroupeError | null } | null = null;

  const nextBatch = async (watcher: Watcher, seen: number): Promise<FeedItem[]> => {
    while (watcher.live.length > 0 && (watcher.live[0]?.position ?? 0) <= seen) watcher.live.shift();
    if (watcher.live[0]?.position === seen + 1) return watcher.live.splice(0, batchItemsMax);
    return tail > seen ? page(seen) : [];
  };

  return {
    tail: () => tail,
    publish(items) {
      tail = items.at(-1)?.position ?? tail;
      for (const watcher of watchers) {
        if (watcher.live.length + items.length > liveItemsMax) watcher.live = [];
        else watcher.live.push(...items);
        watcher.wake();
      }
    },
    async *watch({ after, signal }) {
      const watcher: Watcher = { live: [], wake: () => {} };
      const onAbort = (): void => watcher.wake();
      signal.addEventListener("abort", onAbort);
      watchers.add(watcher);
      let seen = after;
      try {
        while (!signal.aborted && !ended) {
          const woken = new Promise<void>((resolve) => {
            watcher.wake = resolve;
          });
          const batch = await unlessEnded(nextBatch(watcher, seen), () => ended !== null);
          if (signal.aborted || ended) break;
          if (batch.length === 0) await woken;
          else yield batch;
          seen = batch.at(-1)?.position ?? seen;
        }
      } finally {
        watchers.delete(watcher);
        signal.removeEventListener("abort", onAbort);
      }
      if (ended?.error && !signal.aborted) throw ended.error;
    },
    end(error) {
      ended ??= { error };
      for (const watcher of watchers) watcher.wake();
    },
  };
}

/** A page can fail because the journal was closed meanwhile. That is not an error of the watch. */
async function unlessEnded(batch: Promise<FeedItem[]>, isEnded: () => boolean): Promise<FeedItem[]> {
  try {
    return await batch;
  } catch (error) {
    if (isEnded()) return [];
    throw error;
  }
}
