import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Clock } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import type { Stored } from "../jetstream/stored-messages.ts";
import type { ReadyConsumer } from "./followers.ts";

/** A message as a consumer gave it out. */
export interface Delivered extends Stored {
  /** By the server's clock. */
  atMs: number;
  /** Where to say that it was kept. */
  reply: string;
}

/** What a consumer on the server gives out, asked for piece by piece. */
export interface PullConsumer {
  /** Asks for more, unless that was asked for already. */
  pull(): void;
  close(): void;
}

export interface PullConsumerOptions {
  link: NatsLink;
  stream: string;
  consumer: ReadyConsumer;
  clock: Clock;
  hear(message: Delivered): void;
  /** All that was asked for has come, or nothing is left to come for now. */
  onIdle(): void;
  /** Something got lost, or nothing was heard for too long: nothing more comes from it. */
  onBroken(): void;
}

const nanosPerMs = 1_000_000;
export const pullMessages = 1_000;
const pullBytes = 8 * 1024 * 1024;
const pullMs = 30_000;
const heartbeatMs = 2_000;
/** A consumer that is asked, and of which nothing was heard for so long, is gone. */
const silentMsMax = 2.5 * heartbeatMs;

/** Its deliveries are numbered, without a gap: with one, something got lost on the way. */
export function openPullConsumer(options: PullConsumerOptions): PullConsumer {
  const { link, stream, consumer, clock } = options;
  const inbox = createInbox(link.inboxPrefix);
  let { delivered } = consumer;
  let pulls = 0;
  let awaited = 0;
  let heardMs = clock.monotonicMs();
  let closed = false;
  let stopTimer = (): void => {};

  const close = (): void => {
    if (closed) return;
    closed = true;
    stopTimer();
    subscription.unsubscribe();
  };
  const broken = (): void => {
    if (closed) return;
    close();
    options.onBroken();
  };
  const idle = (): void => {
    awaited = 0;
    options.onIdle();
  };
  const hear = (message: Msg): void => {
    const { headers, subject, reply } = message;
    heardMs = clock.monotonicMs();
    if (headers?.code) {
      // What an earlier pull still says is about that one.
      if (subject === `${inbox}.${pulls}`) hearStatus(message);
      return;
    }
    const place = placeIn(reply);
    if (place?.delivery !== delivered + 1) {
      broken();
      return;
    }
    delivered += 1;
    awaited -= 1;
    options.hear(toDelivered(message, place));
    if (awaited === 0) idle();
  };
  const hearStatus = ({ headers }: Msg): void => {
    const code = headers?.code;
    const words = headers?.description ?? "";
    if (code === 404 || code === 408 || (code === 409 && /batch|maxbytes/i.test(words))) idle();
    else if (code !== 100 || Number(headers?.get("Nats-Last-Consumer")) !== delivered) broken();
  };
  const watchSilence = (): void => {
    if (awaited > 0 && clock.monotonicMs() - heardMs > silentMsMax) broken();
    else stopTimer = clock.after(heartbeatMs, watchSilence);
  };
  const subscription = link.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error && !closed) hear(message);
    },
  });
  watchSilence();

  return {
    pull() {
      if (awaited > 0 || closed || !link.connected) return;
      pulls += 1;
      awaited = pullMessages;
      heardMs = clock.monotonicMs();
      const request = {
        batch: pullMessages,
        max_bytes: Math.max(pullBytes, 2 * link.payloadBytesMax),
        expires: pullMs * nanosPerMs,
        idle_heartbeat: heartbeatMs * nanosPerMs,
      };
      const reply = `${inbox}.${pulls}`;
      link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer.name}`, JSON.stringify(request), {
        reply,
      });
    },
    close,
  };
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
