import { loadOptional } from "@troupe/core/internal";
import { decodeText } from "./decode-text.ts";
import { htmlToText } from "./html-to-text.ts";

/** `article`: the main content. `page`: everything visible. `text`: everything visible, without formatting. */
export type ExtractMode = "article" | "page" | "text";

export interface ExtractInput {
  bytes: Uint8Array;
  /** From the HTTP header. */
  charset: string | null;
  /** The base of relative links. */
  url: string;
  mode: ExtractMode;
  images: boolean;
}

export interface ExtractedPage {
  title: string | null;
  author: string | null;
  /** In the format of the page. */
  published: string | null;
  site: string | null;
  language: string | null;
  content: string;
  format: "markdown" | "text";
  wordCount: number;
  charset: string;
  /** Tells the reader how the content differs from the requested one; null if it does not. */
  note: string | null;
}

type Libraries = Awaited<ReturnType<typeof loadLibraries>>;
type Document = ReturnType<Libraries["parseHTML"]>["document"];
type Element = NonNullable<ReturnType<Document["querySelector"]>>;

const contentLengthMax = 2_000_000;

/** Extraction time grows with the square of the depth. No page for human readers is deeper. */
const depthMax = 200;

/**
 * Extracts the content of an HTML page as Markdown. It runs no script of the page and fetches nothing: the parser cannot,
 * and Defuddle's extractors for known sites are told not to. It blocks its thread, so call it in the extract process.
 * Throws `MISSING_PACKAGE` if the libraries are not installed, except for the mode `text`.
 */
export async function extractPage(input: ExtractInput): Promise<ExtractedPage> {
  const { text: html, charset } = decodeText(input.bytes, input.charset);
  if (input.mode === "text") return asText(html, charset, null);
  const libraries = await loadLibraries();
  const { document } = libraries.parseHTML(html);
  if (document.documentElement === null) return asText(html, charset, null);
  if (isTooDeep(document.documentElement)) {
    return asText(html, charset, "shown as plain text: its elements are nested too deeply");
  }
  resolveLinks(document, input.url);
  const page = await extractWithDefuddle(libraries, document, input);
  if (page.content.trim() === "") {
    const note = input.mode === "article" ? "no article was found on the page: this is its whole text" : null;
    const { title, author, published, site, language } = page;
    return { ...asText(html, charset, note), title, author, published, site, language };
  }
  return { ...page, content: page.content.slice(0, contentLengthMax), charset };
}

/** The plain text of a page needs none of them. */
async function loadLibraries() {
  return await loadOptional("defuddle@0.19 linkedom@0.18.12", async () => {
    const [{ Defuddle }, { parseHTML }] = await Promise.all([import("defuddle/node"), import("linkedom")]);
    return { Defuddle, parseHTML };
  });
}

async function extractWithDefuddle(
  { Defuddle }: Libraries,
  document: Document,
  { url, mode, images }: ExtractInput,
): Promise<ExtractedPage> {
  const wholePage = {
    contentSelector: "body",
    removeExactSelectors: false,
    removePartialSelectors: false,
    removeLowScoring: false,
    removeContentPatterns: false,
  };
  const result = await Defuddle(document as never, url, {
    markdown: true,
    useAsync: false,
    fetch: () => Promise.reject(new Error("extraction must not fetch")),
    removeImages: !images,
    includeReplies: false,
    ...(mode === "page" && wholePage),
  });
  return {
    title: oneLine(result.title),
    author: oneLine(result.author),
    published: oneLine(result.published),
    site: oneLine(result.site),
    language: oneLine(result.language),
    content: result.content,
    format: "markdown",
    wordCount: result.wordCount,
    charset: "",
    note: null,
  };
}

function asText(html: string, charset: string, note: string | null): ExtractedPage {
  const content = htmlToText(html).slice(0, contentLengthMax);
  const [, title] = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html.slice(0, 100_000)) ?? [];
  const unknown = { author: null, published: null, site: null, language: null };
  const wordCount = content.match(/\S+/g)?.length ?? 0;
  return { title: oneLine(title), ...unknown, content, format: "text", wordCount, charset, note };
}

/** Prevents that a page fakes lines of the tool output in its metadata. */
function oneLine(text: string | undefined): string | null {
  return text?.replace(/\s+/g, " ").trim().slice(0, 300) || null;
}

/**
 * Makes the links and images of a page absolute. Removes URLs that run code (`javascript:`), embed content (`data:`) or
 * use any other protocol than http, https and mailto. A `<base>` counts if it is a web address, as in browsers.
 */
function resolveLinks(document: Document, pageUrl: string): void {
  const base = baseUrlOf(document, pageUrl);
  for (const element of document.querySelectorAll("base, [href], [src], [srcset]")) {
    if (element.localName === "base") {
      element.remove();
      continue;
    }
    // Without srcset, Defuddle uses the image of src.
    element.removeAttribute("srcset");
    for (const name of ["href", "src"]) resolveLink(element, name, base);
  }
}

function baseUrlOf(document: Document, pageUrl: string): string {
  const href = document.querySelector("base[href]")?.getAttribute("href");
  const base = href ? URL.parse(href.trim(), pageUrl) : null;
  return base && isWebUrl(base) ? base.href : pageUrl;
}

function resolveLink(element: Element, name: string, base: string): void {
  const value = element.getAttribute(name);
  if (value === null) return;
  const url = URL.parse(value.trim(), base);
  const isAllowed = url && (isWebUrl(url) || (name === "href" && url.protocol === "mailto:"));
  if (!isAllowed) element.removeAttribute(name);
  else if (!value.trim().startsWith("#")) element.setAttribute(name, url.href);
}

function isWebUrl({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}

interface TreeNode {
  readonly firstChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
  readonly parentNode: TreeNode | null;
}

/** Walks the tree without recursion, so that a deep tree cannot overflow the stack. */
function isTooDeep(root: TreeNode): boolean {
  let depth = 0;
  for (let node: TreeNode | null = root; node; ) {
    if (node.firstChild) {
      depth += 1;
      if (depth > depthMax) return true;
      node = node.firstChild;
      continue;
    }
    while (node && node !== root && !node.nextSibling) {
      node = node.parentNode;
      depth -= 1;
    }
    node = node === root ? null : (node?.nextSibling ?? null);
  }
  return false;
}
