import { setTimeout as delay } from "node:timers/promises";
import type { FeedItem } from "@troupe/core";

export interface BatchFeedOptions {
  /** The largest batch. */
  itemsMax: number;
  /** The number of items that are read ahead. */
  aheadMax: number;
  /** The time to wait for more items after a batch, if no full batch is ready. */
  gatherMs: number;
}

/**
 * Reads a feed ahead while the consumer works, and yields all items that have arrived as one batch. Ends when the feed
 * ends. An error of the feed is thrown after all earlier items have been yielded.
 */
export async function* batchFeed(
  feed: AsyncIterable<FeedItem[]>,
  { itemsMax, aheadMax, gatherMs }: BatchFeedOptions,
): AsyncGenerator<FeedItem[], void, undefined> {
  const state = { ended: null as { error: unknown } | null, isClosed: false };
  let buffer: FeedItem[] = [];
  let arrived = Promise.withResolvers<void>();
  let consumed = Promise.withResolvers<void>();

  const read = async (): Promise<void> => {
    for await (const batch of feed) {
      buffer.push(...batch);
      arrived.resolve();
      while (buffer.length >= aheadMax && !state.isClosed) await consumed.promise;
      if (state.isClosed) return;
    }
  };
  const end = (error: unknown): void => {
    state.ended = { error };
    arrived.resolve();
  };
  void read().then(() => end(null), end);

  try {
    while (buffer.length > 0 || !state.ended) {
      if (buffer.length === 0) await arrived.promise;
      arrived = Promise.withResolvers();
      if (buffer.length === 0) continue;
      const batch = buffer.slice(0, itemsMax);
      buffer = buffer.slice(itemsMax);
      consumed.resolve();
      consumed = Promise.withResolvers();
      yield batch;
      if (buffer.length < itemsMax && !state.ended) await delay(gatherMs);
    }
  } finally {
    state.isClosed = true;
    consumed.resolve();
  }
  if (state.ended?.error) throw state.ended.error;
}
