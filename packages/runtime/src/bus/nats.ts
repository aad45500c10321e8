import { setTimeout as delay } from "node:timers/promises";
import { connect, errors, type Msg, type NatsConnection, type Status } from "@nats-io/transport-node";
import { type Bus, type BusMessage, noResponders, TroupeError, timedOut, tooLarge } from "@troupe/core";
import { type NatsServers, toNatsServers } from "./nats-servers.ts";

export interface NatsBusOptions {
  /** One address or several of one cluster: `nats://host:4222`, with `user:password@` or `token@` where needed. */
  servers: string | readonly string[];
  /** What the server's own lists show for this connection. @default "troupe" */
  name?: string;
  /** Where replies come to, for servers that allow each client its own place only. @default "_INBOX" */
  inboxPrefix?: string;
  /** Longest wait for one connection. @default 5_000 */
  connectTimeoutMs?: number;
  /** Pause between two tries to reconnect. @default 250 */
  reconnectDelayMs?: number;
  /** A server that has missed two pings in a row is given up. @default 5_000 */
  pingIntervalMs?: number;
  /** Hears when the connection is lost and back, and of what the server refuses. */
  onEvent?(event: NatsBusEvent): void;
  /**
   * Hears what a listener threw; the subscription goes on. Without it the error is thrown outside of any call, as
   * Node's `uncaughtException`: a bug must not pass unseen.
   */
  onListenerError?(error: unknown, subject: string): void;
}

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

interface Link {
  connected: boolean;
  closed: boolean;
  lost: number;
  payloadBytesMax: number;
  /** The addresses, for people. */
  shown: string;
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
  const servers = toNatsServers(options.servers);
  const connection = await open(servers, options);
  const payloadBytesMax = connection.info?.max_payload ?? 1024 * 1024;
  const link: Link = { connected: true, closed: false, lost: 0, payloadBytesMax, shown: servers.shown };
  void watch(connection, link, options.onEvent ?? (() => {}));
  const onListenerError = options.onListenerError ?? throwOutside;

  /** Whether it can be sent now. Throws for what can never be. */
  const mayLeave = (bytes: Uint8Array): boolean => {
    if (link.closed) throw closedError();
    if (bytes.byteLength > link.payloadBytesMax) throw tooLarge(bytes.byteLength, link.payloadBytesMax);
    if (!link.connected) link.lost++;
    return link.connected;
  };
  const needConnection = (): void => {
    if (link.closed) throw closedError();
    if (!link.connected) throw unreachable(link.shown);
  };
  const toMessage = (message: Msg): BusMessage => ({
    subject: message.subject,
    // The library hands out windows on its read buffer, and keeps the sender's own bytes until the end of the turn.
    bytes: message.data.slice(),
    respond(bytes) {
      if (message.reply && !link.closed && mayLeave(bytes)) message.respond(bytes.slice());
    },
  });

  return {
    get payloadBytesMax() {
      return link.payloadBytesMax;
    },
    get connected() {
      return link.connected;
    },
    get lost() {
      return link.lost;
    },
    publish(subject, bytes) {
      if (mayLeave(bytes)) translated(link, subject, () => connection.publish(subject, bytes.slice()));
    },
    async subscribe(pattern, listener) {
      if (link.closed) throw closedError();
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
      // One round trip: afterwards the server knows it, so that a message from elsewhere finds it. What fails here is
      // a lost connection, and reconnecting tells the next server.
      if (link.connected) await connection.flush().catch(() => {});
      if (refusal !== null) throw toTroupeError(refusal, link, pattern);
      return { unsubscribe: () => subscription.unsubscribe() };
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
    async flush() {
      needConnection();
      await connection.flush().catch((error: unknown) => {
        throw toTroupeError(error, link, "flush");
      });
    },
    async close() {
      if (link.closed) return;
      link.closed = true;
      // What was published last should still leave, but a server that hangs must not hold anybody up.
      if (link.connected) await within(closeFlushMs, connection.flush());
      link.connected = false;
      await connection.close();
    },
  };
}

async function open(servers: NatsServers, options: NatsBusOptions): Promise<NatsConnection> {
  try {
    return await connect({
      servers: servers.urls,
      ...servers.credentials,
      name: options.name ?? "troupe",
      ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
      timeout: options.connectTimeoutMs ?? 5_000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: options.reconnectDelayMs ?? 250,
      pingInterval: options.pingIntervalMs ?? 5_000,
      maxPingOut: 2,
      // Credentials are often replaced while a server restarts: two refusals must not end a connection for good.
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
    });
  } catch (error) {
    if (error instanceof errors.AuthorizationError) {
      const fix = "put the credentials into the address: nats://user:password@host:4222";
      throw new TroupeError("UNAUTHORIZED", `${servers.shown} refuses these credentials`, { fix, cause: error });
    }
    throw unreachable(servers.shown, error);
  }
}

/** Keeps the link's state until the connection ends. */
async function watch(connection: NatsConnection, link: Link, tell: (event: NatsBusEvent) => void): Promise<void> {
  let lostBefore = 0;
  const onStatus = (status: Status): void => {
    if (status.type === "disconnect") {
      link.connected = false;
      lostBefore = link.lost;
      tell({ kind: "disconnected", server: status.server });
    } else if (status.type === "reconnect") {
      link.connected = true;
      link.payloadBytesMax = connection.info?.max_payload ?? link.payloadBytesMax;
      tell({ kind: "reconnected", server: status.server, lost: link.lost - lostBefore });
    } else if (status.type === "error") {
      tell({ kind: "error", error: toTroupeError(status.error, link, "the connection") });
    }
  };
  for await (const status of connection.status()) guarded(() => onStatus(status), throwOutside);
  link.connected = false;
  link.closed = true;
  guarded(() => tell({ kind: "closed" }), throwOutside);
}

function toTroupeError(error: unknown, link: Link, subject: string): TroupeError {
  if (TroupeError.is(error)) return error;
  if (link.closed || error instanceof errors.ClosedConnectionError) return closedError();
  if (error instanceof errors.RequestError && error.isNoResponders()) return noResponders(subject);
  const why = error instanceof Error ? error.message : String(error);
  const denied = error instanceof errors.PermissionViolationError ? error : error instanceof Error ? error.cause : null;
  if (denied instanceof errors.PermissionViolationError) {
    return new TroupeError("FORBIDDEN", `the server forbids it: ${why}`, { cause: error });
  }
  if (error instanceof errors.InvalidSubjectError) {
    return new TroupeError("INVALID_MESSAGE", `${JSON.stringify(subject)} is no subject`, { cause: error });
  }
  return unreachable(link.shown, error);
}

function translated<T>(link: Link, subject: string, act: () => T): T {
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

/** In the reader's own turn it would end the library's read loop, and every subscription with it. */
function throwOutside(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
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

function unreachable(shown: string, cause?: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `no NATS server answers at ${shown}`, {
    fix: "start one there (nats-server), or name another with --nats",
    cause,
  });
}
