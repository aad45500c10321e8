import type { Clock, ToolContext } from "@troupe/core";
import { type CrawlLedgerOptions, openCrawlLedger } from "./crawl-ledger.ts";
import { type CrawlLimits, pagesMax } from "./crawl-limits.ts";
import { CrawlSchedule } from "./crawl-schedule.ts";

export interface CrawlRuns {
  /** Runs the work of one call with the schedule of its run. */
  with<T>(
    context: Pick<ToolContext, "session" | "run" | "idempotencyKey">,
    call: { urls: readonly string[]; isResumed: boolean },
    work: (schedule: CrawlSchedule) => Promise<T>,
  ): Promise<T>;
}

interface Shared {
  opened: Promise<{ schedule: CrawlSchedule; ledger: Awaited<ReturnType<typeof openCrawlLedger>> }>;
  calls: number;
}

/**
 * The crawls of this process. Calls of one run that are under way at once share a schedule. When the last of them ends, it
 * is forgotten: another host may crawl for the run before the next call.
 */
export function createCrawlRuns(options: CrawlLedgerOptions & { limits: CrawlLimits; clock: Clock }): CrawlRuns {
  const { limits, clock } = options;
  const runs = new Map<string, Shared>();

  const open = async (context: Pick<ToolContext, "session" | "run">) => {
    const ledger = await openCrawlLedger(options, context);
    return { ledger, schedule: new CrawlSchedule({ ledger, limits, clock }) };
  };

  return {
    async with(context, { urls, isResumed }, work) {
      const key = `${context.session}/${context.run}`;
      const shared = runs.get(key) ?? { opened: open(context), calls: 0 };
      runs.set(key, shared);
      shared.calls += 1;
      try {
        const { ledger, schedule } = await shared.opened;
        await ledger.begin(context.idempotencyKey, urls, { isResumed, pagesMax: pagesMax(limits) });
        return await work(schedule);
      } finally {
        shared.calls -= 1;
        if (shared.calls === 0 && runs.get(key) === shared) runs.delete(key);
      }
    },
  };
}
