import { z } from "zod";
import type { SearchBackend } from "./backend.ts";
import { queryWithSites } from "./sites.ts";

const SearxngAnswer = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
});

/** A SearXNG of one's own: GET, with a password where its address has one. Its settings have to allow JSON. */
export function createSearxng({ address }: { address: string }): SearchBackend {
  const { username, password } = new URL(address);
  const url = new URL(address.endsWith("/") ? "search" : `${address}/search`, address);
  url.username = "";
  url.password = "";
  const secret = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const headers: Record<string, string> = username || password ? { authorization: `Basic ${secret}` } : {};
  return {
    name: "searxng",
    variable: "SEARXNG_URL",
    url,
    request({ query, allowedDomains }) {
      const asked = new URL(url);
      asked.searchParams.set("q", queryWithSites(query, allowedDomains));
      asked.searchParams.set("format", "json");
      return { url: asked, ask: { method: "GET", headers: { ...headers, accept: "application/json" } } };
    },
    hits(body) {
      return SearxngAnswer.parse(body).results.map(({ title, url, content, publishedDate }) => {
        return { title, url, snippet: content ?? "", age: publishedDate ?? null };
      });
    },
  };
}
