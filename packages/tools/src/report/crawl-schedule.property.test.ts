/**
 * The caps of a crawl hold for every way to ask for pages and every outcome: several calls at once and in turn, pages that
 * are named twice, and a kill in between.
 */

import { createSimulatedClock } from "@troupe/core/memory";
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import type { CrawlLedger, LedgerPage } from "./crawl-ledger.ts";
import { crawlLimits } from "./crawl-limits.ts";
import { type CrawlCall, CrawlSchedule, type FetchOutcome } from "./crawl-schedule.ts";

const outcomes = ["ok", "1234", "1214", "mcp_error", "unreadable", "failed", "hangs"] as const;
type Outcome = (typeof outcomes)[number];

interface Play {
  /** Turns of the run: each is a list of calls, which begin at once. Each call names pages. */
  turns: number[][][];
  /** The outcomes of each page, by its fetches. */
  outcomes: Outcome[][];
  /** The host is killed when this many fetches have begun. */
  killAt: number | null;
}

const plays: fc.Arbitrary<Play> = fc.record({
  turns: fc.array(fc.array(fc.array(fc.nat(19), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  }),
  outcomes: fc.array(fc.array(fc.constantFrom(...outcomes), { minLength: 2, maxLength: 2 }), {
    minLength: 20,
    maxLength: 20,
  }),
  killAt: fc.option(fc.nat(12), { nil: null }),
});

/** Observations of a play, for the laws. */
interface Seen {
  fetches: Map<string, Outcome[]>;
  running: Set<string>;
  /** Of the running ones, the retries. */
  retries: Set<string>;
  /** Broken laws. A fetch that throws would only be a failed page. */
  problems: string[];
  order: string[];
  mostAtOnce: number;
  killed: boolean;
}

/** Plays all turns; after a kill with the ledger as it was stored. */
async function playOut(play: Play): Promise<Seen> {
  const seen: Seen = {
    fetches: new Map(),
    running: new Set(),
    retries: new Set(),
    problems: [],
    order: [],
    mostAtOnce: 0,
    killed: false,
  };
  let stored = new Map<string, LedgerPage>();
  for (let turn = 0; turn < play.turns.length; turn++) {
    const finished = await playTurn(play, turn, seen, stored);
    if (finished) continue;
    // The next host finds the ledger with open fetches, and repeats the calls of this turn.
    seen.killed = true;
    seen.running.clear();
    seen.retries.clear();
    stored = new Map([...stored].map(([url, page]) => [url, page.isOpen ? { ...page, isOpen: false } : page]));
    await playTurn({ ...play, killAt: null }, turn, seen, stored);
  }
  return seen;
}

async function playTurn(play: Play, turn: number, seen: Seen, stored: Map<string, LedgerPage>): Promise<boolean> {
  const clock = createSimulatedClock(0);
  const killed = Promise.withResolvers<false>();
  let isKilled = false;
  const schedule = new CrawlSchedule({ ledger: ledgerOf(stored, () => isKilled), limits: crawlLimits, clock });
  const fetch: CrawlCall["fetch"] = (url, { signal, isRetry }) => {
    if (isKilled) return new Promise(() => {});
    const before = seen.fetches.get(url) ?? [];
    const outcome = play.outcomes[Number(url)]?.[before.length] ?? "ok";
    seen.fetches.set(url, [...before, outcome]);
    seen.order.push(url);
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.running.size + 1);
    seen.running.add(url);
    if (isRetry) seen.retries.add(url);
    checkMoment(seen);
    if (!seen.killed && play.killAt !== null && seen.order.length > play.killAt) {
      isKilled = true;
      killed.resolve(false);
      return new Promise(() => {});
    }
    return settle(url, outcome, signal).finally(() => {
      seen.running.delete(url);
      seen.retries.delete(url);
    });
  };
  const calls = (play.turns[turn] ?? []).map((pages, i) =>
    schedule.crawl([...new Set(pages.map(String))], {
      call: `${turn}/${i}`,
      signal: new AbortController().signal,
      fetch,
      skip: () => null,
    }),
  );
  // Time passes only for pages that hang: any other page is back within its 20 seconds.
  const isStuck = (): boolean => [...seen.running].every((url) => seen.fetches.get(url)?.at(-1) === "hangs");
  const advance = setInterval(() => isStuck() && clock.advance(crawlLimits.batchMs), 0);
  try {
    return await Promise.race([killed.promise, Promise.all(calls).then(() => true)]);
  } finally {
    clearInterval(advance);
  }
}

async function settle(url: string, outcome: Outcome, signal: AbortSignal): Promise<FetchOutcome> {
  if (outcome !== "hangs") {
    await new Promise((resolve) => setImmediate(resolve));
    return { status: outcome, file: outcome === "ok" ? `${url}.md` : "", note: url };
  }
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

function ledgerOf(stored: Map<string, LedgerPage>, isKilled: () => boolean): CrawlLedger {
  const pages = [...stored.values()].sort((a, b) => a.slot - b.slot);
  return {
    pages,
    async put(page) {
      const at = pages.findIndex(({ url }) => url === page.url);
      if (at < 0) pages.push(page);
      else pages[at] = page;
      if (!isKilled()) stored.set(page.url, page);
    },
    begin: async () => {},
  };
}

/** The laws that hold at every moment. */
function checkMoment({ running, retries, problems, ...seen }: Seen): void {
  if (running.size > 5) problems.push(`${running.size} pages at once`);
  if (retries.size > 2) problems.push(`${retries.size} retries at once`);
  if (retries.size > 0 && retries.size < running.size) problems.push("a retry beside a batch");
  if (seen.fetches.size > 10) problems.push(`${seen.fetches.size} pages`);
}

/** The laws that hold at the end. */
function checkEnd({ fetches, killed, problems }: Seen): void {
  expect(problems).toEqual([]);
  expect(fetches.size).toBeLessThanOrEqual(10);
  for (const all of fetches.values()) {
    expect(all.length).toBeLessThanOrEqual(2);
    // After a kill, the outcome of the first fetch may be lost.
    if (all.length === 2 && !killed) expect(["1234", "hangs"]).toContain(all[0]);
  }
  const successes = [...fetches.values()].filter((all) => all.includes("ok"));
  expect(successes.length).toBeLessThanOrEqual(10);
}

test("no run exceeds 5 pages at once, 10 pages, 10 successes, or one retry of a page that timed out", {
  timeout: 120_000,
}, async () => {
  let most = 0;
  let retried = 0;
  let killed = 0;
  await fc.assert(
    fc.asyncProperty(plays, async (play) => {
      const seen = await playOut(play);
      checkEnd(seen);
      most = Math.max(most, seen.mostAtOnce);
      retried += [...seen.fetches.values()].filter((all) => all.length > 1).length;
      killed += seen.killed ? 1 : 0;
    }),
    { numRuns: inject("long") ? 3_000 : 300 },
  );
  // The caps are reached, too: otherwise the laws would say nothing.
  expect(most).toBe(5);
  expect(retried).toBeGreaterThan(0);
  expect(killed).toBeGreaterThan(0);
});
