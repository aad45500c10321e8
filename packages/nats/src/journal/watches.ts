import type { Logger } from "@troupe/core";
import { type Blobs, type Clock, type FeedItem, TroupeError } from "@troupe/core";
import type { Subjects, WatchOptions } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import { firstSequenceAfter, wholeSequenceAt } from "../streams/positions.ts";
import { createFeed, type Feed } from "./feed.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createOrderedReader, type OrderedReader } from "./ordered-reader.ts";
import type { Delivered } from "./pull-consumer.ts";

export interface Watches {
  watch(options: WatchOptions): AsyncGenerator<FeedItem[], void, undefined>;
  kept(follower: string, position: number): void;
  close(): void;
}

export interface WatchesOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  journalId: string;
  subjects: Subjects;
  blobs: Blobs;
  strays: InvalidEntries;
  clock: Clock;
  logger: Logger;
}

const batchItemsMax = 500;
/** A blob that cannot be read for now is asked for again after this. */
const blobRetryMs = 500;

const receiptsMax = 50_000;

/** Where to say that messages up to one were kept. */
interface Receipt {
  sequence: number;
  reply: string;
}

export function createWatches(options: WatchesOptions): Watches {
  const { link, subjects, blobs, strays, clock, logger } = options;
  const readers = new Set<OrderedReader>();
  const receipts = new Map<string, Receipt[]>();
  let closed = false;

  /** Items in order; a blob that cannot be read for now is waited for, one that is lost leaves a gap that is logged. */
  const itemsOf = async (feed: Feed, message: Delivered, isOver: () => boolean): Promise<FeedItem[]> => {
    while (!isOver()) {
      try {
        return await feed.itemsOf(message);
      } catch (err) {
        const isLost = TroupeError.is(err) && err.code === "DATABASE_DAMAGED";
        const { subject, sequence } = message;
        if (isLost) logger.error({ subject, sequence, err }, "a message of the journal has lost its body");
        if (isLost) return [];
        await new Promise<void>((resolve) => clock.after(blobRetryMs, resolve));
      }
    }
    return [];
  };
  const remember = (follower: string, messages: readonly Delivered[]): void => {
    const known = receipts.get(follower) ?? [];
    receipts.set(follower, known);
    for (const { sequence, reply } of messages) known.push({ sequence, reply });
    // Each stands for all before it: without the oldest half it takes longer until something is let go of, and no more.
    if (known.length > receiptsMax) known.splice(0, receiptsMax / 2);
  };

  /** What a reader gives, until it or the watch is over. */
  async function* itemsFrom(
    reader: OrderedReader,
    { after, signal, follower }: WatchOptions,
  ): AsyncGenerator<FeedItem[], void, undefined> {
    const feed = createFeed({ subjects, blobs, strays });
    const isOver = (): boolean => closed || signal.aborted;
    for (let messages = await reader.next(); messages && !isOver(); messages = await reader.next()) {
      if (follower !== undefined) remember(follower, messages);
      for await (const batch of batchesOf(messages, after, (message) => itemsOf(feed, message, isOver))) {
        if (isOver()) return;
        yield batch;
      }
    }
  }

  async function* watch(wanted: WatchOptions): AsyncGenerator<FeedItem[], void, undefined> {
    const { after, signal, follower } = wanted;
    if (closed || signal.aborted) return;
    const begin = { after: firstSequenceAfter(after) - 1, ...(follower === undefined ? {} : { follower }) };
    if (follower !== undefined) receipts.delete(follower);
    const reader = createOrderedReader({ ...options, ...begin });
    const onAbort = (): void => reader.close();
    signal.addEventListener("abort", onAbort, { once: true });
    readers.add(reader);
    try {
      yield* itemsFrom(reader, wanted);
    } finally {
      signal.removeEventListener("abort", onAbort);
      readers.delete(reader);
      reader.close();
    }
  }

  return {
    watch,
    kept(follower, position) {
      const known = receipts.get(follower);
      const whole = wholeSequenceAt(position);
      const after = known?.findIndex(({ sequence }) => sequence > whole) ?? -1;
      const kept = known?.splice(0, after === -1 ? known.length : after).at(-1);
      // Lost on its way it is said again with the next one: each stands for all before it.
      if (kept && link.connected) link.connection.publish(kept.reply, "+ACK");
    },
    close() {
      closed = true;
      for (const reader of readers) reader.close();
    },
  };
}

async function* batchesOf(
  messages: readonly Delivered[],
  after: number,
  itemsOf: (message: Delivered) => Promise<FeedItem[]>,
): AsyncGenerator<FeedItem[]> {
  let batch: FeedItem[] = [];
  for (const message of messages) {
    const items = await itemsOf(message);
    for (const item of items) if (item.position > after) batch.push(item);
    if (batch.length < batchItemsMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
