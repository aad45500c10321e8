import { type Blobs, type Clock, type FeedItem, type Logger, TroupeError } from "@troupe/core";
import type { Subjects, WatchOptions } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import { firstSequenceAfter, wholeSequenceAt } from "../streams/positions.ts";
import { createFeedDecoder, type FeedDecoder } from "./feed.ts";
import type { InvalidEntries } from "./invalid-entries.ts";
import { createOrderedReader, type OrderedReader } from "./ordered-reader.ts";
import type { DeliveredMessage } from "./pull-consumer.ts";

/** The watches on the journal's feed, and the checkpoints of its followers. */
export interface Watches {
  watch(options: WatchOptions): AsyncGenerator<FeedItem[], void, undefined>;
  /** Stores on the server that a follower has everything up to a position. */
  checkpoint(follower: string, position: number): void;
  close(): void;
}

export interface WatchesOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  journalId: string;
  subjects: Subjects;
  blobs: Blobs;
  invalidEntries: InvalidEntries;
  clock: Clock;
  logger: Logger;
}

const batchItemsMax = 500;
/** Pause before a blob that cannot be read is requested again. */
const blobRetryMs = 500;
/** Acknowledgement subjects that are remembered for one follower. */
const acksMax = 50_000;

/** Acknowledges all messages up to a sequence. */
interface PendingAck {
  sequence: number;
  reply: string;
}

export function createWatches(options: WatchesOptions): Watches {
  const { link, subjects, blobs, invalidEntries, clock, logger } = options;
  const readers = new Set<OrderedReader>();
  const pendingAcks = new Map<string, PendingAck[]>();
  let closed = false;

  /** Retries until the blob can be read. A blob that is lost for good leaves a gap, which is logged. */
  const decode = async (
    decoder: FeedDecoder,
    message: DeliveredMessage,
    isOver: () => boolean,
  ): Promise<FeedItem[]> => {
    while (!isOver()) {
      try {
        return await decoder.decode(message);
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
  const addPendingAcks = (follower: string, messages: readonly DeliveredMessage[]): void => {
    const acks = pendingAcks.get(follower) ?? [];
    pendingAcks.set(follower, acks);
    for (const { sequence, reply } of messages) acks.push({ sequence, reply });
    // Each acknowledges all messages before it. Without the oldest half a purge comes later, which is harmless.
    if (acks.length > acksMax) acks.splice(0, acksMax / 2);
  };

  async function* itemsOf(
    reader: OrderedReader,
    { after, signal, follower }: WatchOptions,
  ): AsyncGenerator<FeedItem[], void, undefined> {
    const decoder = createFeedDecoder({ subjects, blobs, invalidEntries });
    const isOver = (): boolean => closed || signal.aborted;
    for (let messages = await reader.next(); messages && !isOver(); messages = await reader.next()) {
      if (follower !== undefined) addPendingAcks(follower, messages);
      for await (const batch of toBatches(messages, after, (message) => decode(decoder, message, isOver))) {
        if (isOver()) return;
        yield batch;
      }
    }
  }

  async function* watch(watchOptions: WatchOptions): AsyncGenerator<FeedItem[], void, undefined> {
    const { after, signal, follower } = watchOptions;
    if (closed || signal.aborted) return;
    if (follower !== undefined) pendingAcks.delete(follower);
    const reader = createOrderedReader({
      ...options,
      after: firstSequenceAfter(after) - 1,
      ...(follower === undefined ? {} : { follower }),
    });
    const onAbort = (): void => reader.close();
    signal.addEventListener("abort", onAbort, { once: true });
    readers.add(reader);
    try {
      yield* itemsOf(reader, watchOptions);
    } finally {
      signal.removeEventListener("abort", onAbort);
      readers.delete(reader);
      reader.close();
    }
  }

  return {
    watch,
    checkpoint(follower, position) {
      const acks = pendingAcks.get(follower);
      const sequence = wholeSequenceAt(position);
      const after = acks?.findIndex((ack) => ack.sequence > sequence) ?? -1;
      const last = acks?.splice(0, after === -1 ? acks.length : after).at(-1);
      // A lost acknowledgement does no harm: the next one covers it.
      if (last && link.connected) link.connection.publish(last.reply, "+ACK");
    },
    close() {
      closed = true;
      for (const reader of readers) reader.close();
    },
  };
}

async function* toBatches(
  messages: readonly DeliveredMessage[],
  after: number,
  decode: (message: DeliveredMessage) => Promise<FeedItem[]>,
): AsyncGenerator<FeedItem[]> {
  let batch: FeedItem[] = [];
  for (const message of messages) {
    const items = await decode(message);
    for (const item of items) if (item.position > after) batch.push(item);
    if (batch.length < batchItemsMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
