import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { RunFailure } from "@troupe/core";
import type { Stopwatch } from "./deadlines.ts";
import type { Dial } from "./dial.ts";
import { networkFailure } from "./network-failure.ts";
import { type BodyCaps, readBody } from "./read-body.ts";
import type { Target } from "./ssrf-guard.ts";

/** How long each part of a request may take. */
export interface WebTimes {
  /** Until a connection stands, its name looked up and its certificate checked. */
  connectMs: number;
  /** From then until the answer begins. */
  answerMs: number;
  /** All of it, redirects too. A server that sends a byte now and then gets no further. */
  wholeMs: number;
}

export interface Ask {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface Exchange {
  target: Target;
  ask: Ask;
  watch: Stopwatch;
  times: WebTimes;
  caps: BodyCaps;
  dial: Dial;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty for a redirect: nobody reads it. */
  body: Buffer;
}

const headerBytesMax = 64 * 1024;

/** One request and its answer, over a connection of its own. Throws a `RunFailure` for whatever goes wrong. */
export async function exchange({ target, ask, watch, times, caps, dial }: Exchange): Promise<Answer> {
  const { host } = target.url;
  const connected = watch.limit(times.connectMs, `${host} could not be connected to`);
  let answered = (): void => {};
  const socket = dial(target);
  try {
    socket.once(target.url.protocol === "http:" ? "connect" : "secureConnect", () => {
      connected();
      answered = watch.limit(times.answerMs, `${host} was connected to, and did not begin to answer`);
    });
    const answer = await send(target, ask, socket, watch);
    answered();
    const headers = answer.headers;
    const status = answer.statusCode ?? 0;
    const body = isRedirect(status) ? Buffer.alloc(0) : await readBody(answer, { host, caps, signal: watch.signal });
    return { status, headers, body };
  } catch (thrown) {
    throw watch.signal.aborted ? watch.signal.reason : networkFailure(thrown, host);
  } finally {
    connected();
    answered();
    socket.destroy();
  }
}

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function send({ url }: Target, ask: Ask, socket: ReturnType<Dial>, watch: Stopwatch): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    method: ask.method,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...ask.headers, connection: "close" },
    createConnection: () => socket,
    maxHeaderSize: headerBytesMax,
    signal: watch.signal,
  });
  sent.on("response", resolve);
  sent.on("error", reject);
  // A server that would rather speak another protocol has not answered.
  sent.on("upgrade", () => reject(new RunFailure(notHttp(url.host))));
  sent.end(ask.body);
  return promise;
}

function notHttp(host: string) {
  return { type: "network" as const, message: `${host} wants another protocol than HTTP`, recoverable: false };
}
