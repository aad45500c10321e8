import type { Clock } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "../define-tool.ts";
import { createWebClient, type WebClientOptions } from "../http-client/http-client.ts";
import { createPageSource } from "../http-client/page-fetcher.ts";
import { createPageReader } from "../page-reader/page-reader.ts";
import { chooseSearch, type SearchUrls } from "./choose-search.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import { createWebReaderTool } from "./web-reader.ts";
import { createWebSearchTool } from "./web-search.ts";

export interface WebToolParts {
  web: WebPolicy;
  /** `BRAVE_API_KEY`, `TAVILY_API_KEY`, `SEARXNG_URL`, and `TROUPE_SEARCH`, which says which of them to use. */
  env: Readonly<Record<string, string | undefined>>;
  /** @default systemClock() */
  clock?: Clock;
  /** How servers are found and reached. @default as `createWebClient` does */
  webClient?: Partial<Omit<WebClientOptions, "policy" | "clock">>;
  /** Where search back ends are. @default the vendors' own addresses */
  searchUrls?: SearchUrls;
}

/**
 * The tools that read from the web. They share what they have read: a page that was fetched is not asked for again.
 *
 * @example
 * const [webFetch, webReader, webSearch] = createWebTools({ web: defaultPolicy.web, env: process.env });
 */
export function createWebTools(parts: WebToolParts): Tool[] {
  const { web, clock = systemClock(), webClient = {} } = parts;
  const pages = createPageSource({ ask: createWebClient({ ...webClient, policy: web, clock }), clock });
  const reader = createPageReader({ clock });
  return [
    createWebFetchTool({ pages, reader, clock }),
    createWebReaderTool({ pages, reader, clock }),
    createWebSearchTool({ choice: chooseSearch(parts), clock, webClient, policy: web }),
  ];
}
