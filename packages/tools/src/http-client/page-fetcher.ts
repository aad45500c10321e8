import type { Clock } from "@troupe/core";
import { startDeadlines } from "./deadlines.ts";
import { createHostLimiter } from "./host-limiter.ts";
import type { HttpClient, HttpResponse } from "./http-client.ts";
import { parseWebUrl } from "./ssrf-guard.ts";
import { retryAfterOf } from "./status-error.ts";

export interface PageFetcher {
  /**
   * Throws a `RunFailure` if there is no response. A response with an error status is returned.
   *
   * @param scope.fresh whether the page is fetched although the cache has it
   */
  fetch(url: string, scope: { session: string; signal: AbortSignal; fresh?: boolean }): Promise<HttpResponse>;
}

export interface PageFetcherOptions {
  request: HttpClient;
  clock: Clock;
}

/**
 * Fetches pages with a cache for each session and a rate limit for each host.
 *
 * @example
 * const fetcher = createPageFetcher({ request: createHttpClient({ policy }), clock });
 * const { status, body } = await fetcher.fetch("https://example.org/", { session, signal });
 */
export function createPageFetcher({ request, clock }: PageFetcherOptions): PageFetcher {
  const cache = createPageCache({ clock });
  const limiter = createHostLimiter(clock);

  return {
    async fetch(text, { session, signal, fresh = false }) {
      using deadlines = startDeadlines(clock, signal);
      const url = parseWebUrl(text);
      url.hash = "";
      const cached = fresh ? null : cache.get(session, url.href);
      if (cached) return cached;
      return limiter.run(url.host, deadlines.signal, async () => {
        // Another run of the session may have fetched the page while this one waited.
        const fetchedMeanwhile = fresh ? null : cache.get(session, url.href);
        if (fetchedMeanwhile) return fetchedMeanwhile;
        const response = await request({ url, signal });
        const retryAfterMs = retryAfterOf(response, clock.now());
        if (retryAfterMs !== null) limiter.pause(response.url.host, retryAfterMs);
        cache.put(session, response);
        return response;
      });
    },
  };
}

export interface PageCache {
  get(session: string, url: string): HttpResponse | null;
  /** Stores a response under every URL of its chain. Ignores responses that the server forbids to store. */
  put(session: string, response: HttpResponse): void;
}

export interface PageCacheOptions {
  clock: Clock;
  /** @default 15 minutes */
  ageMsMax?: number;
  /** Of all sessions together. @default 200 */
  entriesMax?: number;
  /** Of all sessions together. @default 64 MB */
  bytesMax?: number;
}

interface CacheEntry {
  response: HttpResponse;
  storedAtMs: number;
}

/** Caches responses for each session, so that the next part of a page or a second tool needs no request. */
export function createPageCache(options: PageCacheOptions): PageCache {
  const { clock, ageMsMax = 15 * 60_000, entriesMax = 200, bytesMax = 64 * 1024 * 1024 } = options;
  /** Oldest first. */
  const entries = new Map<string, CacheEntry>();
  let bytes = 0;

  const remove = (key: string): void => {
    bytes -= entries.get(key)?.response.body.length ?? 0;
    entries.delete(key);
  };

  const evict = (): void => {
    const oldestMs = clock.monotonicMs() - ageMsMax;
    for (const [key, { storedAtMs }] of entries) {
      if (storedAtMs > oldestMs && entries.size <= entriesMax && bytes <= bytesMax) return;
      remove(key);
    }
  };

  return {
    get(session, url) {
      evict();
      return entries.get(keyOf(session, url))?.response ?? null;
    },
    put(session, response) {
      if (!isCacheable(response)) return;
      for (const url of response.chain) {
        const key = keyOf(session, url);
        remove(key);
        entries.set(key, { response, storedAtMs: clock.monotonicMs() });
        bytes += response.body.length;
      }
      evict();
    },
  };
}

function isCacheable({ status, headers }: HttpResponse): boolean {
  return status === 200 && !/\bno-store\b/i.test(headers["cache-control"] ?? "");
}

function keyOf(session: string, url: string): string {
  return `${session} ${url}`;
}
