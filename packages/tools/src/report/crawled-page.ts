import { z } from "zod";
import { failureKinds, oneLine } from "./page-failure.ts";

/** Status of a page of a crawl. A page with one of the last two was not fetched. */
export const pageStatuses = ["ok", ...failureKinds, "blacklisted", "over_cap"] as const;

/** One page in the result of a crawl. */
export const CrawledPage = z.object({
  url: z.string(),
  status: z.enum(pageStatuses),
  /** How often it was fetched in this run. */
  attempts: z.int().nonnegative(),
  /** The Markdown file, relative to the workspace. Empty: there is none. */
  file: z.string(),
  /** The title of the page, or the reason of the failure. */
  note: z.string(),
});
export type CrawledPage = z.infer<typeof CrawledPage>;

const separator = " | ";

/**
 * One line of a crawl's table. The line is also the record of the page in the journal: another host reads it back.
 *
 * @example
 * pageLine({ url: "https://example.org/", status: "ok", attempts: 1, file: "search_results/a.md", note: "A" });
 * // "- ok | https://example.org/ | 1 | search_results/a.md | A"
 */
export function pageLine({ url, status, attempts, file, note }: CrawledPage): string {
  return `- ${[status, url, attempts, file || "-", oneLine(note) || "-"].join(separator)}`;
}

/** Reads the table of a crawl's output. Lines that are not pages are ignored. */
export function pagesIn(output: string): CrawledPage[] {
  return output.split("\n").flatMap((line) => {
    if (!line.startsWith("- ")) return [];
    const [status, url, attempts, file, ...note] = line.slice(2).split(separator);
    const page = {
      status,
      url,
      attempts: Number(attempts),
      file: file === "-" ? "" : file,
      note: note.join(separator),
    };
    const parsed = CrawledPage.safeParse(page);
    return parsed.success ? [parsed.data] : [];
  });
}
