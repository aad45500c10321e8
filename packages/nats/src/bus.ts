import { setTimeout as delay } from "node:timers/promises";
import { errors, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { type Bus, type BusMessage, TroupeError } from "@troupe/core";
import { noResponders, timedOut, tooLarge } from "@troupe/core/internal";
import { type NatsLink, type NatsLinkOptions, openNatsLink, throwOutside } from "./connection/link.ts";
import { deniedIn, forbidden, isUnauthorized, unauthorized, unreachable } from "./connection/link-errors.ts";

export interface NatsBusListener {
  /** Hears when the connection is lost and back, and of what the server refuses. */
  onEvent?(event: NatsBusEvent): void;
  /**
   * Hears what a listener threw; the subscription goes on. Without it the error is thrown outside of any call, as
   * Node's `uncaughtException`: a bug must not pass unseen.
   */
  onListenerError?(error: unknown, subject: string): void;
}

export interface NatsBusOptions extends NatsLinkOptions, NatsBusListener {}

export type NatsBusEvent =
  | { kind: "disconnected"; server: string }
  /** `lost`: messages that this process sent during the gap. Nobody got them. */
  | { kind: "reconnected"; server: string; lost: number }
  | { kind: "error"; error: TroupeError }
  /** For good: nothing reconnects after it. */
  | { kind: "closed" };

export interface NatsBus extends Bus {
  readonly connected: boolean;
  /** Messages lost so far because they were published, or answered, without a connection. */
  readonly lost: number;
}

const closeFlushMs = 1_000;

/**
 * The bus over a NATS server, which is looked for for ever when it goes away: subscriptions come back by themselves.
 *
 * Without a connection `publish` and `respond` lose the message, as they would with nobody listening: this bus carries
 * hints, and what has to arrive is in the journal. Each loss is counted (`lost`) and told on reconnecting; only what
 * was on its way when the connection broke goes uncounted. `request` and `flush` fail at once then, with
 * `UNREACHABLE`; `subscribe` succeeds, and the next server hears of it.
 *
 * @example
 * const bus = await createNatsBus({ servers: "nats://127.0.0.1:4222" });
 * await bus.subscribe("troupe.live.>", ({ subject, bytes }) => console.info(subject, bytes.byteLength));
 * bus.publish("troupe.live.s1.r1", new TextEncoder().encode("hello"));
 */
export async function createNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const link = await openNatsLink(options);
  return createNatsBusOn(link, { ...options, onClose: () => link.close() });
}

