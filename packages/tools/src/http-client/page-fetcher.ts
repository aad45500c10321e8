import type { Clock } from "@troupe/core";
import { retryAfterMs } from "@troupe/core/internal";
import { startStopwatch } from "./deadlines.ts";
import { createPoliteness } from "./host-limiter.ts";
import type { WebAnswer, WebClient } from "./http-client.ts";
import { createPageCache } from "./page-cache.ts";
import { parseWebUrl } from "./ssrf-guard.ts";

/** Pages, for whoever reads them. */
export interface PageSource {
  /** Throws a `RunFailure` where there is no answer; one that says that there is no page is an answer. */
  get(url: string, scope: { session: string; signal: AbortSignal }): Promise<WebAnswer>;
}

export interface PageSourceOptions {
  ask: WebClient;
  clock: Clock;
}

/**
 * Pages from the web: politely, and once for all that a session does with one.
 *
 * @example
 * const pages = createPageSource({ ask: createWebClient({ policy }), clock });
 * const { status, body } = await pages.get("https://example.org/", { session, signal });
 */
export function createPageSource({ ask, clock }: PageSourceOptions): PageSource {
  const cache = createPageCache({ clock });
  const politeness = createPoliteness(clock);

  return {
    async get(text, { session, signal }) {
      using watch = startStopwatch(clock, signal);
      const url = parseWebUrl(text);
      url.hash = "";
      const cached = (): WebAnswer | null => cache.get(session, url.href);
      const kept = cached();
      if (kept) return kept;
      return politeness.withHost(url.host, watch.signal, async () => {
        // Somebody else of the session may have read it while this one waited for its turn.
        const meanwhile = cached();
        if (meanwhile) return meanwhile;
        const answer = await ask({ url, signal });
        const restMs = restMsOf(answer, clock.now());
        if (restMs !== null) politeness.rest(answer.url.host, restMs);
        cache.put(session, answer);
        return answer;
      });
    },
  };
}

/** How long the server of an answer wants to be left alone; null where it does not say. */
export function restMsOf({ status, headers }: Pick<WebAnswer, "status" | "headers">, nowMs: number): number | null {
  const said = headers["retry-after"];
  if (said === undefined || (status !== 429 && status !== 503)) return null;
  return retryAfterMs(new Headers({ "retry-after": said }), nowMs);
}
