import { type Clock, RunFailure } from "@troupe/core";
import { z } from "zod";
import type { ToolResult } from "../define-tool.ts";
import type { WebAnswer } from "../http-client/http-client.ts";
import type { PageSource } from "../http-client/page-fetcher.ts";
import { type ContentKind, contentKind } from "../page-reader/content-type.ts";
import { decodeText } from "../page-reader/decode-text.ts";
import type { PageContent, PageJob } from "../page-reader/page-job.ts";
import type { PageReader } from "../page-reader/page-reader.ts";
import { httpError } from "./http-error.ts";
import { partOf, type ShownPage } from "./shown-page.ts";

export interface PageToolParts {
  pages: PageSource;
  reader: PageReader;
  clock: Clock;
}

/** What is wanted of a page. */
export interface PageRequest {
  url: string;
  from: number;
  length: number;
  /** Of HTML; `source`: as it came. */
  want: PageJob["want"] | "source";
  images: boolean;
}

/** A part of a page has at most so many characters, each of up to four bytes. */
const partLengthMax = 60_000;
export const partBytesMax = 4 * partLengthMax + 8_192;

/** Longer JSON is shown as it came. */
const prettyLengthMax = 1_000_000;

/** How much of a page that is no success is shown. */
const excerptLength = 1_000;

/** URL and part, as every tool that reads pages takes them. */
export const pageInput = {
  url: z.string().min(1).max(8_000).describe("The whole URL, with http:// or https://"),
  from: z.int().min(0).default(0).describe("First character to show of a long page, as the part before it says"),
  length: z.int().min(1).max(partLengthMax).default(20_000).describe("How many characters to show"),
};

/** One part of one page, in words for a model. Throws a `RunFailure` for what cannot be had or is no text. */
export async function readPage(
  wish: PageRequest,
  { pages, reader, clock }: PageToolParts,
  { session, signal }: { session: string; signal: AbortSignal },
): Promise<ToolResult> {
  const answer = await pages.get(wish.url, { session, signal });
  const kind = contentKind(answer.headers["content-type"], answer.body);
  const error = httpError(answer, clock.now());
  if (kind.kind === "binary" && !error) throw notText(answer, kind);
  const page = await contentOf(answer, kind, wish, reader, signal);
  const shown: ShownPage = { facts: factsOf(wish.url, answer, kind, page.charset), ...page };
  if (!error) return { output: partOf(shown, wish) };
  return {
    output: partOf({ ...shown, text: page.text.slice(0, excerptLength) }, { from: 0, length: excerptLength }),
    error,
  };
}

interface Content extends Pick<ShownPage, "about" | "text"> {
  charset: string | null;
}

async function contentOf(
  { url, body }: WebAnswer,
  { kind, charset }: ContentKind,
  { want, images }: PageRequest,
  reader: PageReader,
  signal: AbortSignal,
): Promise<Content> {
  if (kind === "empty" || kind === "binary") return { about: {}, text: "", charset: null };
  if (kind === "html" && want !== "source") {
    const page = await reader.read({ bytes: body, charset, url: url.href, want, images }, signal);
    return { about: aboutPage(page, want), text: page.content, charset: page.charset };
  }
  const decoded = decodeText(body, charset);
  return {
    about: {},
    text: kind === "json" && want === "page" ? pretty(decoded.text) : decoded.text,
    charset: decoded.charset,
  };
}

function aboutPage({ title, author, published, site, words, note }: PageContent, want: PageJob["want"]) {
  return { title, author, published, site, words: want === "article" ? words : null, note };
}

/** A large one stays as it is: this is the main thread. */
function pretty(json: string): string {
  if (json.length > prettyLengthMax) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** Where a page came from and what it is. */
function factsOf(
  asked: string,
  { url, status }: WebAnswer,
  kind: ContentKind,
  charset: string | null,
): ShownPage["facts"] {
  const said = kind.insteadOf === null ? "" : ` (its server says ${kind.insteadOf})`;
  return {
    url: url.href,
    "redirected from": isSame(asked, url) ? null : asked,
    status,
    type: `${kind.is}${charset && charset !== "utf-8" ? `, ${charset}` : ""}${said}`,
  };
}

function isSame(asked: string, url: URL): boolean {
  return URL.parse(asked.trim())?.href.replace(/#.*$/, "") === url.href.replace(/#.*$/, "");
}

/** What cannot be read as text is named, with its size. */
function notText({ url, body }: WebAnswer, { is, insteadOf }: ContentKind): RunFailure {
  const said = insteadOf === null ? "" : `, although its server says ${insteadOf}`;
  const hint =
    is === "a PDF document" ? "PDF is not read here; look for an HTML version of it" : "only text can be read";
  return new RunFailure({
    type: "params",
    message: `${url.href} is ${is} of ${body.length} bytes${said}: ${hint}`,
    recoverable: false,
  });
}
