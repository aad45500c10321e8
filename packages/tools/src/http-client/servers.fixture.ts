import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { type OpenSocket, openSocket } from "./exchange.ts";
import { createHttpClient, type HttpClient, type HttpClientOptions } from "./http-client.ts";
import type { Target } from "./ssrf-guard.ts";

/** A server on this machine that records its connections and requests. */
export interface TestServer extends AsyncDisposable {
  port: number;
  connections: number;
  requests: { method: string; path: string; headers: NodeJS.Dict<string | string[]>; body: string }[];
}

/** Starts an HTTP server on a free port. */
export async function serve(respond: RequestListener, host = "127.0.0.1"): Promise<TestServer> {
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      testServer.requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      respond(request, response);
    });
  });
  const testServer = await listen(server, host);
  return testServer;
}

/** Starts a TCP server that writes raw bytes instead of HTTP. */
export function serveBytes(respond: (socket: Socket) => void): Promise<TestServer> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => respond(socket));
  });
  return listen(server, "127.0.0.1");
}

async function listen(server: Server, host: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const testServer: TestServer = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    requests: [],
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("connection", (socket) => {
    testServer.connections += 1;
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  return testServer;
}

/** A client in a fake internet: its names resolve to public addresses, and servers of this machine serve them. */
export interface TestWeb {
  request: HttpClient;
  options: HttpClientOptions;
  /** Every target of a connection. */
  connected: Target[];
  /** Every resolved name. */
  resolved: string[];
}

export interface TestWebOptions extends Partial<Omit<HttpClientOptions, "policy">> {
  /** Names, each with the port of the local server that serves it. */
  sites?: Readonly<Record<string, number>>;
  /** Names, each with one list of addresses per lookup. The last list repeats. */
  names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  policy?: { privateHosts?: string[]; deny?: string[] };
}

export const publicAddress = "93.184.216.34";

/** Creates a client in the fake internet. It connects to any other target for real. */
export function testWeb({ sites = {}, names = {}, policy, ...rest }: TestWebOptions = {}): TestWeb {
  const connected: Target[] = [];
  const resolved: string[] = [];
  const openTestSocket: OpenSocket = (target) => {
    connected.push(target);
    const port = sites[target.host];
    const isReal = port === undefined || !target.addresses.includes(publicAddress);
    return isReal ? openSocket(target) : connect(port, "127.0.0.1");
  };
  const options: HttpClientOptions = {
    clock: systemClock(),
    policy: WebPolicy.parse(policy),
    openSocket: openTestSocket,
    async resolveHost(host) {
      resolved.push(host);
      const lists = names[host] ?? (host in sites ? [[publicAddress]] : []);
      const lookups = resolved.filter((name) => name === host).length;
      const addresses = lists[Math.min(lookups, lists.length) - 1];
      if (addresses) return addresses;
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
    },
    ...rest,
  };
  return { request: createHttpClient(options), options, connected, resolved };
}

/** A signal that never aborts. */
export const neverAborts: AbortSignal = new AbortController().signal;
