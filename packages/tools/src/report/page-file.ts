import { createHash } from "node:crypto";

/** A page as a Markdown file: facts in the front matter, then the article. */
export interface PageFile {
  url: string;
  title: string;
  /** ISO time. */
  fetchedAt: string;
  /** HTTP status. */
  status: number;
  content: string;
}

/** The folder of crawled pages within the session's folder. */
export const resultsFolder = "search_results";

const slugLengthMax = 60;

/**
 * The name of a page's file. It depends on the URL only, so that a second fetch replaces the file.
 *
 * @example
 * pageFileName("https://www.example.org/a/b?c=1"); // "example.org-a-b-c-1-5f3a9c02.md"
 */
export function pageFileName(url: string): string {
  const { hostname = "page", pathname = "", search = "" } = URL.parse(url) ?? {};
  const words = `${hostname.replace(/^www\./, "")}${pathname}${search}`.replace(/[^A-Za-z0-9.]+/g, "-");
  const slug = words.slice(0, slugLengthMax).replace(/^[-.]+|[-.]+$/g, "");
  return `${slug || "page"}-${createHash("sha256").update(url).digest("hex").slice(0, 8)}.md`;
}

/** Values are JSON texts, which are YAML too. So no title can add a line to the front matter. */
export function formatPageFile({ url, title, fetchedAt, status, content }: PageFile): string {
  const lines = [
    `url: ${JSON.stringify(url)}`,
    `title: ${JSON.stringify(title)}`,
    `fetched_at: ${JSON.stringify(fetchedAt)}`,
    `status: ${status}`,
  ];
  return `---\n${lines.join("\n")}\n---\n\n${content.trim()}\n`;
}

/** Reads a file that `formatPageFile` wrote. Null for any other file. */
export function parsePageFile(text: string): PageFile | null {
  const parts = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(text);
  if (!parts) return null;
  const [, head = "", body = ""] = parts;
  const facts = new Map(
    head.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), jsonOf(line.slice(colon + 2))] as const;
    }),
  );
  const [url, title, fetchedAt, status] = ["url", "title", "fetched_at", "status"].map((key) => facts.get(key));
  if (typeof url !== "string" || typeof title !== "string" || typeof fetchedAt !== "string") return null;
  if (typeof status !== "number") return null;
  return { url, title, fetchedAt, status, content: body.trim() };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
