import type { Ask } from "../../http-client/exchange.ts";

export interface SearchQuery {
  query: string;
  limit: number;
  allowedDomains: readonly string[];
}

export interface SearchHit {
  title: string;
  url: string;
  snippet: string;
  /** As the back end says it; null where it does not. */
  age: string | null;
}

/** A service that searches the web, as its owner set it up. */
export interface SearchBackend {
  name: string;
  /** The variable that it was set up with. */
  variable: string;
  /** Only its origin is ever asked, and nothing is sent on where it redirects. */
  url: URL;
  request(query: SearchQuery): { url: URL; ask: Ask };
  /** Throws where the answer is not what the back end's manual says. */
  hits(body: unknown): SearchHit[];
}
