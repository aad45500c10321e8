import type { Entry, Journal, ToolContext } from "@troupe/core";
import { canonicalToolName, openEntry } from "@troupe/core/internal";
import { z } from "zod";
import { crawlToolName } from "../files/corpus-order.ts";
import { openMemoryFiles } from "../memory/memory-files.ts";
import { CrawledPage, pagesIn } from "./crawled-page.ts";

/** A page that the run has begun to fetch. */
const LedgerPage = CrawledPage.extend({
  /** The call that began it. */
  call: z.string(),
  /** Position among the pages of the run, from 0. It determines the batch. */
  slot: z.int().nonnegative(),
  /** A fetch began and has no outcome yet. */
  isOpen: z.boolean(),
});
export type LedgerPage = z.infer<typeof LedgerPage>;

const LedgerCall = z.object({ call: z.string() });

/** The pages that a run has fetched, in the order of their slots. */
export interface CrawlLedger {
  pages: readonly LedgerPage[];
  /** Stores a page. A fetch begins only after its page is stored as open. The page is in `pages` at once. */
  put(page: LedgerPage): Promise<void>;
  /**
   * Begins a call.
   *
   * @param isResumed whether an earlier host may have begun the call
   */
  begin(call: string, urls: readonly string[], options: { isResumed: boolean; pagesMax: number }): Promise<void>;
}

export interface CrawlLedgerOptions {
  memoryFolder: string;
  journal: Pick<Journal, "readRun">;
}

/**
 * Opens the ledger of a run while no call of it is fetching. It is a folder of the home, which agents cannot write, so the
 * caps hold after a kill. On another host, the journal tells the pages of earlier calls. A call that another host began
 * may have fetched all of its pages, so each of them counts as fetched once.
 */
export async function openCrawlLedger(
  { memoryFolder, journal }: CrawlLedgerOptions,
  { session, run }: Pick<ToolContext, "session" | "run">,
): Promise<CrawlLedger> {
  const files = openMemoryFiles(memoryFolder, LedgerPage);
  const calls = openMemoryFiles(memoryFolder, LedgerCall);
  const pageFolder = ["crawl", session, run, "pages"];
  const callFolder = ["crawl", session, run, "calls"];
  const pages = (await files.all(pageFolder)).map(closed).sort((a, b) => a.slot - b.slot);

  const put = async (page: LedgerPage): Promise<void> => {
    const at = pages.findIndex(({ url }) => url === page.url);
    if (at < 0) pages.push(page);
    else pages[at] = page;
    await files.put(pageFolder, page.url, page);
  };
  const add = async (page: CrawledPage, call: string): Promise<void> => {
    if (pages.some(({ url }) => url === page.url)) return;
    await put({ ...page, call, slot: pages.length, isOpen: false });
  };

  const texts = await journal.readRun(session, run);
  const entries = texts.filter((text) => text.includes('"tool.finished"')).map(openEntry);
  for (const page of entries.flatMap(fetchedIn)) await add(page, "");
  return {
    pages,
    put,
    async begin(call, urls, { isResumed, pagesMax }) {
      const isKnown = (await calls.get(callFolder, call)) !== null;
      if (isResumed && !isKnown) {
        const unknown = urls.filter((url) => !pages.some((page) => page.url === url));
        for (const url of unknown.slice(0, Math.max(0, pagesMax - pages.length))) {
          await add({ url, status: "1234", attempts: 1, file: "", note: interruptedNote }, call);
        }
      }
      if (!isKnown) await calls.put(callFolder, call, { call });
    },
  };
}

/** A fetch without an outcome counts as a timeout. Its retry is left. */
function closed(page: LedgerPage): LedgerPage {
  return page.isOpen ? { ...page, isOpen: false, status: "1234", file: "", note: interruptedNote } : page;
}

export const interruptedNote = "the fetch was interrupted";

/** The pages that a finished crawl has fetched. */
export function fetchedIn(entry: Entry): CrawledPage[] {
  if (entry.kind !== "tool.finished" || canonicalToolName(entry.tool) !== crawlToolName) return [];
  return pagesIn(entry.outcome.output).filter(({ attempts }) => attempts > 0);
}
