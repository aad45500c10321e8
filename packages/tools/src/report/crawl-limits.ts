/** The caps of a crawl. They hold for all calls of a run together, and no argument can change them. */
export interface CrawlLimits {
  /** Pages of a batch. All of them are fetched at once. */
  batchPages: number;
  batchesMax: number;
  successesMax: number;
  /** A batch goes on after this time. Pages that are not back are abandoned. */
  batchMs: number;
  /** Pages that are retried at once. */
  retriesAtOnce: number;
  /** Fetches of one page, the retry included. */
  attemptsMax: number;
}

export const crawlLimits: CrawlLimits = {
  batchPages: 5,
  batchesMax: 2,
  successesMax: 10,
  batchMs: 20_000,
  retriesAtOnce: 2,
  attemptsMax: 2,
};

/** The most pages that a run may fetch. */
export function pagesMax({ batchPages, batchesMax }: CrawlLimits): number {
  return batchPages * batchesMax;
}
