import { z } from "zod";
import type { RequestParts } from "../http-client/exchange.ts";

export interface SearchQuery {
  query: string;
  limit: number;
  allowedDomains: readonly string[];
}

export interface SearchHit {
  title: string;
  url: string;
  snippet: string;
  /** In the format of the service; null if it is unknown. */
  age: string | null;
}

/** A web search service that the owner of the machine has configured. */
export interface SearchBackend {
  name: string;
  /** The environment variable that configures it. */
  variable: string;
  /** Requests go only to the origin of this URL. Redirects are not followed. */
  url: URL;
  request(query: SearchQuery): RequestParts & { url: URL };
  /** Throws if the body is not in the format of the service. */
  parseHits(body: unknown): SearchHit[];
}

const BraveResponse = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.string(),
          description: z.string().default(""),
          age: z.string().nullish(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .optional(),
});

/** Brave Search. */
export function createBrave({ key, base }: { key: string; base: string }): SearchBackend {
  const url = new URL("/res/v1/web/search", base);
  return {
    name: "brave",
    variable: "BRAVE_API_KEY",
    url,
    request({ query, limit, allowedDomains }) {
      const requestUrl = new URL(url);
      requestUrl.searchParams.set("q", queryWithSites(query, allowedDomains));
      requestUrl.searchParams.set("count", String(limit));
      requestUrl.searchParams.set("text_decorations", "false");
      return { url: requestUrl, method: "GET", headers: { "x-subscription-token": key } };
    },
    parseHits(body) {
      const results = BraveResponse.parse(body).web?.results ?? [];
      return results.map(({ title, url, description, age, page_age }) => {
        return { title, url, snippet: description, age: age ?? page_age ?? null };
      });
    },
  };
}

const TavilyResponse = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().default(""),
      published_date: z.string().nullish(),
    }),
  ),
});

/** Tavily. */
export function createTavily({ key, base }: { key: string; base: string }): SearchBackend {
  const url = new URL("/search", base);
  return {
    name: "tavily",
    variable: "TAVILY_API_KEY",
    url,
    request({ query, limit, allowedDomains }) {
      const parameters = { query, max_results: limit, search_depth: "basic" };
      const domains = allowedDomains.length > 0 ? { include_domains: allowedDomains } : {};
      const body = JSON.stringify({ ...parameters, ...domains });
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
      };
      return { url, method: "POST", headers, body };
    },
    parseHits(body) {
      return TavilyResponse.parse(body).results.map(({ title, url, content, published_date }) => {
        return { title, url, snippet: content, age: published_date ?? null };
      });
    },
  };
}

const SearxngResponse = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
});

/** A SearXNG server. Its settings must allow JSON. A user and password in its URL are sent as basic authentication. */
export function createSearxng({ base }: { base: string }): SearchBackend {
  const { username, password } = new URL(base);
  const url = new URL(base.endsWith("/") ? "search" : `${base}/search`, base);
  url.username = "";
  url.password = "";
  const secret = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const authorization: Record<string, string> = username || password ? { authorization: `Basic ${secret}` } : {};
  return {
    name: "searxng",
    variable: "SEARXNG_URL",
    url,
    request({ query, allowedDomains }) {
      const requestUrl = new URL(url);
      requestUrl.searchParams.set("q", queryWithSites(query, allowedDomains));
      requestUrl.searchParams.set("format", "json");
      return { url: requestUrl, method: "GET", headers: { ...authorization, accept: "application/json" } };
    },
    parseHits(body) {
      return SearxngResponse.parse(body).results.map(({ title, url, content, publishedDate }) => {
        return { title, url, snippet: content ?? "", age: publishedDate ?? null };
      });
    },
  };
}

/** Adds `site:` operators, which both services understand, for the allowed domains. */
function queryWithSites(query: string, domains: readonly string[]): string {
  const sites = domains.map((domain) => `site:${domain}`);
  if (sites.length === 0) return query;
  return `${query} ${sites.length === 1 ? sites[0] : `(${sites.join(" OR ")})`}`;
}
