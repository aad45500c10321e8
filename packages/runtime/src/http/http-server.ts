import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { TroupeError } from "@troupe/core";
import { createHttpApp } from "./app.ts";
import { loadAssets } from "./assets.ts";
import { toErrorReply } from "./errors.ts";
import { refusalOf, securityHeaders } from "./guard.ts";
import type { HttpServer, ServeHttpOptions } from "./serve.ts";

const closeGraceMs = 500;

/** A third of the time is for the head. Node looks for late clients in intervals. */
function receiveLimits(receiveTimeoutMs: number) {
  const part = (parts: number): number => Math.ceil(receiveTimeoutMs / parts);
  return { headersTimeout: part(3), requestTimeout: receiveTimeoutMs, connectionsCheckingInterval: part(30) };
}

/** Starts the server behind `serveHttp`. */
export async function startHttpServer(options: ServeHttpOptions): Promise<HttpServer> {
  const { service, token, heartbeatMs = 15_000, onError = () => {} } = options;
  const host = loopbackHost(options.host ?? "127.0.0.1");
  const assets = await loadAssets(options.assets);
  const streams = new Set<() => void>();
  // With `requireHostHeader`, Node would answer a request without Host itself, without our guard and headers.
  const server = createServer({ requireHostHeader: false, ...receiveLimits(options.receiveTimeoutMs ?? 30_000) });
  server.maxConnections = options.connectionsMax ?? 512;
  const port = await listen(server, host, options.port);
  const app = createHttpApp({ service, token, port, assets, heartbeatMs, streams, onError, redact: options.redact });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });

  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    const refusal = refusalOf(request, port);
    if (refusal === null) answer(request, response).catch(onError);
    else refuse(request, response, options.redact?.text(refusal) ?? refusal);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    requestedPort: options.port,
    close: () => closeServer(server, streams),
  };
}

function loopbackHost(host: string): string {
  if (host === "localhost") return "127.0.0.1";
  if (host === "127.0.0.1" || host === "::1") return host;
  throw new TroupeError("USAGE", `the daemon serves this machine only, not ${JSON.stringify(host)}`, {
    fix: "omit --host, and use ssh -L to reach the daemon from another machine",
  });
}

const portsAfter = 20;
const portMax = 65_535;

/** Listens on the port, or on the next free one. Returns the port that it got. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > portMax) {
    throw new TroupeError("USAGE", `${port} is not a valid port`, {
      fix: `use --port with a number from 0 to ${portMax}`,
    });
  }
  const last = port === 0 ? 0 : Math.min(port + portsAfter, portMax);
  for (let candidate = port; candidate <= last; candidate++) {
    const error = await tryPort(server, host, candidate);
    if (error === null) return (server.address() as AddressInfo).port;
    if (error.code !== "EADDRINUSE") {
      throw new TroupeError("USAGE", `cannot listen on ${host}:${candidate}: ${error.code ?? error.message}`, {
        fix: "use --port 0 for any free port",
        cause: error,
      });
    }
  }
  throw new TroupeError("CONFLICT", `all ports from ${port} to ${last} of ${host} are in use`, {
    fix: "use --port 0 for any free port",
  });
}

async function tryPort(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  server.listen(port, host);
  try {
    await once(server, "listening");
    return null;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** Refuses a request and closes its connection, so that the rest of its body is never parsed as another request. */
function refuse(request: IncomingMessage, response: ServerResponse, refusal: string): void {
  const error = new TroupeError("FORBIDDEN", `request refused: ${refusal}`, {
    fix: "open the URL that `troupe up` prints in a new browser window",
  });
  const { status, body } = toErrorReply(error);
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(request.method === "HEAD" ? undefined : JSON.stringify(body));
}

async function closeServer(server: Server, streams: Set<() => void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const end of streams) end();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), closeGraceMs);
  await closed;
  clearTimeout(timer);
}
