import { isUtf8 } from "node:buffer";
import { type Clock, RunFailure } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { type Stopwatch, startStopwatch } from "./deadlines.ts";
import { type Dial, dial as dialChecked } from "./dial.ts";
import { type Answer, type Ask, exchange, isRedirect, type WebTimes } from "./exchange.ts";
import { acceptedEncodings, type BodyCaps } from "./read-body.ts";
import { createTargets, type Resolve } from "./ssrf-guard.ts";
import { userAgent } from "./user-agent.ts";

export interface WebClientOptions {
  policy: WebPolicy;
  /** @default systemClock() */
  clock?: Clock;
  /** @default 10 s to connect, 15 s to begin, 30 s for all */
  times?: Partial<WebTimes>;
  /** @default 10 MB over the wire, 20 MB decompressed */
  caps?: Partial<BodyCaps>;
  /** Addresses of names. @default the machine's own resolver */
  resolve?: Resolve;
  /** Opens a connection to a target that has been checked. @default a socket, with TLS for https */
  dial?: Dial;
}

export interface WebRequest {
  url: URL;
  signal: AbortSignal;
  ask?: Partial<Ask>;
  /** @default 5 */
  redirectsMax?: number;
}

export interface WebAnswer extends Answer {
  /** Where it came from in the end. */
  url: URL;
  /** Every URL that was asked, the first one first. */
  chain: readonly string[];
}

export type WebClient = (request: WebRequest) => Promise<WebAnswer>;

const defaultTimes: WebTimes = { connectMs: 10_000, answerMs: 15_000, wholeMs: 30_000 };
const defaultCaps: BodyCaps = { wireBytesMax: 10_000_000, bytesMax: 20_000_000 };

/**
 * Asks web servers, and only those that may be asked: each hop's name is looked up once, all of its addresses are
 * checked, and just these are connected to. Nothing is kept between requests: no connection, no cookie. Proxies of the
 * environment are not used, since behind one nobody could say which address is asked.
 *
 * @example
 * const ask = createWebClient({ policy: defaultPolicy.web });
 * const { status, body } = await ask({ url: new URL("https://example.org/"), signal });
 */
export function createWebClient(options: WebClientOptions): WebClient {
  const { policy, clock = systemClock(), dial = dialChecked } = options;
  const times = { ...defaultTimes, ...options.times };
  const caps = { ...defaultCaps, ...options.caps };
  const findTarget = createTargets({ policy, ...(options.resolve && { resolve: options.resolve }) });
  const agent = userAgent();

  const hop = async (url: URL, ask: Ask, watch: Stopwatch): Promise<Answer> => {
    const looked = watch.limit(times.connectMs, `${url.host} could not be looked up`);
    const target = await findTarget(url, watch.signal).finally(looked);
    return exchange({ target, ask, watch, times, caps, dial });
  };

  return async ({ url, signal, ask = {}, redirectsMax = 5 }) => {
    using watch = startStopwatch(clock, signal);
    watch.limit(times.wholeMs, `${url.host} did not send all of its answer`);
    const first: Ask = { method: "GET", ...ask, headers: { ...commonHeaders(agent), ...ask.headers } };
    const chain = [withoutFragment(url)];
    for (let current = url, own = first; ; ) {
      const answer = await hop(current, own, watch);
      const next = isRedirect(answer.status) ? nextUrl(answer, current) : null;
      if (!next) return { ...answer, url: current, chain };
      checkRedirect(current, next, chain, redirectsMax);
      chain.push(withoutFragment(next));
      // Whatever a caller adds (a key) is for the origin that it was meant for; here nothing is sent on at all.
      own = { method: "GET", headers: commonHeaders(agent) };
      current = next;
    }
  };
}

function commonHeaders(agent: string): Record<string, string> {
  return {
    "user-agent": agent,
    accept: "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.8,*/*;q=0.5",
    "accept-language": "en,*;q=0.5",
    "accept-encoding": acceptedEncodings.join(", "),
  };
}

/** Null where a redirect does not say where to: then it is an answer like any other. */
function nextUrl({ headers }: Answer, current: URL): URL | null {
  if (headers.location === undefined) return null;
  // Headers come as Latin-1, and some servers write UTF-8 into them.
  const bytes = Buffer.from(headers.location, "latin1");
  const location = isUtf8(bytes) ? bytes.toString() : headers.location;
  const next = URL.parse(location, current.href);
  if (next) return next;
  throw badRedirect(`${current.host} redirects to ${JSON.stringify(location.slice(0, 200))}, which is no URL`);
}

function checkRedirect(from: URL, to: URL, chain: readonly string[], redirectsMax: number): void {
  const way = [...chain, withoutFragment(to)].map((url) => url.slice(0, 200)).join(" → ");
  if (chain.includes(withoutFragment(to))) throw badRedirect(`the page redirects in a circle: ${way}`);
  if (chain.length > redirectsMax) {
    const most = redirectsMax === 0 ? "no redirect is" : `no more than ${redirectsMax} redirects are`;
    throw badRedirect(`${most} followed: ${way}`);
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw badRedirect(
      `${from.host} redirects from https to http, which is not followed; ask for ${way.split(" → ").at(-1)} if that is what you want`,
    );
  }
}

function withoutFragment(url: URL): string {
  return url.hash ? url.href.slice(0, -url.hash.length) : url.href;
}

function badRedirect(message: string): RunFailure {
  return new RunFailure({ type: "tool_error", message, recoverable: false });
}
