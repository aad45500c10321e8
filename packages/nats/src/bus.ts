import { setTimeout as delay } from "node:timers/promises";
import { errors, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { type Bus, type BusMessage, TroupeError } from "@troupe/core";
import { noResponders, timedOut, tooLarge } from "@troupe/core/internal";
import { type NatsLink, type NatsLinkOptions, openNatsLink, throwOutside } from "./connection/link.ts";
import { deniedOperationOf, forbidden, isUnauthorized, unauthorized, unreachable } from "./connection/link-errors.ts";

export interface NatsBusListener {
  /** Called when the connection is lost or restored, and when the server reports an error. */
  onEvent?(event: NatsBusEvent): void;
  /**
   * Called with an error that a subscription's listener threw. The subscription continues. Without this callback the
   * error becomes an `uncaughtException` of the process, so that a bug stays visible.
   */
  onListenerError?(error: unknown, subject: string): void;
}

export interface NatsBusOptions extends NatsLinkOptions, NatsBusListener {}

export type NatsBusEvent =
  | { kind: "disconnected"; server: string }
  /** `lost`: number of messages that this process published without a connection. They were not delivered. */
  | { kind: "reconnected"; server: string; lost: number }
  | { kind: "error"; error: TroupeError }
  /** Final: the connection is never restored. */
  | { kind: "closed" };

export interface NatsBus extends Bus {
  readonly connected: boolean;
  /** Number of messages and replies that this process published without a connection. */
  readonly lost: number;
}

const closeFlushMs = 1_000;

/**
 * The bus over a NATS server. It reconnects without a limit, and restores its subscriptions.
 *
 * Without a connection, `publish` and `respond` drop the message. This is safe: the bus carries hints only, and the
 * journal has everything that must arrive. Dropped messages are counted (`lost`) and reported after a reconnect. Messages
 * that were on their way when the connection broke are not counted. Without a connection, `request` and `flush` reject
 * with `UNREACHABLE` at once, and `subscribe` resolves: the next server receives the subscription.
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

/**
 * The bus over a shared connection. Closing the bus leaves the connection open.
 *
 * @example
 * const bus = createNatsBusOn(link);
 * bus.publish("troupe.live.s1.r1", new TextEncoder().encode("hello"));
 */
export function createNatsBusOn(
  link: NatsLink,
  options: NatsBusListener & { onClose?(): Promise<void> } = {},
): NatsBus {
  const { connection } = link;
  const state = { closed: false, lost: 0 };
  const isClosed = (): boolean => state.closed || link.closed;
  const stopListening = forwardEvents(link, state, options.onEvent ?? (() => {}));
  const subscriptions = new Set<{ unsubscribe(): void }>();
  const onListenerError = options.onListenerError ?? throwOutside;
  const sharedFlush = createSharedFlush(connection);

  /** True if the message can be sent now. Throws if the bus is closed or the message is too large. */
  const canSend = (bytes: Uint8Array): boolean => {
    if (isClosed()) throw closedError();
    if (bytes.byteLength > link.payloadBytesMax) throw tooLarge(bytes.byteLength, link.payloadBytesMax);
    if (!link.connected) state.lost++;
    return link.connected;
  };
  const requireConnection = (): void => {
    if (isClosed()) throw closedError();
    if (!link.connected) throw unreachable(link.redactedUrl);
  };
  const toBusMessage = (message: Msg): BusMessage => ({
    subject: message.subject,
    // The client library returns views of its read buffer, and reads sent bytes until the end of the turn: copy both.
    bytes: message.data.slice(),
    respond(bytes) {
      if (message.reply && !isClosed() && canSend(bytes)) message.respond(bytes.slice());
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
      if (canSend(bytes)) translateErrors(link, subject, () => connection.publish(subject, bytes.slice()));
    },
    async subscribe(pattern, listener) {
      if (isClosed()) throw closedError();
      let refusal: Error | null = null;
      const callback = (error: Error | null, message: Msg): void => {
        if (error) {
          refusal = error;
          return;
        }
        try {
          listener(toBusMessage(message));
        } catch (thrown) {
          onListenerError(thrown, message.subject);
        }
      };
      const subscription = translateErrors(link, pattern, () => connection.subscribe(pattern, { callback }));
      // After one round trip the server has the subscription, and delivers messages of other connections to it. A cluster
      // forwards it to its other servers. The flush fails only if the connection is lost: the next server gets it then.
      if (link.connected) await sharedFlush();
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
      requireConnection();
      canSend(bytes);
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
      requireConnection();
      await connection.flush().catch((error: unknown) => {
        throw toTroupeError(error, link, "flush");
      });
    },
    async close() {
      if (isClosed()) return;
      state.closed = true;
      stopListening();
      for (const subscription of subscriptions) subscription.unsubscribe();
      // Send the last messages, but do not wait for a server that hangs.
      if (link.connected) await withTimeout(closeFlushMs, connection.flush());
      await options.onClose?.();
      options.onEvent?.({ kind: "closed" });
    },
  };
}

/**
 * Flushes after everything that was sent so far. Calls during a flush share the next one. Never rejects.
 */
function createSharedFlush(connection: Pick<NatsConnection, "flush">): () => Promise<void> {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    const flush = connection
      .flush()
      .catch(() => {})
      .finally(() => {
        if (current === flush) current = null;
      });
    current = flush;
    return flush;
  };
  return () => {
    if (!current) return start();
    next ??= current.then(start);
    return next;
  };
}

/** Forwards the link's events, with the number of messages lost while it was disconnected. */
function forwardEvents(link: NatsLink, state: { lost: number }, emit: (event: NatsBusEvent) => void): () => void {
  let lostBefore = 0;
  return link.onEvent((event) => {
    if (event.kind === "disconnected") lostBefore = state.lost;
    if (event.kind === "reconnected") emit({ ...event, lost: state.lost - lostBefore });
    else if (event.kind === "error") emit({ kind: "error", error: event.error });
    else emit(event);
  });
}

function toTroupeError(error: unknown, link: NatsLink, subject: string): TroupeError {
  if (TroupeError.is(error)) return error;
  if (link.closed || error instanceof errors.ClosedConnectionError) return closedError();
  if (error instanceof errors.RequestError && error.isNoResponders()) return noResponders(subject);
  if (isUnauthorized(error)) return unauthorized(link.redactedUrl, error);
  const denied = deniedOperationOf(error);
  if (denied) return forbidden(link.redactedUrl, denied, error);
  if (error instanceof errors.InvalidSubjectError) {
    return new TroupeError("INVALID_MESSAGE", `${JSON.stringify(subject)} is not a valid subject`, { cause: error });
  }
  return unreachable(link.redactedUrl, error);
}

function translateErrors<T>(link: NatsLink, subject: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toTroupeError(error, link, subject);
  }
}

/** Never rejects. */
async function withTimeout(ms: number, work: Promise<void>): Promise<void> {
  const cancel = new AbortController();
  const timeout = delay(ms, undefined, { signal: cancel.signal });
  await Promise.race([work, timeout]).catch(() => {});
  cancel.abort();
  await timeout.catch(() => {});
}

function closedError(): TroupeError {
  return new TroupeError("CLOSED", "the bus is closed");
}
