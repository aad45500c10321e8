import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { type Clock, RunFailure } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { type Deadlines, startDeadlines } from "./deadlines.ts";
import {
  exchange,
  type HttpTimeouts,
  isRedirect,
  type OpenSocket,
  openSocket as openTargetSocket,
  type RequestParts,
  type ResponseParts,
} from "./exchange.ts";
import { acceptedEncodings, type BodyLimits } from "./read-body.ts";
import { createSsrfGuard, type ResolveHost } from "./ssrf-guard.ts";

export interface HttpClientOptions {
  policy: WebPolicy;
  /** @default systemClock() */
  clock?: Clock;
  /** @default 10 s to connect, 15 s until the response begins, 30 s in total */
  timeouts?: Partial<HttpTimeouts>;
  /** @default 10 MB over the wire, 20 MB decompressed */
  limits?: Partial<BodyLimits>;
  /** Looks up the addresses of a host name. @default the resolver of the system */
  resolveHost?: ResolveHost;
  /** Opens a connection to a checked target. @default a TCP socket, with TLS for https */
  openSocket?: OpenSocket;
}

export interface HttpRequest extends Partial<RequestParts> {
  url: URL;
  signal: AbortSignal;
  /** @default 5 */
  redirectsMax?: number;
}

export interface HttpResponse extends ResponseParts {
  /** The URL after all redirects. */
  url: URL;
  /** Every requested URL, in the order of the requests. */
  chain: readonly string[];
}

/** Throws a `RunFailure` if there is no response. A response with an error status is returned. */
export type HttpClient = (request: HttpRequest) => Promise<HttpResponse>;

const defaultTimeouts: HttpTimeouts = { connectMs: 10_000, responseMs: 15_000, totalMs: 30_000 };
const defaultLimits: BodyLimits = { wireBytesMax: 10_000_000, bytesMax: 20_000_000 };

/**
 * Creates an HTTP client that stays out of private networks. For each redirect, it resolves the host once, checks all its
 * addresses and connects to these addresses only. It stores nothing between requests: no connection and no cookie. It
 * ignores the proxy variables of the environment, because it cannot check the address that a proxy connects to.
 *
 * @example
 * const request = createHttpClient({ policy: defaultPolicy.web });
 * const { status, body } = await request({ url: new URL("https://example.org/"), signal });
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { policy, clock = systemClock(), openSocket = openTargetSocket } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const limits = { ...defaultLimits, ...options.limits };
  const resolveTarget = createSsrfGuard({ policy, ...(options.resolveHost && { resolveHost: options.resolveHost }) });
  const defaultHeaders = createDefaultHeaders();

  const requestOnce = async (url: URL, request: RequestParts, deadlines: Deadlines): Promise<ResponseParts> => {
    const clear = deadlines.set(timeouts.connectMs, `the address of ${url.host} was not found`);
    const target = await resolveTarget(url, deadlines.signal).finally(clear);
    return exchange({ target, request, deadlines, timeouts, limits, openSocket });
  };

  return async ({ url, signal, redirectsMax = 5, ...first }) => {
    using deadlines = startDeadlines(clock, signal);
    deadlines.set(timeouts.totalMs, `${url.host} did not send its whole response`);
    const chain = [withoutFragment(url)];
    let current = url;
    let request: RequestParts = { method: "GET", ...first, headers: { ...defaultHeaders, ...first.headers } };
    while (true) {
      const response = await requestOnce(current, request, deadlines);
      const next = isRedirect(response.status) ? redirectUrl(response, current) : null;
      if (!next) return { ...response, url: current, chain };
      checkRedirect(current, next, chain, redirectsMax);
      chain.push(withoutFragment(next));
      // Headers and body of the caller can contain a key for the first origin, so redirects never get them.
      request = { method: "GET", headers: defaultHeaders };
      current = next;
    }
  };
}

function createDefaultHeaders(): Record<string, string> {
  return {
    "user-agent": userAgent(),
    accept: "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.8,*/*;q=0.5",
    "accept-language": "en,*;q=0.5",
    "accept-encoding": acceptedEncodings.join(", "),
  };
}

/**
 * The client fetches one page for one user, like a browser, and does not crawl. So it does not read robots.txt, which
 * addresses crawlers. It respects refusals, `Retry-After` and `no-store` in responses.
 */
function userAgent(): string {
  const file = new URL("../../package.json", import.meta.url);
  const { version }: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return `troupe/${version} (an agent that fetches one page for one user; not a crawler)`;
}

/** Null for a redirect without a location: the client returns it like any other response. */
function redirectUrl({ headers }: ResponseParts, current: URL): URL | null {
  if (headers.location === undefined) return null;
  // Node decodes headers as Latin-1, but some servers write UTF-8 into them.
  const bytes = Buffer.from(headers.location, "latin1");
  const location = isUtf8(bytes) ? bytes.toString() : headers.location;
  const next = URL.parse(location, current.href);
  if (next) return next;
  throw badRedirect(`${current.host} redirects to ${JSON.stringify(location.slice(0, 200))}, which is not a URL`);
}

function checkRedirect(from: URL, to: URL, chain: readonly string[], redirectsMax: number): void {
  const urls = [...chain, withoutFragment(to)].map((url) => url.slice(0, 200));
  const path = urls.join(" → ");
  if (chain.includes(withoutFragment(to))) throw badRedirect(`the page redirects in a circle: ${path}`);
  if (chain.length > redirectsMax) {
    const limit = redirectsMax === 0 ? "no redirect is" : `no more than ${redirectsMax} redirects are`;
    throw badRedirect(`${limit} followed: ${path}`);
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw badRedirect(
      `${from.host} redirects from https to http, which is not followed; request ${urls.at(-1)} if that is intended`,
    );
  }
}

function withoutFragment(url: URL): string {
  return url.hash ? url.href.slice(0, -url.hash.length) : url.href;
}

function badRedirect(message: string): RunFailure {
  return new RunFailure({ type: "tool_error", message, recoverable: false });
}
