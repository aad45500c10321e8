import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Clock } from "@troupe/core";
import { type Moment, momentOf } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import { parseDeliveryInfo } from "../jetstream/delivery-info.ts";

/** A message that a consumer delivered. */
export interface Delivery {
  subject: string;
  bytes: Uint8Array;
  headers: Msg["headers"];
  /** Subject for the acknowledgement. */
  reply: string;
  /** Sequence in the stream. */
  seq: number;
  /** Number of deliveries of this message so far, including this one. */
  count: number;
  /** When the pull was sent. The delivery happened after that. */
  requestedAt: Moment;
}

export interface PullResult {
  deliveries: Delivery[];
  /**
   * - `full`: the batch is complete, and there may be more.
   * - `drained`: no more tasks now.
   * - `missing`: the consumer does not exist.
   * - `failed`: unknown.
   */
  state: "full" | "drained" | "missing" | "failed";
}

/** Pulls tasks from consumers without waiting for new ones. */
export interface Pulls {
  /** Returns at most `batch` available tasks. Never rejects. Only one pull per consumer at a time. */
  pull(consumer: string, batch: number): Promise<PullResult>;
  close(): void;
}

export interface PullsOptions {
  link: NatsLink;
  stream: string;
  clock: Clock;
  /** Time limit of a pull. */
  timeoutMs: number;
}

/** The inbox for one consumer's deliveries. A delivery does not name its pull, so there is one pull at a time. */
interface ConsumerInbox {
  inbox: string;
  subscription: { unsubscribe(): void };
  pull: PendingPull | null;
}

interface PendingPull {
  batch: number;
  requestedAt: Moment;
  deliveries: Delivery[];
  end(state: PullResult["state"]): void;
}

/**
 * Pulls over one permanent subscription per consumer. The client library creates a subscription, a timer and a status
 * iterator for each pull, which is most of the cost of polling an empty queue.
 */
export function createPulls({ link, stream, clock, timeoutMs }: PullsOptions): Pulls {
  const inboxes = new Map<string, ConsumerInbox>();
  /** The last pull timed out: the server may not be reachable, although the connection looks open. */
  let isSuspect = false;
  let roundTrip: Promise<boolean> | null = null;

  /**
   * Makes sure that the server answers. Tasks that the server delivers to a process that cannot receive them are blocked
   * for most of a lease.
   */
  const isAnswering = async (): Promise<boolean> => {
    roundTrip ??= link.connection.flush().then(
      () => true,
      () => false,
    );
    const timeout = Promise.withResolvers<boolean>();
    const cancelTimeout = clock.after(timeoutMs, () => timeout.resolve(false));
    const answered = await Promise.race([roundTrip, timeout.promise]);
    cancelTimeout();
    if (answered) isSuspect = false;
    if (answered) roundTrip = null;
    return answered;
  };

  const open = (consumer: string): ConsumerInbox => {
    const inbox = createInbox(link.inboxPrefix);
    const callback = (_error: Error | null, message: Msg): void => onReply(consumerInbox, message);
    const consumerInbox: ConsumerInbox = {
      inbox,
      subscription: link.connection.subscribe(inbox, { callback }),
      pull: null,
    };
    inboxes.set(consumer, consumerInbox);
    return consumerInbox;
  };
  /** Late deliveries of an abandoned pull must not be mistaken for those of the next one. The server sends them again. */
  const discard = (consumer: string): void => {
    inboxes.get(consumer)?.subscription.unsubscribe();
    inboxes.delete(consumer);
  };
  const failAll = (): void => {
    for (const { pull } of [...inboxes.values()]) pull?.end("failed");
  };
  const stopListening = link.onEvent(({ kind }) => {
    if (kind === "disconnected" || kind === "closed") failAll();
    if (kind !== "reconnected") return;
    // The flush of the old connection never ends. The new connection has just answered.
    isSuspect = false;
    roundTrip = null;
  });

  return {
    async pull(consumer, batch) {
      if (!link.connected || (isSuspect && !(await isAnswering()))) return { deliveries: [], state: "failed" };
      const consumerInbox = inboxes.get(consumer) ?? open(consumer);
      return await new Promise((resolve) => {
        const deliveries: Delivery[] = [];
        const end = (state: PullResult["state"]): void => {
          cancelTimeout();
          consumerInbox.pull = null;
          if (state === "failed") discard(consumer);
          resolve({ deliveries, state });
        };
        const cancelTimeout = clock.after(timeoutMs, () => {
          isSuspect = true;
          end("failed");
        });
        consumerInbox.pull = { batch, requestedAt: momentOf(clock), deliveries, end };
        const request = `{"batch":${batch},"no_wait":true}`;
        const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
        link.connection.publish(subject, request, { reply: consumerInbox.inbox });
      });
    },
    close() {
      stopListening();
      failAll();
      for (const consumer of [...inboxes.keys()]) discard(consumer);
    },
  };
}

function onReply({ pull }: ConsumerInbox, message: Msg): void {
  if (!pull) return;
  if (message.headers?.code) {
    pull.end(stateOf(message));
    return;
  }
  const delivery = toDelivery(message, pull.requestedAt);
  if (delivery && pull.deliveries.push(delivery) === pull.batch) pull.end("full");
}

/**
 * 404: no more tasks. 408: pulls of other processes wait for all of them. 409: the consumer was deleted. 503: no server has
 * the consumer.
 */
function stateOf({ headers }: Msg): PullResult["state"] {
  const code = headers?.code;
  if (code === 404 || code === 408) return "drained";
  return code === 503 || code === 409 ? "missing" : "failed";
}

function toDelivery({ subject, data, headers, reply }: Msg, requestedAt: Moment): Delivery | null {
  const info = parseDeliveryInfo(reply);
  if (!info || reply === undefined) return null;
  // The client library returns views of its read buffer.
  return { subject, bytes: data.slice(), headers, reply, seq: info.sequence, count: info.count, requestedAt };
}
