import type { SearchBackend } from "./search/backend.ts";
import { createSearxng } from "./search/searxng.ts";
import { createTavily } from "./search/tavily.ts";
import { createBrave } from "./search-backends.ts";

export interface SearchUrls {
  /** @default https://api.search.brave.com */
  brave?: string;
  /** @default https://api.tavily.com */
  tavily?: string;
}

export interface SearchSettings {
  env: Readonly<Record<string, string | undefined>>;
  searchUrls?: SearchUrls;
}

/** Which service searches, or why none does. */
export type SearchChoice = { backend: SearchBackend; problem: null } | { backend: null; problem: string };

const setUp =
  "set BRAVE_API_KEY (Brave Search), TAVILY_API_KEY (Tavily) or SEARXNG_URL (the address of a SearXNG of your own), and start troupe again";

/**
 * The service that the environment names: the one of `TROUPE_SEARCH`, else the first that is set up.
 *
 * @example
 * chooseSearch({ env: { SEARXNG_URL: "http://127.0.0.1:8888" } }).backend?.name; // "searxng"
 */
export function chooseSearch({ env, searchUrls = {} }: SearchSettings): SearchChoice {
  const brave = env.BRAVE_API_KEY?.trim();
  const tavily = env.TAVILY_API_KEY?.trim();
  const searxng = env.SEARXNG_URL?.trim();
  const wanted = env.TROUPE_SEARCH?.trim().toLowerCase() || null;
  const known: Record<string, () => SearchBackend | string | null> = {
    brave: () => (brave ? createBrave({ key: brave, base: searchUrls.brave ?? "https://api.search.brave.com" }) : null),
    tavily: () => (tavily ? createTavily({ key: tavily, base: searchUrls.tavily ?? "https://api.tavily.com" }) : null),
    searxng: () => (searxng ? searxngAt(searxng) : null),
  };
  if (wanted !== null && !(wanted in known)) {
    return none(`TROUPE_SEARCH is ${JSON.stringify(wanted.slice(0, 40))}; write brave, tavily or searxng`);
  }
  for (const [name, make] of Object.entries(known)) {
    if (wanted !== null && wanted !== name) continue;
    const made = make();
    if (typeof made === "string") return none(made);
    if (made) return { backend: made, problem: null };
  }
  return none(
    wanted === null
      ? `no search service is set up: ${setUp}`
      : `TROUPE_SEARCH is ${wanted}, which is not set up: ${setUp}`,
  );
}

function searxngAt(address: string): SearchBackend | string {
  const url = URL.parse(address);
  if (url?.protocol === "http:" || url?.protocol === "https:") return createSearxng({ address });
  return "SEARXNG_URL is no address; write one such as http://127.0.0.1:8888";
}

function none(problem: string): SearchChoice {
  return { backend: null, problem };
}
