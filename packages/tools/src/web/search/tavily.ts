import { z } from "zod";
import type { SearchBackend } from "./backend.ts";

const TavilyAnswer = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().default(""),
      published_date: z.string().nullish(),
    }),
  ),
});

/** Tavily: POST, with the key as a bearer's. */
export function createTavily({ key, base }: { key: string; base: string }): SearchBackend {
  const url = new URL("/search", base);
  return {
    name: "tavily",
    variable: "TAVILY_API_KEY",
    url,
    request({ query, limit, allowedDomains }) {
      const wanted = { query, max_results: limit, search_depth: "basic" };
      const body = JSON.stringify(allowedDomains.length > 0 ? { ...wanted, include_domains: allowedDomains } : wanted);
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
      };
      return { url, ask: { method: "POST", headers, body } };
    },
    hits(body) {
      return TavilyAnswer.parse(body).results.map(({ title, url, content, published_date }) => {
        return { title, url, snippet: content, age: published_date ?? null };
      });
    },
  };
}
