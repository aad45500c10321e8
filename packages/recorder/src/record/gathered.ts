import { setTimeout as delay } from "node:timers/promises";
import type { FeedItem } from "@troupe/core";

export interface BatchFeedOptions {
  /** Most items of one batch. */
  itemsMax: number;
  /** A feed is read no further ahead than this. */
  aheadMax: number;
  /** While little comes, it is let come together for this long. */
  gatherMs: number;
}

/**
 * Reads a feed on while what came before is dealt with, and hands out all that has come meanwhile as one batch. Ends
 * as the feed ends: with its error, once everything before it was handed out.
 */
export async function* batchFeed(
  feed: AsyncIterable<FeedItem[]>,
  { itemsMax, aheadMax, gatherMs }: BatchFeedOptions,
): AsyncGenerator<FeedItem[], void, undefined> {
  const state = { ended: null as { error: unknown } | null, isLeft: false };
  let waiting: FeedItem[] = [];
  let came = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  const read = async (): Promise<void> => {
    for await (const batch of feed) {
      waiting.push(...batch);
      came.resolve();
      while (waiting.length >= aheadMax && !state.isLeft) await taken.promise;
      if (state.isLeft) return;
    }
  };
  const end = (error: unknown): void => {
    state.ended = { error };
    came.resolve();
  };
  void read().then(() => end(null), end);

  try {
    while (waiting.length > 0 || !state.ended) {
      if (waiting.length === 0) await came.promise;
      came = Promise.withResolvers();
      if (waiting.length === 0) continue;
      const batch = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      taken.resolve();
      taken = Promise.withResolvers();
      yield batch;
      if (waiting.length < itemsMax && !state.ended) await delay(gatherMs);
    }
  } finally {
    state.isLeft = true;
    taken.resolve();
  }
  if (state.ended?.error) throw state.ended.error;
}
