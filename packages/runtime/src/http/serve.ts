import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type Redactor, TroupeError, type TroupeService } from "@troupe/core";
import { createHttpApp } from "./app.ts";
import { loadAssets } from "./assets.ts";
import { toErrorReply } from "./errors.ts";
import { refusalOf, securityHeaders } from "./guard.ts";
import { listen } from "./listen.ts";

export interface ServeHttpOptions {
  service: TroupeService;
  /** What every request has to show: the content of a file that only the user can read. */
  token: string;
  /** @default "127.0.0.1" */
  host?: string;
  /** 0: any free one. When it is taken, the next free one of the twenty after it. */
  port: number;
  /** Folder of the built dashboard. Where there is none, a page says so. */
  assets: string;
  /** @default 15_000 */
  heartbeatMs?: number;
  /** Takes secrets out of what is said of errors. @default nothing is looked for */
  redact?: Redactor;
  /** Hears of failures that are the daemon's own; the client is only told that there was one. */
  onError?(error: unknown): void;
}

export interface HttpServer {
  url: string;
  port: number;
  /** The port that was asked for: where it differs from `port`, it was taken. */
  requestedPort: number;
  /** Ends event streams at once, gives other requests half a second, and frees the port. */
  close(): Promise<void>;
}

const closeGraceMs = 500;

/**
 * Serves the daemon's API and its dashboard, to this machine only.
 *
 * @example
 * const server = await serveHttp({ service, token, port: 4317, assets: "apps/dashboard/dist" });
 * console.info(server.url);
 * await server.close();
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { service, token, heartbeatMs = 15_000, onError = () => {} } = options;
  const host = loopbackHost(options.host ?? "127.0.0.1");
  const assets = await loadAssets(options.assets);
  const streams = new Set<() => void>();
  // Node would answer a request without a Host itself, past our guard and its headers.
  const server = createServer({ requireHostHeader: false });
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
  throw new TroupeError("USAGE", `the daemon answers on this machine only, not on ${JSON.stringify(host)}`, {
    fix: "leave --host out, and reach it from elsewhere through ssh -L",
  });
}

/** The connection ends with it, so that what the client still sends is never read as a next request. */
function refuse(request: IncomingMessage, response: ServerResponse, refusal: string): void {
  const error = new TroupeError("FORBIDDEN", `refused: ${refusal}`, {
    fix: "open the address that `troupe up` prints, in a window of its own",
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
