import { createInbox, type Msg } from "@nats-io/transport-node";
import type { Clock } from "@troupe/core";
import { type Moment, momentOf } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";

/** A message as a consumer gave it out. */
export interface Delivery {
  subject: string;
  bytes: Uint8Array;
  headers: Msg["headers"];
  /** Where to say what became of it. */
  reply: string;
  /** Its place in the stream. */
  seq: number;
  /** How often it was given out so far, this time included. */
  count: number;
  /** When it was asked for: it was given out after that. */
  askedAt: Moment;
}

export interface PullResult {
  deliveries: Delivery[];
  /** `missing`: there is no such consumer. `failed`: nobody knows what is there. */
  state: "full" | "drained" | "missing" | "failed";
}

export interface Pulls {
  /** What is there now, up to `batch`. Never throws, and never waits for a task. One at a time for each consumer. */
  pull(consumer: string, batch: number): Promise<PullResult>;
  close(): void;
}

export interface PullsOptions {
  link: NatsLink;
  stream: string;
  clock: Clock;
  /** A pull without an end is given up after so long. */
  timeoutMs: number;
}

/** Where the answers to one consumer's pulls come to. A message does not say which pull it answers: there is one at a time. */
interface Door {
  inbox: string;
  subscription: { unsubscribe(): void };
  pull: Pending | null;
}

interface Pending {
  batch: number;
  askedAt: Moment;
  deliveries: Delivery[];
  end(state: PullResult["state"]): void;
}

/**
 * Pulls over one subscription for each consumer, which stays: the client's own way makes a subscription, a timer and a
 * watcher for each pull, which is most of what looking into an empty queue costs.
 */
export function createPulls({ link, stream, clock, timeoutMs }: PullsOptions): Pulls {
  const doors = new Map<string, Door>();
  let isDeaf = false;
  let listening: Promise<boolean> | null = null;

  /** Whether the server is heard: what it gives out to a process that hears nothing is nobody's for most of a lease. */
  const isHeard = async (): Promise<boolean> => {
    listening ??= link.connection.flush().then(
      () => true,
      () => false,
    );
    const late = Promise.withResolvers<boolean>();
    const stop = clock.after(timeoutMs, () => late.resolve(false));
    const heard = await Promise.race([listening, late.promise]);
    stop();
    if (heard) isDeaf = false;
    if (heard) listening = null;
    return heard;
  };

  const open = (consumer: string): Door => {
    const inbox = createInbox(link.inboxPrefix);
    const callback = (_error: Error | null, message: Msg): void => hear(door, message);
    const door: Door = { inbox, subscription: link.connection.subscribe(inbox, { callback }), pull: null };
    doors.set(consumer, door);
    return door;
  };
  /** What still comes for a pull that was given up must not be taken for the next one's: it comes again by itself. */
  const shut = (consumer: string): void => {
    doors.get(consumer)?.subscription.unsubscribe();
    doors.delete(consumer);
  };
  const failAll = (): void => {
    for (const { pull } of [...doors.values()]) pull?.end("failed");
  };
  const stopFollowing = link.onEvent(({ kind }) => {
    if (kind === "disconnected" || kind === "closed") failAll();
    if (kind !== "reconnected") return;
    // What was asked of the connection before is never answered; this one has just been heard.
    isDeaf = false;
    listening = null;
  });

  return {
    async pull(consumer, batch) {
      if (!link.connected || (isDeaf && !(await isHeard()))) return { deliveries: [], state: "failed" };
      const door = doors.get(consumer) ?? open(consumer);
      return await new Promise((resolve) => {
        const deliveries: Delivery[] = [];
        const end = (state: PullResult["state"]): void => {
          stopWaiting();
          door.pull = null;
          if (state === "failed") shut(consumer);
          resolve({ deliveries, state });
        };
        const stopWaiting = clock.after(timeoutMs, () => {
          isDeaf = true;
          end("failed");
        });
        door.pull = { batch, askedAt: momentOf(clock), deliveries, end };
        const request = `{"batch":${batch},"no_wait":true}`;
        link.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: door.inbox });
      });
    },
    close() {
      stopFollowing();
      failAll();
      for (const consumer of [...doors.keys()]) shut(consumer);
    },
  };
}

function hear({ pull }: Door, message: Msg): void {
  if (!pull) return;
  if (message.headers?.code) {
    pull.end(stateOf(message));
    return;
  }
  const delivery = deliveryOf(message, pull.askedAt);
  if (delivery && pull.deliveries.push(delivery) === pull.batch) pull.end("full");
}

/** 404: no more is there. 408: others' pulls wait for all that is there. 409 and 503: no consumer, or no server of it. */
function stateOf({ headers }: Msg): PullResult["state"] {
  const code = headers?.code;
  if (code === 404 || code === 408) return "drained";
  return code === 503 || code === 409 ? "missing" : "failed";
}

/** `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.COUNT.SEQ.…`: the longer form has eleven tokens or more. */
function deliveryOf({ subject, data, headers, reply }: Msg, askedAt: Moment): Delivery | null {
  const tokens = (reply ?? "").split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return null;
  const from = tokens.length >= 11 ? 6 : 4;
  const [count, seq] = [Number(tokens[from]), Number(tokens[from + 1])];
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seq)) return null;
  // The library hands out windows on its read buffer.
  return { subject, bytes: data.slice(), headers, reply: reply ?? "", seq, count, askedAt };
}
