import type { Redactor, TroupeService } from "@troupe/core";

export interface ServeHttpOptions {
  service: TroupeService;
  /** Every request needs this token. Keep it in a file that only the user can read. */
  token: string;
  /** A loopback address. @default "127.0.0.1" */
  host?: string;
  /** 0 takes any free port. If the port is taken, the server tries the 20 ports after it. */
  port: number;
  /** Folder of the built dashboard. Without one, the server shows a page that says so. */
  assets: string;
  /** Time between two heartbeats of an event stream. @default 15_000 */
  heartbeatMs?: number;
  /** How long a client may take to send a request. Replies may take any time. @default 30_000 */
  receiveTimeoutMs?: number;
  /** Further connections are closed at once. An open page has at most six. @default 512 */
  connectionsMax?: number;
  /** Removes secrets from error replies. @default error replies are not redacted */
  redact?: Redactor;
  /** Called with every error that is the daemon's own fault. The client only learns that an error occurred. */
  onError?(error: unknown): void;
}

export interface HttpServer {
  url: string;
  port: number;
  /** The port from the options. It differs from `port` if it was taken. */
  requestedPort: number;
  /** Ends event streams at once, gives other requests half a second, and frees the port. */
  close(): Promise<void>;
}

/**
 * Serves the daemon's API and its dashboard, to this machine only. The first call loads Node's HTTP server and hono, so
 * that importing the runtime stays cheap.
 *
 * @example
 * const server = await serveHttp({ service, token, port: 4317, assets: "apps/dashboard/dist" });
 * console.info(server.url);
 * await server.close();
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { startHttpServer } = await import("./http-server.ts");
  return await startHttpServer(options);
}
