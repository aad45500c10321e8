import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { type Dial, dial } from "./dial.ts";
import { createWebClient, type WebClient, type WebClientOptions } from "./http-client.ts";
import type { Target } from "./ssrf-guard.ts";

/** A server on this machine, and all that it has seen. */
export interface TestServer extends AsyncDisposable {
  port: number;
  connections: number;
  requests: { method: string; path: string; headers: NodeJS.Dict<string | string[]>; body: string }[];
}

/** An HTTP server on a port of its own. */
export async function serve(answer: RequestListener, host = "127.0.0.1"): Promise<TestServer> {
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      made.requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  const made = await started(server, host);
  return made;
}

/** A server that speaks no more HTTP than it is told to. */
export function serveBytes(answer: (socket: Socket) => void): Promise<TestServer> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  return started(server, "127.0.0.1");
}

async function started(server: Server, host: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const made: TestServer = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    requests: [],
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("connection", (socket) => {
    made.connections += 1;
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  return made;
}

/** A web of names with public addresses, each of which is really a server on this machine. */
export interface TestWeb {
  ask: WebClient;
  options: WebClientOptions;
  /** Every target that was connected to. */
  dialled: Target[];
  /** Every name that was looked up. */
  resolved: string[];
}

export interface TestWebOptions extends Partial<Omit<WebClientOptions, "policy">> {
  /** Names, and the port of this machine that answers for them. */
  sites?: Readonly<Record<string, number>>;
  /** Names and their addresses, one list for each time that they are asked about. */
  names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  policy?: { privateHosts?: string[]; deny?: string[] };
}

export const publicAddress = "93.184.216.34";

/** A client in such a web: what leads to no site of it is dialled as it really is. */
export function testWeb({ sites = {}, names = {}, policy, ...rest }: TestWebOptions = {}): TestWeb {
  const dialled: Target[] = [];
  const resolved: string[] = [];
  const dialTest: Dial = (target) => {
    dialled.push(target);
    const port = sites[target.host];
    return port === undefined || !target.addresses.includes(publicAddress) ? dial(target) : connect(port, "127.0.0.1");
  };
  const options: WebClientOptions = {
    clock: systemClock(),
    policy: WebPolicy.parse(policy),
    dial: dialTest,
    async resolve(host) {
      resolved.push(host);
      const lists = names[host] ?? (host in sites ? [[publicAddress]] : []);
      const times = resolved.filter((each) => each === host).length;
      const addresses = lists[Math.min(times, lists.length) - 1];
      if (addresses) return addresses;
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
    },
    ...rest,
  };
  return { ask: createWebClient(options), options, dialled, resolved };
}

/** Nobody gives up. */
export const patient: AbortSignal = new AbortController().signal;
