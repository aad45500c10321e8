import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Clock } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { type DeliveryInfo, parseDeliveryInfo } from "../jetstream/delivery-info.ts";
import type { StoredMessage } from "../jetstream/stored-messages.ts";
import type { ReadyConsumer } from "./followers.ts";

/** A message that a consumer delivered. */
export interface DeliveredMessage extends StoredMessage {
  /** When the stream stored it, by the server's clock. */
  atMs: number;
  /** Subject for the acknowledgement. */
  reply: string;
}

/** Pulls batches of messages from a consumer on the server. */
export interface PullConsumer {
  /** Requests a batch, unless a request is pending. */
  pull(): void;
  close(): void;
}

export interface PullConsumerOptions {
  link: NatsLink;
  stream: string;
  consumer: ReadyConsumer;
  clock: Clock;
  onMessage(message: DeliveredMessage): void;
  /** The request has ended: the batch is complete, or it expired. */
  onIdle(): void;
  /** A delivery was lost, or the consumer is silent for too long. It delivers nothing more. */
  onBroken(): void;
}

const nanosPerMs = 1_000_000;
export const batchMessages = 1_000;
const batchBytes = 8 * 1024 * 1024;
const requestExpiresMs = 30_000;
const heartbeatMs = 2_000;
/** A consumer with a pending request sends a heartbeat or a message at least this often. */
const silentMsMax = 2.5 * heartbeatMs;

/** The server numbers the deliveries without a gap: a gap means that a delivery was lost. */
export function openPullConsumer(options: PullConsumerOptions): PullConsumer {
  const { link, stream, consumer, clock } = options;
  const inbox = createInbox(link.inboxPrefix);
  let { delivered } = consumer;
  let requestCount = 0;
  let messagesPending = 0;
  let lastActivityMs = clock.monotonicMs();
  let closed = false;
  let stopTimer = (): void => {};

  const close = (): void => {
    if (closed) return;
    closed = true;
    stopTimer();
    subscription.unsubscribe();
  };
  const fail = (): void => {
    if (closed) return;
    close();
    options.onBroken();
  };
  const endRequest = (): void => {
    messagesPending = 0;
    options.onIdle();
  };
  const onReply = (message: Msg): void => {
    const { headers, subject, reply } = message;
    lastActivityMs = clock.monotonicMs();
    if (headers?.code) {
      // Ignore the late status of an earlier request.
      if (subject === `${inbox}.${requestCount}`) onStatus(message);
      return;
    }
    const info = parseDeliveryInfo(reply);
    if (info?.delivery !== delivered + 1) {
      fail();
      return;
    }
    delivered += 1;
    messagesPending -= 1;
    options.onMessage(toDeliveredMessage(message, info));
    if (messagesPending === 0) endRequest();
  };
  const onStatus = ({ headers }: Msg): void => {
    const code = headers?.code;
    const description = headers?.description ?? "";
    if (code === 404 || code === 408 || (code === 409 && /batch|maxbytes/i.test(description))) endRequest();
    else if (code !== 100 || Number(headers?.get("Nats-Last-Consumer")) !== delivered) fail();
  };
  const checkActivity = (): void => {
    if (messagesPending > 0 && clock.monotonicMs() - lastActivityMs > silentMsMax) fail();
    else stopTimer = clock.after(heartbeatMs, checkActivity);
  };
  const subscription = link.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error && !closed) onReply(message);
    },
  });
  checkActivity();

  return {
    pull() {
      if (messagesPending > 0 || closed || !link.connected) return;
      requestCount += 1;
      messagesPending = batchMessages;
      lastActivityMs = clock.monotonicMs();
      const request = {
        batch: batchMessages,
        max_bytes: Math.max(batchBytes, 2 * link.payloadBytesMax),
        expires: requestExpiresMs * nanosPerMs,
        idle_heartbeat: heartbeatMs * nanosPerMs,
      };
      const reply = `${inbox}.${requestCount}`;
      link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer.name}`, JSON.stringify(request), {
        reply,
      });
    },
    close,
  };
}

function toDeliveredMessage(
  { subject, headers, data, reply }: Msg,
  { sequence, atMs }: DeliveryInfo,
): DeliveredMessage {
  // The client library returns views of its read buffer.
  return { sequence, subject, headers: headers ?? { get: () => "" }, bytes: data.slice(), atMs, reply: reply ?? "" };
}
