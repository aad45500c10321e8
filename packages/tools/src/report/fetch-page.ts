import type { HttpResponse } from "../http-client/http-client.ts";
import { sniffContentType } from "../page-reader/content-type.ts";
import { decodeText } from "../page-reader/decode-text.ts";
import type { PageToolDeps } from "../web/read-page.ts";
import { classifyPageText, classifyStatus, classifyThrown, type PageFailure } from "./page-failure.ts";

/** The article of one page. */
export interface FetchedPage {
  /** The URL after all redirects. */
  url: URL;
  status: number;
  title: string;
  content: string;
}

export type PageFetch = { page: FetchedPage } | { failure: PageFailure };

export interface PageFetchScope {
  session: string;
  images: boolean;
  /** Whether the page is fetched although the cache has it: a page reader can answer an error with status 200. */
  fresh: boolean;
  signal: AbortSignal;
}

type PageParts = Pick<PageToolDeps, "fetcher" | "reader">;

/** Fetches a page and extracts its article. Every failure is a result with its kind. It rejects only if its signal aborts. */
export async function fetchPage(url: string, parts: PageParts, scope: PageFetchScope): Promise<PageFetch> {
  try {
    const response = await parts.fetcher.fetch(url, scope);
    const failure = classifyStatus(response.status);
    return failure ? { failure } : await extract(response, parts, scope);
  } catch (thrown) {
    if (scope.signal.aborted) throw scope.signal.reason;
    return { failure: classifyThrown(thrown) };
  }
}

async function extract(
  { url, status, body, headers }: HttpResponse,
  { reader }: PageParts,
  { images, signal }: PageFetchScope,
): Promise<PageFetch> {
  const { kind, charset, description } = sniffContentType(headers["content-type"], body);
  if (kind === "binary") return { failure: { kind: "failed", message: `it is ${description}` } };
  const decoded = decodeText(body, charset).text;
  // An error answer of a page reader is recognised by its bytes, before any extraction changes them.
  const failure = classifyPageText(decoded, { isJson: kind === "json" });
  if (failure) return { failure };
  if (decoded.trim() === "") return { failure: { kind: "failed", message: "the page has no text" } };
  if (kind !== "html") return { page: { url, status, title: url.href, content: decoded } };
  try {
    const read = await reader.read({ bytes: body, charset, url: url.href, mode: "article", images }, signal);
    return { page: { url, status, title: read.title ?? url.href, content: read.content } };
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return { failure: { kind: "unreadable", message: classifyThrown(thrown).message } };
  }
}
