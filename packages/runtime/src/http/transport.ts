import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type ErrorCode, exitCodes, TroupeError } from "@troupe/core";
import { ApiError } from "@troupe/core/internal";

/** A request of the client. */
export interface HttpRequest {
  /** @default GET */
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** A successful response, whose body has not been read yet. */
export interface HttpReply {
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

/** Sends requests to the daemon, with its token. */
export interface Transport {
  url: string;
  /** Resolves to a successful response. Throws the daemon's error, or the error of the connection. */
  send(path: string, request: HttpRequest): Promise<HttpReply>;
  /** Turns an error of a connection into a `TroupeError`. */
  toError(thrown: unknown): TroupeError;
}

export function createTransport(options: { url: string; token: string }): Transport {
  const url = options.url.replace(/\/+$/, "");
  return {
    url,
    async send(path, request) {
      const headers = {
        authorization: `Bearer ${options.token}`,
        "content-type": "application/json",
        ...request.headers,
      };
      const body = await open(`${url}${path}`, { ...request, headers });
      const reply = { body, text: async () => (await buffer(body)).toString("utf8") };
      const { statusCode: status = 0 } = body;
      if (status >= 200 && status < 300) return reply;
      // Never follows a redirect, which would send the token to another server.
      if (status >= 300 && status < 400) throw unreachable(url, new Error(`it redirects, with status ${status}`));
      throw errorIn(await reply.text(), { url, status });
    },
    toError: (thrown) => (TroupeError.is(thrown) ? thrown : unreachable(url, thrown)),
  };
}

/**
 * Sends a request with Node's own client: the first `fetch` of a process takes longer than everything else in a short
 * command. An import of `node:http` would load `fetch` too, because it reads all names of the module.
 */
function open(url: string, { body, headers, ...options }: HttpRequest): Promise<IncomingMessage> {
  const { request } = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = request(url, { ...options, headers: { ...headers, ...length } }, resolve);
    sent.on("error", reject).end(body);
  });
}

/** Adds the query to a path, without its undefined and null values. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Whether no process listens at the address. A lost connection or a slow daemon is something else. */
export function connectionWasRefused(thrown: unknown): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"].includes(codeOf(thrown));
}

export function unreachable(url: string, cause: unknown): TroupeError {
  const why = codeOf(cause) || (cause instanceof Error ? cause.message : String(cause));
  return new TroupeError("UNREACHABLE", `no daemon answers at ${url} (${why})`, { fix: "troupe up", cause });
}

function errorIn(text: string, { url, status }: { url: string; status: number }): TroupeError {
  try {
    const { code, message, fix } = ApiError.parse(JSON.parse(text)).error;
    return new TroupeError(isKnown(code) ? code : "INTERNAL", message, fix === null ? {} : { fix });
  } catch (cause) {
    const message = `the server at ${url} is not a troupe daemon (status ${status})`;
    return new TroupeError("INVALID_MESSAGE", message, { fix: "troupe doctor", cause });
  }
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(exitCodes, code);
}

/** The code of the system error, which can be a cause of the thrown one. */
function codeOf(thrown: unknown): string {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    if (!TroupeError.is(error) && "code" in error && typeof error.code === "string") return error.code;
  }
  return "";
}
