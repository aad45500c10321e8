import type { Clock, Journal } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type { Tool } from "@troupe/core/tool";
import { createPageToolDeps, type WebToolOptions } from "../web/create-web-tools.ts";
import type { PageToolDeps } from "../web/read-page.ts";
import { createReadCorpusTool, createSaveCorpusTool } from "./corpus-tools.ts";
import { crawlLimits as limits } from "./crawl-limits.ts";
import { createCrawlTool } from "./crawl-parallel.ts";
import { createCrawlRuns } from "./crawl-runs.ts";

export interface ReportToolOptions extends Pick<WebToolOptions, "web" | "httpClient"> {
  /** Has the pages that a run has crawled. */
  journal: Pick<Journal, "readRun">;
  /** Folder of the crawled pages of runs, and of the domains whose pages are missing. */
  memoryFolder: string;
  /** Shares the cache of pages with the web tools. @default a cache of its own */
  pages?: PageToolDeps;
  /** @default systemClock() */
  clock?: Clock;
}

/**
 * Creates the tools of the report expert: crawl_parallel, save_corpus and read_corpus. It writes its report with
 * `write_local_file`.
 *
 * @example
 * const tools = createReportTools({ web: defaultPolicy.web, journal, memoryFolder: "/tmp/memory" });
 */
export function createReportTools(options: ReportToolOptions): Tool[] {
  const { journal, memoryFolder, clock = systemClock() } = options;
  const pages = options.pages ?? createPageToolDeps(options);
  const runs = createCrawlRuns({ memoryFolder, journal, limits, clock });
  return [
    createCrawlTool({ ...pages, clock, runs, limits, memoryFolder }),
    createSaveCorpusTool({ journal, clock }),
    createReadCorpusTool(),
  ];
}
