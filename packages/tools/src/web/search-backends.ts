import { z } from "zod";
import type { SearchBackend } from "./search/backend.ts";
import { queryWithSites } from "./search/sites.ts";

const BraveAnswer = z.object({
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

/** Brave Search: GET, with the key in a header. */
export function createBrave({ key, base }: { key: string; base: string }): SearchBackend {
  const url = new URL("/res/v1/web/search", base);
  return {
    name: "brave",
    variable: "BRAVE_API_KEY",
    url,
    request({ query, limit, allowedDomains }) {
      const asked = new URL(url);
      asked.searchParams.set("q", queryWithSites(query, allowedDomains));
      asked.searchParams.set("count", String(limit));
      asked.searchParams.set("text_decorations", "false");
      return { url: asked, ask: { method: "GET", headers: { "x-subscription-token": key } } };
    },
    hits(body) {
      const results = BraveAnswer.parse(body).web?.results ?? [];
      return results.map(({ title, url, description, age, page_age }) => {
        return { title, url, snippet: description, age: age ?? page_age ?? null };
      });
    },
  };
}
