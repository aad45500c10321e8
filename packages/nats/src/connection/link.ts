import { type ConnectionOptions, connect, type NatsConnection, type Status } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { type Denied, deniedIn, forbidden, isUnauthorized, unauthorized } from "./link-errors.ts";
import { identityOf } from "./server-identity.ts";
import { type NatsServers, toNatsServers } from "./servers.ts";
import { whyNotConnected } from "./why-not-connected.ts";

export interface NatsLinkOptions {
  /** One address or several of one cluster: `nats://host:4222`, with `user:password@` or `token@` where needed. */
  servers: string | readonly string[];
  /** Credentials and TLS, where they do not stand in the address. */
  access?: NatsAccess;
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
}

/** As the client library takes them. */
export interface NatsAccess extends Pick<ConnectionOptions, "authenticator" | "tls" | "user" | "pass" | "token"> {
  /** What may be why a server refuses them, where that can be seen from here. */
  flaw?: () => string | null;
}

export type NatsLinkEvent =
  | { kind: "disconnected"; server: string }
  | { kind: "reconnected"; server: string }
  /** The server refuses something, or has no use for this connection. `denied`: what its user may not do. */
  | { kind: "error"; error: TroupeError; denied: Denied | null }
  /** For good: nothing reconnects after it. */
  | { kind: "closed" };

/** One connection to NATS, shared by all ports that go over it; it is looked for for ever when it goes away. */
export interface NatsLink {
  readonly connection: NatsConnection;
  readonly connected: boolean;
  readonly closed: boolean;
  readonly payloadBytesMax: number;
  /** The addresses without credentials, for people. */
  readonly shown: string;
  /** Where replies come to. Whoever makes inboxes of his own begins them with it. */
  readonly inboxPrefix: string;
  /** Calls back at once, before anything else hears of it. Returns the unsubscriber. */
  onEvent(listener: (event: NatsLinkEvent) => void): () => void;
  close(): Promise<void>;
}

/**
 * Connects, or fails with `UNREACHABLE` or `UNAUTHORIZED`, naming the address.
 *
 * @example
 * const link = await openNatsLink({ servers: "nats://127.0.0.1:4222" });
 * const bus = createNatsBusOn(link);
 * await link.close();
 */
export async function openNatsLink(options: NatsLinkOptions): Promise<NatsLink> {
  const servers = toNatsServers(options.servers);
  const connection = await open(servers, options);
  const listeners = new Set<(event: NatsLinkEvent) => void>();
  const state = { connected: true, closed: false, payloadBytesMax: connection.info?.max_payload ?? 1024 * 1024 };
  /** The server was reached, and has let nobody in: the client takes that for a connection for a moment. */
  let wasRefused = false;
  const tell = (event: NatsLinkEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (thrown) {
        throwOutside(thrown);
      }
    }
  };
  const onStatus = (status: Status): void => {
    if (status.type === "reconnecting") {
      wasRefused = false;
    } else if (status.type === "disconnect") {
      // Said of every try that fails, too.
      const wasConnected = state.connected;
      state.connected = false;
      if (wasConnected) tell({ kind: "disconnected", server: status.server });
    } else if (status.type === "reconnect" && !wasRefused && !state.connected) {
      // Said once for each try there was.
      state.connected = true;
      state.payloadBytesMax = connection.info?.max_payload ?? state.payloadBytesMax;
      tell({ kind: "reconnected", server: status.server });
    } else if (status.type === "error") {
      wasRefused ||= isUnauthorized(status.error);
      tell({ kind: "error", ...refusalOf(status.error, servers, options.access) });
    }
  };
  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) onStatus(status);
    state.connected = false;
    state.closed = true;
    tell({ kind: "closed" });
  };
  void watch();

  return {
    connection,
    shown: servers.shown,
    inboxPrefix: options.inboxPrefix ?? "_INBOX",
    get connected() {
      return state.connected;
    },
    get closed() {
      return state.closed;
    },
    get payloadBytesMax() {
      return state.payloadBytesMax;
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      if (state.closed) return;
      state.connected = false;
      state.closed = true;
      await connection.close();
    },
  };
}

async function open(servers: NatsServers, options: NatsLinkOptions): Promise<NatsConnection> {
  let connection: NatsConnection | null = null;
  const learned = (): readonly string[] => connection?.info?.connect_urls ?? [];
  const { flaw: _, ...access } = options.access ?? {};
  try {
    connection = await connect({
      servers: servers.urls,
      ...servers.credentials,
      ...access,
      ...encryption(servers, learned, access),
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
    return connection;
  } catch (error) {
    throw await whyNotConnected(error, servers, options.access);
  }
}

function refusalOf(cause: Error, { shown }: NatsServers, { flaw }: NatsAccess = {}) {
  const denied = deniedIn(cause);
  if (denied) return { error: forbidden(shown, denied, cause), denied };
  if (isUnauthorized(cause)) return { error: unauthorized(shown, cause, flaw?.()), denied };
  return { error: new TroupeError("UNREACHABLE", `${shown} says: ${cause.message}`, { cause }), denied };
}

/** Asked for in the address, it is not given up for a server that does not offer it. */
function encryption(
  { urls, isSecure }: NatsServers,
  learned: () => readonly string[],
  access: NatsAccess = {},
): Pick<ConnectionOptions, "tls"> {
  if (!access.tls && !isSecure) return {};
  const checkServerIdentity = identityOf(urls, learned);
  return { tls: { ...access.tls, ...(checkServerIdentity ? { checkServerIdentity } : {}) } };
}

/** In the reader's own turn it would end the library's read loop, and every subscription with it. */
export function throwOutside(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
}
