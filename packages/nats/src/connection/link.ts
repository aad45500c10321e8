import { type ConnectionOptions, connect, type NatsConnection, type Status } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import {
  connectError,
  type DeniedOperation,
  deniedOperationOf,
  forbidden,
  isUnauthorized,
  unauthorized,
} from "./link-errors.ts";
import { identityCheck, type NatsServers, toNatsServers } from "./servers.ts";

export interface NatsLinkOptions {
  /** One server, or several of one cluster: `nats://host:4222`, with `user:password@` or `token@` if needed. */
  servers: string | readonly string[];
  /** Credentials and TLS, if the address does not contain them. */
  access?: NatsAccess;
  /** Name of this connection in the server's own lists. @default "troupe" */
  name?: string;
  /** Prefix of the subjects for replies. Servers may restrict each user to a prefix of its own. @default "_INBOX" */
  inboxPrefix?: string;
  /** Time limit for one connection attempt. @default 5_000 */
  connectTimeoutMs?: number;
  /** Pause between two attempts to reconnect. @default 250 */
  reconnectDelayMs?: number;
  /** Interval between two pings. The connection is dropped after two unanswered pings. @default 5_000 */
  pingIntervalMs?: number;
}

/** Credentials and TLS as the client library takes them. */
export interface NatsAccess extends Pick<ConnectionOptions, "authenticator" | "tls" | "user" | "pass" | "token"> {
  /** Why the server may refuse the credentials, for example because they have expired. Null if unknown. */
  credentialsProblem?: () => string | null;
}

export type NatsLinkEvent =
  | { kind: "disconnected"; server: string }
  | { kind: "reconnected"; server: string }
  /** The server reports an error. `denied`: the operation that it does not allow this user. */
  | { kind: "error"; error: TroupeError; denied: DeniedOperation | null }
  /** Final: the connection is never restored. */
  | { kind: "closed" };

/** One connection to NATS, shared by all ports. It reconnects without a limit. */
export interface NatsLink {
  readonly connection: NatsConnection;
  readonly connected: boolean;
  readonly closed: boolean;
  readonly payloadBytesMax: number;
  /** The addresses without credentials, for messages and logs. */
  readonly redactedUrl: string;
  /** Prefix of the subjects for replies. Every inbox on this connection must start with it. */
  readonly inboxPrefix: string;
  /** The listener runs in the same turn as the status change. Returns a function that removes the listener. */
  onEvent(listener: (event: NatsLinkEvent) => void): () => void;
  close(): Promise<void>;
}

/**
 * Connects to NATS. Rejects with `UNREACHABLE` or `UNAUTHORIZED`, and names the address.
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
  /** The last attempt reached a server that refused the credentials. The client reports it as a brief reconnect. */
  let wasRefused = false;
  const emit = (event: NatsLinkEvent): void => {
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
      // The client also reports it for every failed attempt.
      const wasConnected = state.connected;
      state.connected = false;
      if (wasConnected) emit({ kind: "disconnected", server: status.server });
    } else if (status.type === "reconnect" && !wasRefused && !state.connected) {
      // The client reports it once for each attempt that it made.
      state.connected = true;
      state.payloadBytesMax = connection.info?.max_payload ?? state.payloadBytesMax;
      emit({ kind: "reconnected", server: status.server });
    } else if (status.type === "error") {
      wasRefused ||= isUnauthorized(status.error);
      emit({ kind: "error", ...toErrorEvent(status.error, servers, options.access) });
    }
  };
  const followStatus = async (): Promise<void> => {
    for await (const status of connection.status()) onStatus(status);
    state.connected = false;
    state.closed = true;
    emit({ kind: "closed" });
  };
  void followStatus();

  return {
    connection,
    redactedUrl: servers.redactedUrl,
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
  const discovered = (): readonly string[] => connection?.info?.connect_urls ?? [];
  const { credentialsProblem: _, ...access } = options.access ?? {};
  try {
    connection = await connect({
      servers: servers.urls,
      ...servers.credentials,
      ...access,
      ...tlsOptions(servers, discovered, access),
      name: options.name ?? "troupe",
      ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
      timeout: options.connectTimeoutMs ?? 5_000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: options.reconnectDelayMs ?? 250,
      pingInterval: options.pingIntervalMs ?? 5_000,
      maxPingOut: 2,
      // Operators often replace credentials during a restart: two refusals must not close the connection for good.
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
    });
    return connection;
  } catch (error) {
    throw await connectError(error, servers, options.access);
  }
}

function toErrorEvent(cause: Error, { redactedUrl }: NatsServers, { credentialsProblem }: NatsAccess = {}) {
  const denied = deniedOperationOf(cause);
  if (denied) return { error: forbidden(redactedUrl, denied, cause), denied };
  if (isUnauthorized(cause)) return { error: unauthorized(redactedUrl, cause, credentialsProblem?.()), denied };
  const message = `${redactedUrl} reports: ${cause.message}`;
  return { error: new TroupeError("UNREACHABLE", message, { cause }), denied };
}

/** With `tls://` in the address, a server without TLS is refused. */
function tlsOptions(
  { urls, isSecure }: NatsServers,
  discovered: () => readonly string[],
  access: NatsAccess = {},
): Pick<ConnectionOptions, "tls"> {
  if (!access.tls && !isSecure) return {};
  const checkServerIdentity = identityCheck(urls, discovered);
  return { tls: { ...access.tls, ...(checkServerIdentity ? { checkServerIdentity } : {}) } };
}

/** Throws in a microtask. Thrown in the read loop of the client library, an error would end all subscriptions. */
export function throwOutside(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
}
