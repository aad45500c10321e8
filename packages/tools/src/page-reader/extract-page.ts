import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";
import { decodeText } from "./decode-text.ts";
import { htmlToText } from "./html-to-text.ts";
import type { PageContent, PageJob } from "./page-job.ts";
import { settleLinks } from "./settle-links.ts";
import { tooDeep } from "./tree-depth.ts";

/** More of a page is not kept: who reads it would not get there. */
const contentLengthMax = 2_000_000;

type Document = ReturnType<typeof parseHTML>["document"];

/**
 * A page as Markdown. Scripts of the page are never run and nothing is fetched: the parser does neither, and the
 * extractors for known sites, which would, are told not to. Synchronous for as long as the page takes: for a thread of its
 * own.
 */
export async function extractPage(job: PageJob): Promise<PageContent> {
  const { text: html, charset } = decodeText(job.bytes, job.charset);
  if (job.want === "text") return asText(html, charset, null);
  const { document } = parseHTML(html);
  if (document.documentElement === null) return asText(html, charset, null);
  if (tooDeep(document.documentElement))
    return asText(html, charset, "its elements are nested too deeply to be read as a tree");
  settleLinks(document, job.url);
  const page = await read(document, job);
  if (page.content.trim() === "") {
    const note = job.want === "article" ? "no article was found on the page: this is all of its text" : null;
    return { ...page, ...asText(html, charset, note), ...titled(page) };
  }
  return { ...page, content: page.content.slice(0, contentLengthMax), charset };
}

function titled({ title, author, published, site, language }: PageContent) {
  return { title, author, published, site, language };
}

async function read(document: Document, { url, want, images }: PageJob): Promise<PageContent> {
  const whole = {
    contentSelector: "body",
    removeExactSelectors: false,
    removePartialSelectors: false,
    removeLowScoring: false,
    removeContentPatterns: false,
  };
  const found = await Defuddle(document as never, url, {
    markdown: true,
    useAsync: false,
    fetch: () => Promise.reject(new Error("nothing is fetched while a page is read")),
    removeImages: !images,
    includeReplies: false,
    ...(want === "page" && whole),
  });
  return {
    title: line(found.title),
    author: line(found.author),
    published: line(found.published),
    site: line(found.site),
    language: line(found.language),
    content: found.content,
    form: "markdown",
    words: found.wordCount,
    charset: "",
    note: null,
  };
}

function asText(html: string, charset: string, note: string | null): PageContent {
  const content = htmlToText(html).slice(0, contentLengthMax);
  const [, title] = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html.slice(0, 100_000)) ?? [];
  const nothing = { author: null, published: null, site: null, language: null };
  return { title: line(title), ...nothing, content, form: "text", words: countWords(content), charset, note };
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** A page may write whatever it likes where its title should be: one line of it is shown. */
function line(text: string | undefined): string | null {
  return text?.replace(/\s+/g, " ").trim().slice(0, 300) || null;
}
