import { createBrave, createSearxng, createTavily, type SearchBackend } from "./search-backends.ts";

export interface SearchUrls {
  /** @default https://api.search.brave.com */
  brave?: string;
  /** @default https://api.tavily.com */
  tavily?: string;
}

export interface SearchSettings {
  /** `BRAVE_API_KEY`, `TAVILY_API_KEY`, `SEARXNG_URL` and `TROUPE_SEARCH`. */
  env: Readonly<Record<string, string | undefined>>;
  searchUrls?: SearchUrls;
}

/** The configured search service, or the problem with the configuration. */
export type SearchChoice = { backend: SearchBackend; problem: null } | { backend: null; problem: string };

const fix =
  "set BRAVE_API_KEY (Brave Search), TAVILY_API_KEY (Tavily) or SEARXNG_URL (the URL of your own SearXNG), and restart troupe";

/**
 * Chooses the search service: the one that `TROUPE_SEARCH` names, otherwise the first that is configured.
 *
 * @example
 * chooseSearch({ env: { SEARXNG_URL: "http://127.0.0.1:8888" } }).backend?.name; // "searxng"
 */
export function chooseSearch({ env, searchUrls = {} }: SearchSettings): SearchChoice {
  const requested = env.TROUPE_SEARCH?.trim().toLowerCase() || null;
  const creators = creatorsOf(env, searchUrls);
  if (requested !== null && !Object.hasOwn(creators, requested)) {
    return noSearch(`TROUPE_SEARCH is ${JSON.stringify(requested.slice(0, 40))}; write brave, tavily or searxng`);
  }
  for (const [name, create] of Object.entries(creators)) {
    if (requested !== null && requested !== name) continue;
    const choice = create();
    if (choice !== null) return choice;
  }
  return noSearch(
    requested === null
      ? `no search service is configured: ${fix}`
      : `TROUPE_SEARCH is ${requested}, which is not configured: ${fix}`,
  );
}

/** Each function returns null if its service is not configured. */
function creatorsOf(
  env: SearchSettings["env"],
  { brave: braveUrl = "https://api.search.brave.com", tavily: tavilyUrl = "https://api.tavily.com" }: SearchUrls,
): Record<string, () => SearchChoice | null> {
  const brave = env.BRAVE_API_KEY?.trim();
  const tavily = env.TAVILY_API_KEY?.trim();
  const searxng = env.SEARXNG_URL?.trim();
  return {
    brave: () => (brave ? found(createBrave({ key: brave, base: braveUrl })) : null),
    tavily: () => (tavily ? found(createTavily({ key: tavily, base: tavilyUrl })) : null),
    searxng: () => (searxng ? searxngAt(searxng) : null),
  };
}

function searxngAt(base: string): SearchChoice {
  const protocol = URL.parse(base)?.protocol;
  if (protocol === "http:" || protocol === "https:") return found(createSearxng({ base }));
  return noSearch("SEARXNG_URL is not a URL; write one such as http://127.0.0.1:8888");
}

function found(backend: SearchBackend): SearchChoice {
  return { backend, problem: null };
}

function noSearch(problem: string): SearchChoice {
  return { backend: null, problem };
}
