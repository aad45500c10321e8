import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorCodeOf } from "@troupe/core/internal";
import { ConnectorError } from "../ports/connector-error.ts";

/** The request with which the browser comes back from the service. */
export interface LoopbackAnswer {
  params: URLSearchParams;
  /** Shows the end of the connection to the user in the browser. */
  reply(text: string): void;
}

/** A server on this machine for one answer of a browser: RFC 8252, section 7.3. */
export interface Loopback extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/callback`: the redirect URI. */
  url: string;
  /** Rejects with `network` after the time, and with the reason of the signal. */
  answer(options: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<LoopbackAnswer>;
}

const host = "127.0.0.1";
const path = "/callback";

/** @param port 0 takes a free one */
export async function openLoopback(port = 0): Promise<Loopback> {
  const { promise, resolve } = Promise.withResolvers<LoopbackAnswer>();
  // An import of `node:http` would load `fetch` at the start of each process, because it reads all names of the module.
  const server = process.getBuiltinModule("node:http").createServer((request, response) => {
    const url = new URL(request.url ?? "/", `http://${host}`);
    // Another host name means that a page of the web made the request.
    const isOwn = request.headers.host === `${host}:${portOf(server)}`;
    if (!isOwn || request.method !== "GET" || url.pathname !== path) return show(response, 404, "Not found");
    resolve({ params: url.searchParams, reply: (text) => show(response, 200, text) });
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(port, cause);
  }
  return {
    url: `http://${host}:${portOf(server)}${path}`,
    answer: (options) => orTimeout(promise, options),
    async [Symbol.asyncDispose]() {
      server.closeIdleConnections();
      const closed = once(server, "close");
      server.close();
      // A browser keeps connections open that it does not use.
      setImmediate(() => server.closeAllConnections());
      await closed;
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo | null)?.port ?? 0;

function show(response: ServerResponse, status: number, text: string): void {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  };
  response.writeHead(status, headers).end(`${text}\n`);
}

function cannotListen(port: number, cause: unknown): ConnectorError {
  const inUse = errorCodeOf(cause) === "EADDRINUSE";
  const reason = inUse ? "another program uses it" : (errorCodeOf(cause) ?? String(cause));
  return new ConnectorError("params", `cannot listen on port ${port} of ${host}: ${reason}`, {
    param: "port",
    fix: "choose another port with --port, or leave it out",
    cause,
  });
}

async function orTimeout<Answer>(
  answer: Promise<Answer>,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const minutes = Math.round(timeoutMs / 60_000);
  const timer = setTimeout(() => {
    const message = `the browser did not come back within ${minutes < 1 ? `${timeoutMs} ms` : `${minutes} minutes`}`;
    reject(new ConnectorError("network", message, { fix: "if the page was closed, run the command again" }));
  }, timeoutMs);
  const abort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