/** The same over a connection that others use as well: closing the bus leaves it open. */
export function createNatsBusOn(
  link: NatsLink,
  options: NatsBusListener & { onClose?(): Promise<void> } = {},
): NatsBus {
  const { connection } = link;
  const state = { closed: false, lost: 0 };
  const isClosed = (): boolean => state.closed || link.closed;
  const stopFollowing = follow(link, state, options.onEvent ?? (() => {}));
  const subscriptions = new Set<{ unsubscribe(): void }>();
  const onListenerError = options.onListenerError ?? throwOutside;
  const heardByServer = shareFlushes(connection);

  /** Whether it can be sent now. Throws for what can never be. */
  const mayLeave = (bytes: Uint8Array): boolean => {
    if (isClosed()) throw closedError();
    if (bytes.byteLength > link.payloadBytesMax) throw tooLarge(bytes.byteLength, link.payloadBytesMax);
    if (!link.connected) state.lost++;
    return link.connected;
  };
  const needConnection = (): void => {
    if (isClosed()) throw closedError();
    if (!link.connected) throw unreachable(link.shown);
  };
  const toMessage = (message: Msg): BusMessage => ({
    subject: message.subject,
    // The library hands out windows on its read buffer, and keeps the sender's own bytes until the end of the turn.
    bytes: message.data.slice(),
    respond(bytes) {
      if (message.reply && !isClosed() && mayLeave(bytes)) message.respond(bytes.slice());
    },
  });

  return {
    get payloadBytesMax() {
      return link.payloadBytesMax;
    },
    get connected() {
      return link.connected && !isClosed();
    },
    get lost() {
      return state.lost;
    },
    publish(subject, bytes) {
      if (mayLeave(bytes)) translated(link, subject, () => connection.publish(subject, bytes.slice()));
    },
    async subscribe(pattern, listener) {
      if (isClosed()) throw closedError();
      let refusal: Error | null = null;
      const callback = (error: Error | null, message: Msg): void => {
        if (error) refusal = error;
        else
          guarded(
            () => listener(toMessage(message)),
            (thrown) => onListenerError(thrown, message.subject),
          );
      };
      const subscription = translated(link, pattern, () => connection.subscribe(pattern, { callback }));
      // One round trip: afterwards the server knows it, so that a message from elsewhere finds it. To the others of a
      // cluster it tells that by itself. What fails here is a lost connection, and reconnecting tells the next server.
      if (link.connected) await heardByServer();
      if (refusal !== null) throw toTroupeError(refusal, link, pattern);
      subscriptions.add(subscription);
      return {
        unsubscribe() {
          subscriptions.delete(subscription);
          subscription.unsubscribe();
        },
      };
    },
    async request(subject, bytes, { timeoutMs }) {
      needConnection();
      mayLeave(bytes);
      try {
        const reply = await connection.request(subject, bytes.slice(), { timeout: Math.max(1, timeoutMs) });
        return reply.data.slice();
      } catch (error) {
        if (error instanceof errors.TimeoutError) throw timedOut(subject, timeoutMs);
        throw toTroupeError(error, link, subject);
      }
    },
    onReconnect: (listener) =>
      link.onEvent(({ kind }) => {
        if (kind === "reconnected") listener();
      }),
    async flush() {
      needConnection();
      await connection.flush().catch((error: unknown) => {
        throw toTroupeError(error, link, "flush");
      });
    },
    async close() {
      if (isClosed()) return;
      state.closed = true;
      stopFollowing();
      for (const subscription of subscriptions) subscription.unsubscribe();
      // What was published last should still leave, but a server that hangs must not hold anybody up.
      if (link.connected) await within(closeFlushMs, connection.flush());
      await options.onClose?.();
      options.onEvent?.({ kind: "closed" });
    },
  };
}

/** A round trip after all that was sent so far; one at a time, for all who ask meanwhile. Never rejects. */
function shareFlushes(connection: Pick<NatsConnection, "flush">): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    next = null;
    const mine = connection
      .flush()
      .catch(() => {})
      .finally(() => {
        if (underWay === mine) underWay = null;
      });
    underWay = mine;
    return mine;
  };
  return () => {
    if (!underWay) return begin();
    next ??= underWay.then(begin);
    return next;
  };
}

/** Counts what is lost during a gap, and tells of it. */
function follow(link: NatsLink, state: { lost: number }, tell: (event: NatsBusEvent) => void): () => void {
  let lostBefore = 0;
  return link.onEvent((event) => {
    if (event.kind === "disconnected") lostBefore = state.lost;
    if (event.kind === "reconnected") tell({ ...event, lost: state.lost - lostBefore });
    else if (event.kind === "error") tell({ kind: "error", error: event.error });
    else tell(event);
  });
}

function toTroupeError(error: unknown, link: NatsLink, subject: string): TroupeError {
  if (TroupeError.is(error)) return error;
  if (link.closed || error instanceof errors.ClosedConnectionError) return closedError();
  if (error instanceof errors.RequestError && error.isNoResponders()) return noResponders(subject);
  if (isUnauthorized(error)) return unauthorized(link.shown, error);
  const denied = deniedIn(error);
  if (denied) return forbidden(link.shown, denied, error);
  if (error instanceof errors.InvalidSubjectError) {
    return new TroupeError("INVALID_MESSAGE", `${JSON.stringify(subject)} is no subject`, { cause: error });
  }
  return unreachable(link.shown, error);
}

function translated<T>(link: NatsLink, subject: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toTroupeError(error, link, subject);
  }
}

function guarded(act: () => void, onThrow: (thrown: unknown) => void): void {
  try {
    act();
  } catch (thrown) {
    onThrow(thrown);
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = delay(ms, undefined, { signal: over.signal });
  await Promise.race([work, late]).catch(() => {});
  over.abort();
  await late.catch(() => {});
}

function closedError(): TroupeError {
  return new TroupeError("CLOSED", "the bus is closed");
}
