import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { RunFailure } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import type { Deadlines } from "./deadlines.ts";
import { type BodyLimits, readBody } from "./read-body.ts";
import type { Target } from "./ssrf-guard.ts";

export interface HttpTimeouts {
  /** Lookup of the host, and separately: connection with TLS handshake. */
  connectMs: number;
  /** From the connection until the response begins. */
  responseMs: number;
  /** The whole request with all redirects. Stops a server that sends one byte at a time. */
  totalMs: number;
}

export interface RequestParts {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface ResponseParts {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty for a redirect: its body is not read. */
  body: Buffer;
}

export interface ExchangeOptions {
  target: Target;
  request: RequestParts;
  deadlines: Deadlines;
  timeouts: HttpTimeouts;
  limits: BodyLimits;
  openSocket: OpenSocket;
}

const headerBytesMax = 64 * 1024;

/** Sends one request over a new connection and reads its response. Every error is a `RunFailure`. */
export async function exchange(options: ExchangeOptions): Promise<ResponseParts> {
  const { target, request, deadlines, timeouts, limits, openSocket } = options;
  const { host } = target.url;
  const clearConnect = deadlines.set(timeouts.connectMs, `the connection to ${host} was not established`);
  let clearResponse = (): void => {};
  const socket = openSocket(target);
  try {
    socket.once(target.url.protocol === "http:" ? "connect" : "secureConnect", () => {
      clearConnect();
      clearResponse = deadlines.set(timeouts.responseMs, `${host} accepted the connection but did not respond`);
    });
    const message = await send(target, request, socket, deadlines);
    clearResponse();
    const { statusCode: status = 0, headers } = message;
    const body = isRedirect(status)
      ? Buffer.alloc(0)
      : await readBody(message, { host, limits, signal: deadlines.signal });
    return { status, headers, body };
  } catch (thrown) {
    throw deadlines.signal.aborted ? deadlines.signal.reason : networkFailure(thrown, host);
  } finally {
    clearConnect();
    clearResponse();
    socket.destroy();
  }
}

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function send({ url }: Target, parts: RequestParts, socket: Socket, deadlines: Deadlines): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // An import of `node:http` would load `fetch` at the start of each process, because it reads all names of the module.
  const request = process.getBuiltinModule("node:http").request({
    method: parts.method,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...parts.headers, connection: "close" },
    createConnection: () => socket,
    maxHeaderSize: headerBytesMax,
    signal: deadlines.signal,
  });
  request.on("response", resolve);
  request.on("error", reject);
  // A switch to another protocol is not a response.
  request.on("upgrade", () => {
    const message = `${url.host} switches from HTTP to another protocol`;
    reject(new RunFailure({ type: "network", message, recoverable: false }));
  });
  request.end(parts.body);
  return promise;
}

/** Opens a connection to the checked addresses of a target, and to no others. */
export type OpenSocket = (target: Target) => Socket;

/**
 * Answers Node's lookup with the checked addresses, so that no second lookup can return others. Node tries the addresses
 * one after the other. TLS checks the certificate against the host name, not against the address.
 */
export const openSocket: OpenSocket = (target) => {
  const { url, host, port } = target;
  const options = { host, port, lookup: lookupOf(target), autoSelectFamily: true };
  if (url.protocol === "http:") return connectTcp(options);
  return connectTls({
    ...options,
    // The explicit value prevents that NODE_TLS_REJECT_UNAUTHORIZED switches the check off.
    rejectUnauthorized: true,
    servername: isIP(host) ? "" : host,
    ALPNProtocols: ["http/1.1"],
  });
};

function lookupOf({ addresses }: Target): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) return callback(null, entries);
    const [first] = entries;
    return first ? callback(null, first.address, first.family) : callback(new Error("no address"), "", 0);
  };
}

/** Explains an error of the connection or of the protocol. A `RunFailure` is returned unchanged. */
function networkFailure(thrown: unknown, host: string): RunFailure {
  if (thrown instanceof RunFailure) return thrown;
  const code = errorCodeOf(thrown) ?? "";
  const [, reason, recoverable] = reasons.find(([pattern]) => pattern.test(code)) ?? [
    null,
    "the connection failed",
    true,
  ];
  const detail = thrown instanceof Error && code !== thrown.message ? thrown.message : "";
  const suffix = [code, detail].filter(Boolean).join(": ").slice(0, 200);
  const message = `${host} could not be read: ${reason}${suffix && ` (${suffix})`}`;
  return new RunFailure({ type: "network", message, recoverable });
}

const reasons: readonly (readonly [code: RegExp, reason: string, recoverable: boolean])[] = [
  [/^ECONNREFUSED$/, "no server listens there; check host and port", false],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "no route to the host; this machine may be offline", true],
  [/^ETIMEDOUT$/, "the connection timed out; try again later or use another source", true],
  [/^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "the connection closed before the response was complete", true],
  [/^HPE_HEADER_OVERFLOW$/, "the response headers are too large", false],
  [/^HPE_/, "the response is not HTTP", false],
  [/^(?:Z_|ZSTD_|ERR_ZLIB|ERR_BROTLI|ERR__ERROR)/, "the compressed content is damaged", false],
  [/^(?:EPROTO|ERR_SSL)/, "the server does not speak TLS; try http", false],
  [/CERT|SIGNED|ISSUER|ALTNAME|UNABLE_TO_VERIFY/, "the certificate of the server is not valid", false],
];
