import type { Clock } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "@troupe/core/tool";
import { createHttpClient, type HttpClientOptions } from "../http-client/http-client.ts";
import { createPageFetcher } from "../http-client/page-fetcher.ts";
import { createPageReader } from "../page-reader/page-reader.ts";
import { chooseSearch, type SearchUrls } from "./choose-search.ts";
import { createWebFetchTool, createWebReaderTool } from "./page-tools.ts";
import type { PageToolDeps } from "./read-page.ts";
import { createWebSearchTool } from "./web-search.ts";

export interface WebToolOptions {
  /** The `web` section of the policy. */
  web: WebPolicy;
  /** Settings of web search: `BRAVE_API_KEY`, `TAVILY_API_KEY`, `SEARXNG_URL`, and `TROUPE_SEARCH` to choose one. */
  env: Readonly<Record<string, string | undefined>>;
  /** @default systemClock() */
  clock?: Clock;
  /** Timeouts, limits and connections of the HTTP client. @default the defaults of the client */
  httpClient?: Partial<Omit<HttpClientOptions, "policy" | "clock">>;
  /** Base URLs of the search services. @default the URLs of their vendors */
  searchUrls?: SearchUrls;
  /** Shares the cache of pages with other tools. @default a cache of its own */
  pages?: PageToolDeps;
}

/** Creates the parts that fetch and read pages. Tools that share them share one cache, and one rate limit for each host. */
export function createPageToolDeps(options: Pick<WebToolOptions, "web" | "clock" | "httpClient">): PageToolDeps {
  const { web: policy, clock = systemClock(), httpClient = {} } = options;
  const fetcher = createPageFetcher({ request: createHttpClient({ ...httpClient, policy, clock }), clock });
  return { fetcher, reader: createPageReader({ clock }), clock };
}

/**
 * Creates the tools that read the web: web_fetch, webReader and web_search. They share one cache, so a page that one tool
 * has fetched needs no second request.
 *
 * @example
 * const [webFetch, webReader, webSearch] = createWebTools({ web: defaultPolicy.web, env: process.env });
 */
export function createWebTools(options: WebToolOptions): Tool[] {
  const { web: policy, clock = systemClock(), httpClient = {} } = options;
  const pages = options.pages ?? createPageToolDeps(options);
  return [
    createWebFetchTool(pages),
    createWebReaderTool(pages),
    createWebSearchTool({ choice: chooseSearch(options), clock, httpClient, policy }),
  ];
}
