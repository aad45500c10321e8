import { randomUUID } from "node:crypto";
import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JetStreamManager } from "@nats-io/jetstream";
import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Clock, TroupeError } from "@troupe/core";
import type { Logger } from "../../logger.ts";
import { jetStreamError } from "../jetstream-errors.ts";
import type { NatsLink } from "../link.ts";
import { type Stored, streamLost } from "../stored.ts";
import { journalIdOf } from "../streams.ts";
import { beginFollowing } from "./follower.ts";

/** A message as a consumer gave it out. */
export interface Delivered extends Stored {
  /** By the server's clock. */
  atMs: number;
  /** Where to say that it was kept. */
  reply: string;
}

export interface OrderedReaderOptions {
  link: NatsLink;
  manager: JetStreamManager;
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

const nanosPerMs = 1_000_000;
const batchMessages = 1_000;
const batchBytes = 8 * 1024 * 1024;
const pullMs = 30_000;
const heartbeatMs = 2_000;
/** A consumer of which nothing was heard for so long is given up. */
const silentMsMax = 2.5 * heartbeatMs;
const reopenMs = 250;
/** A consumer that nobody pulls from goes after this. */
const unusedMs = 60_000;

/** One consumer of ours, and what it has given out so far. */
interface Opened {
  name: string;
  inbox: string;
  subscription: { unsubscribe(): void };
  /** Numbers of the deliveries have no gap: with one, something got lost on the way. */
  delivered: number;
  pulls: number;
  /** How many the pull under way may still give. */
  open: number;
  heardMs: number;
}

/**
 * Reads by pulling from a consumer of its own. Whatever goes wrong with that (a lost connection, a server that has gone,
 * a delivery out of order), it is left behind and another one begins after the last message that was seen.
 */
export function createOrderedReader(options: OrderedReaderOptions): OrderedReader {
  const { link, manager, stream, clock, logger } = options;
  let seen = options.after;
  let opened: Opened | null = null;
  let opening = false;
  let closed = false;
  let failure: TroupeError | null = null;
  let buffer: Delivered[] = [];
  let wake = (): void => {};
  let stopTimer = (): void => {};
  const logged = new Set<string>();

  const leave = (): void => {
    opened?.subscription.unsubscribe();
    opened = null;
  };
  const end = (error: TroupeError | null): void => {
    if (closed) return;
    closed = true;
    failure = error;
    stopTimer();
    stopFollowing();
    const left = opened;
    leave();
    if (left && options.follower === undefined && link.connected) {
      link.connection.publish(`$JS.API.CONSUMER.DELETE.${stream}.${left.name}`);
    }
    wake();
  };

  const pull = (consumer: Opened): void => {
    consumer.pulls += 1;
    consumer.open = batchMessages;
    const request = {
      batch: batchMessages,
      max_bytes: Math.max(batchBytes, 2 * link.payloadBytesMax),
      expires: pullMs * nanosPerMs,
      idle_heartbeat: heartbeatMs * nanosPerMs,
    };
    const reply = `${consumer.inbox}.${consumer.pulls}`;
    link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer.name}`, JSON.stringify(request), { reply });
  };
  /** Nobody who does not read is given more. */
  const pullIfWanted = (): void => {
    if (opened && opened.open === 0 && buffer.length < batchMessages && link.connected) pull(opened);
  };

  const hear = (consumer: Opened, message: Msg): void => {
    if (consumer !== opened) return;
    consumer.heardMs = clock.monotonicMs();
    const { headers, subject } = message;
    if (headers?.code) {
      if (subject === `${consumer.inbox}.${consumer.pulls}`) hearStatus(consumer, message);
      return;
    }
    const place = placeIn(message.reply);
    if (!place || place.delivery !== consumer.delivered + 1) {
      reopen();
      return;
    }
    consumer.delivered += 1;
    consumer.open -= 1;
    // What a follower is slow to keep is given out again.
    if (place.sequence > seen) buffer.push(toDelivered(message, place));
    seen = Math.max(seen, place.sequence);
    if (consumer.open === 0) pullIfWanted();
    wake();
  };
  const hearStatus = (consumer: Opened, { headers }: Msg): void => {
    const code = headers?.code;
    if (code === 100) {
      if (Number(headers?.get("Nats-Last-Consumer")) !== consumer.delivered) reopen();
      return;
    }
    const isOver = code === 404 || code === 408 || (code === 409 && /batch|maxbytes/i.test(headers?.description ?? ""));
    if (!isOver) {
      reopen();
      return;
    }
    consumer.open = 0;
    pullIfWanted();
  };

  const reopen = (): void => {
    leave();
    void open();
  };
  const open = async (): Promise<void> => {
    if (opening || closed || !link.connected) return;
    opening = true;
    try {
      const consumer = await start();
      if (closed) consumer.subscription.unsubscribe();
      else {
        opened = consumer;
        pull(consumer);
      }
    } catch (error) {
      failedToOpen(error);
    } finally {
      opening = false;
    }
  };
  const failedToOpen = (error: unknown): void => {
    const why = jetStreamError(error, link, `reading ${stream}`);
    if (["JOURNAL_LOST", "FORBIDDEN", "CLOSED"].includes(why.code)) end(why.code === "CLOSED" ? null : why);
    else if (!logged.has(why.code)) logger.warn({ stream, err: why }, "the journal cannot be followed; trying again");
    logged.add(why.code);
  };
  const start = async (): Promise<Opened> => {
    const info = await manager.streams.info(stream);
    if (journalIdOf(info) !== options.journalId) throw streamLost(`${stream} that was there before`);
    const { follower } = options;
    const { name, delivered } = follower
      ? await beginFollowing({ manager, stream, follower, after: seen })
      : { name: await addReader(options, seen), delivered: 0 };
    const inbox = createInbox(link.inboxPrefix);
    const consumer: Opened = {
      name,
      inbox,
      delivered,
      pulls: 0,
      open: 0,
      heardMs: clock.monotonicMs(),
      subscription: link.connection.subscribe(`${inbox}.*`, {
        callback: (error, message) => {
          if (!error) hear(consumer, message);
        },
      }),
    };
    return consumer;
  };

  const tick = (): void => {
    if (opened && clock.monotonicMs() - opened.heardMs > silentMsMax && opened.open > 0) reopen();
    else if (!opened) void open();
    stopTimer = clock.after(reopenMs, tick);
  };
  const stopFollowing = link.onEvent(({ kind }) => {
    if (kind === "reconnected") reopen();
    if (kind === "closed") end(null);
  });
  void open();
  stopTimer = clock.after(reopenMs, tick);

  return {
    async next() {
      while (buffer.length === 0 && !closed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (closed) {
        if (failure) throw failure;
        return null;
      }
      const messages = buffer;
      buffer = [];
      pullIfWanted();
      return messages;
    },
    close: () => end(null),
  };
}

/** A consumer that goes with its reader. */
async function addReader(
  { manager, stream, filters, headersOnly }: OrderedReaderOptions,
  after: number,
): Promise<string> {
  const config = {
    name: `read_${randomUUID().replaceAll("-", "")}`,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: unusedMs * nanosPerMs,
    ...(filters ? { filter_subjects: filters } : {}),
    ...(headersOnly ? { headers_only: true } : {}),
  };
  // What is absent has its default, whatever the type says.
  return (await manager.consumers.add(stream, config as ConsumerConfig)).name;
}

interface DeliveryPlace {
  sequence: number;
  delivery: number;
  atMs: number;
}

/** `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.COUNT.SEQUENCE.DELIVERY.NANOS.…`: the longer form has eleven tokens or more. */
function placeIn(reply = ""): DeliveryPlace | null {
  const tokens = reply.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return null;
  const from = tokens.length >= 11 ? 7 : 5;
  const [sequence, delivery, nanos] = tokens.slice(from, from + 3).map(Number);
  if (sequence === undefined || delivery === undefined || nanos === undefined) return null;
  return { sequence, delivery, atMs: nanos / nanosPerMs };
}

function toDelivered({ subject, headers, data, reply }: Msg, { sequence, atMs }: DeliveryPlace): Delivered {
  // The library hands out windows on its read buffer.
  return { sequence, subject, headers: headers ?? { get: () => "" }, bytes: data.slice(), atMs, reply: reply ?? "" };
}
