import { randomUUID } from "node:crypto";
import { type Clock, type Logger, TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsLink } from "../connection/link.ts";
import type { JetStreamApi } from "../jetstream/api.ts";
import { streamLost } from "../jetstream/errors.ts";
import { openFollower, type ReadyConsumer } from "./followers.ts";
import { journalInfo } from "./journal-info.ts";
import { batchMessages, type DeliveredMessage, openPullConsumer, type PullConsumer } from "./pull-consumer.ts";

export interface OrderedReaderOptions {
  link: NatsLink;
  api: JetStreamApi;
  stream: string;
  /** The reader ends with `JOURNAL_LOST` if the stream holds another journal. */
  journalId: string;
  clock: Clock;
  logger: Logger;
  /** Starts after this sequence. */
  after: number;
  /** Subjects to read. @default all */
  filters?: string[];
  headersOnly?: boolean;
  /** Reads as this follower, whose checkpoint the server stores. @default without a checkpoint */
  follower?: string;
}

/**
 * Reads a stream from a sequence on, in order and without gaps, and waits for new messages. docs/adr/0027 compares it with
 * the client library's ordered consumer.
 */
export interface OrderedReader {
  /**
   * Resolves to the messages since the last call, at least one. Resolves to null after `close`. Rejects with `JOURNAL_LOST`
   * if the stream is gone or holds another journal.
   */
  next(): Promise<DeliveredMessage[] | null>;
  close(): void;
}

const reopenMs = 250;
/** Errors that a retry cannot fix. */
const permanentCodes: ReadonlySet<string> = new Set(["JOURNAL_LOST", "FORBIDDEN", "INVALID_MESSAGE"]);
/** The server deletes the consumer of a reader that has stopped pulling after this time. */
const inactiveNanos = 60_000_000_000;

/**
 * Reads from a consumer of its own. After every fault (a lost connection, a dead server, a lost delivery) it abandons the
 * consumer, and creates another one that starts after the last received message.
 */
export function createOrderedReader(options: OrderedReaderOptions): OrderedReader {
  const { link, stream, clock, logger } = options;
  let lastSequence = options.after;
  let consumer: PullConsumer | null = null;
  /** Number of attempts to open a consumer. The result of an outdated attempt is ignored. */
  let attempt = 0;
  let ended: { error: TroupeError | null } | null = null;
  let buffer: DeliveredMessage[] = [];
  let wakeReader = (): void => {};
  let cancelRetry = (): void => {};
  const loggedCodes = new Set<string>();

  const end = (error: TroupeError | null): void => {
    if (ended) return;
    ended = { error };
    cancelRetry();
    stopListening();
    consumer?.close();
    wakeReader();
  };
  /** Backpressure: no further batch before the caller has taken the last one. */
  const pullIfDrained = (): void => {
    if (buffer.length < batchMessages) consumer?.pull();
  };
  const onMessage = (message: DeliveredMessage): void => {
    // The server delivers a message again if its follower acknowledges it late.
    if (message.sequence <= lastSequence) return;
    lastSequence = message.sequence;
    buffer.push(message);
    wakeReader();
  };

  const reopen = (): void => {
    consumer?.close();
    consumer = null;
    cancelRetry();
    if (!ended && link.connected) void open();
  };
  const open = async (): Promise<void> => {
    attempt += 1;
    const thisAttempt = attempt;
    const isOutdated = (): boolean => ended !== null || thisAttempt !== attempt;
    try {
      const ready = await openConsumer(options, lastSequence);
      if (isOutdated()) return;
      consumer = openPullConsumer({
        ...{ link, stream, clock, onMessage },
        consumer: ready,
        onIdle: pullIfDrained,
        onBroken: reopen,
      });
      pullIfDrained();
    } catch (error) {
      if (!isOutdated()) onOpenFailed(error);
    }
  };
  const onOpenFailed = (error: unknown): void => {
    const code = TroupeError.is(error) ? error.code : "INTERNAL";
    if (TroupeError.is(error) && permanentCodes.has(code)) {
      end(error);
      return;
    }
    if (!loggedCodes.has(code)) logger.warn({ stream, err: error }, "the journal cannot be followed; trying again");
    loggedCodes.add(code);
    cancelRetry = clock.after(reopenMs, reopen);
  };
  const stopListening = link.onEvent(({ kind }) => {
    if (kind === "reconnected") reopen();
    if (kind === "closed") end(null);
  });
  reopen();

  return {
    async next() {
      while (buffer.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
      }
      if (ended?.error) throw ended.error;
      if (ended) return null;
      const messages = buffer;
      buffer = [];
      pullIfDrained();
      return messages;
    },
    close: () => end(null),
  };
}

async function openConsumer(options: OrderedReaderOptions, after: number): Promise<ReadyConsumer> {
  const { api, stream, journalId, follower, filters, headersOnly } = options;
  if ((await journalInfo(api, stream)).id !== journalId) throw streamLost(`${stream} with the journal ${journalId}`);
  if (follower !== undefined) return await openFollower(api, stream, { follower, after });
  const name = `read_${randomUUID().replaceAll("-", "")}`;
  const config = {
    name,
    deliver_policy: "by_start_sequence",
    opt_start_seq: after + 1,
    ack_policy: "none",
    replay_policy: "instant",
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: inactiveNanos,
    ...(filters ? { filter_subjects: filters } : {}),
    ...(headersOnly ? { headers_only: true } : {}),
  };
  const request = { stream_name: stream, config, action: "create" };
  await api.call(`CONSUMER.CREATE.${stream}.${name}`, z.unknown(), { request });
  return { name, delivered: 0 };
}
