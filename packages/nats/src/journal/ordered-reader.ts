import { randomUUID } from "node:crypto";
import type { Logger } from "@troupe/core";
import { type Clock, TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import { streamLost } from "../jetstream/stored-messages.ts";
import { type ReadyConsumer, readyFollower } from "./followers.ts";
import { journalInfo } from "./journal-info.ts";
import { type Delivered, openPullConsumer, type PullConsumer, pullMessages } from "./pull-consumer.ts";

export interface OrderedReaderOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  /** The stream has to be this journal. */
  journalId: string;
  clock: Clock;
  logger: Logger;
  /** Reads on after this sequence. */
  after: number;
  /** Of these subjects. @default all */
  filters?: string[];
  headersOnly?: boolean;
  /** For whom it is read, where the server is to remember what he has kept. @default for a mere onlooker */
  follower?: string;
}

/** Reads a stream from a place on, in order and without a gap, and goes on with what comes. */
export interface OrderedReader {
  /**
   * What came since the last time, at least one message; null once it is closed. Rejects with `JOURNAL_LOST` when the
   * stream is gone, or is another one now.
   */
  next(): Promise<Delivered[] | null>;
  close(): void;
}

const reopenMs = 250;
/** What the same question would be answered with again. */
const hopeless: ReadonlySet<string> = new Set(["JOURNAL_LOST", "FORBIDDEN", "INVALID_MESSAGE"]);
/** A consumer that nobody pulls from goes after this. */
const unusedNanos = 60_000_000_000;

/**
 * Reads from a consumer of its own. Whatever goes wrong with that (a lost connection, a server that has gone, a delivery
 * out of order), it is left behind, and another one begins after the last message that was seen.
 */
export function createOrderedReader(options: OrderedReaderOptions): OrderedReader {
  const { link, stream, clock, logger } = options;
  let seen = options.after;
  let consumer: PullConsumer | null = null;
  /** Counts the tries to open one: what an earlier one comes to is of no use. */
  let opening = 0;
  let ended: { error: TroupeError | null } | null = null;
  let buffer: Delivered[] = [];
  let wake = (): void => {};
  let cancelRetry = (): void => {};
  const logged = new Set<string>();

  const end = (error: TroupeError | null): void => {
    if (ended) return;
    ended = { error };
    cancelRetry();
    stopFollowing();
    consumer?.close();
    wake();
  };
  /** Nobody who does not read is given more. */
  const pullIfWanted = (): void => {
    if (buffer.length < pullMessages) consumer?.pull();
  };
  const hear = (message: Delivered): void => {
    // What a follower is slow to keep is given out again.
    if (message.sequence <= seen) return;
    seen = message.sequence;
    buffer.push(message);
    wake();
  };

  const reopen = (): void => {
    consumer?.close();
    consumer = null;
    cancelRetry();
    if (!ended && link.connected) void open();
  };
  const open = async (): Promise<void> => {
    opening += 1;
    const mine = opening;
    try {
      const ready = await readyConsumer(options, seen);
      if (ended || mine !== opening) return;
      consumer = openPullConsumer({
        link,
        stream,
        consumer: ready,
        clock,
        hear,
        onIdle: pullIfWanted,
        onBroken: reopen,
      });
      pullIfWanted();
    } catch (error) {
      if (!ended && mine === opening) failedToOpen(error);
    }
  };
  const failedToOpen = (error: unknown): void => {
    const code = TroupeError.is(error) ? error.code : "INTERNAL";
    if (TroupeError.is(error) && hopeless.has(code)) {
      end(error);
      return;
    }
    if (!logged.has(code)) logger.warn({ stream, err: error }, "the journal cannot be followed; trying again");
    logged.add(code);
    cancelRetry = clock.after(reopenMs, reopen);
  };
  const stopFollowing = link.onEvent(({ kind }) => {
    if (kind === "reconnected") reopen();
    if (kind === "closed") end(null);
  });
  reopen();

  return {
    async next() {
      while (buffer.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (ended?.error) throw ended.error;
      if (ended) return null;
      const messages = buffer;
      buffer = [];
      pullIfWanted();
      return messages;
    },
    close: () => end(null),
  };
}

async function readyConsumer(options: OrderedReaderOptions, after: number): Promise<ReadyConsumer> {
  const { api, stream, journalId, follower, filters, headersOnly } = options;
  if ((await journalInfo(api, stream)).id !== journalId) throw streamLost(`${stream} that was there before`);
  if (follower !== undefined) return await readyFollower(api, stream, { follower, after });
  const name = `read_${randomUUID().replaceAll("-", "")}`;
  const config = {
    name,
    deliver_policy: "by_start_sequence",
    opt_start_seq: after + 1,
    ack_policy: "none",
    replay_policy: "instant",
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: unusedNanos,
    ...(filters ? { filter_subjects: filters } : {}),
    ...(headersOnly ? { headers_only: true } : {}),
  };
  const request = { stream_name: stream, config, action: "create" };
  await api.call(`CONSUMER.CREATE.${stream}.${name}`, z.unknown(), { request });
  return { name, delivered: 0 };
}
