import { type Clock, RunFailure } from "@troupe/core";
import { untilAborted } from "../http-client/deadlines.ts";
import { type CrawlLedger, interruptedNote } from "./crawl-ledger.ts";
import { type CrawlLimits, pagesMax } from "./crawl-limits.ts";
import type { CrawledPage } from "./crawled-page.ts";
import { classifyThrown } from "./page-failure.ts";

/** The outcome of one fetch. */
export type FetchOutcome = Pick<CrawledPage, "file" | "note"> & {
  status: Exclude<CrawledPage["status"], "blacklisted" | "over_cap">;
};

/** One call of the crawl. */
export interface CrawlCall {
  /** Names the call; the same for every try. */
  call: string;
  signal: AbortSignal;
  /** Fetches and stores one page. After its signal aborts, it may store nothing. */
  fetch(url: string, scope: { signal: AbortSignal; isRetry: boolean }): Promise<FetchOutcome>;
  /** Why a page is not fetched. Null: it is fetched. */
  skip(url: string): string | null;
}

interface Job extends CrawlCall {
  url: string;
  resolve(page: CrawledPage): void;
}

/**
 * The crawls of one run. Calls that are under way at once share it, so the caps hold for all of them together:
 *
 * I1 A batch has 5 pages, and a run has 2 batches. The pages of a batch are fetched at once. The next batch begins when
 *    all pages of the batch are back or abandoned, which is after 20 seconds at the latest.
 * I2 After 10 successes no further page is fetched.
 * I3 A page whose fetch timed out (1234) is fetched once more, after all batches, two pages at a time. No other page is
 *    ever fetched twice.
 * I4 A fetch begins only after the ledger has it.
 */
export class CrawlSchedule {
  readonly #ledger: CrawlLedger;
  readonly #limits: CrawlLimits;
  readonly #clock: Clock;
  #waiting: Job[] = [];
  #retries: Job[] = [];
  readonly #active = new Map<string, Promise<CrawledPage>>();
  #fetching = 0;
  #retrying = 0;
  #batch = 0;

  constructor({ ledger, limits, clock }: { ledger: CrawlLedger; limits: CrawlLimits; clock: Clock }) {
    this.#ledger = ledger;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The pages that the run has fetched so far. */
  get pages(): CrawlLedger["pages"] {
    return this.#ledger.pages;
  }

  /** Crawls pages. Resolves with one result for each URL, in their order. Rejects if the call is cancelled. */
  async crawl(urls: readonly string[], call: CrawlCall): Promise<CrawledPage[]> {
    const onAbort = (): void => this.#drop(call);
    call.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const results = urls.map((url) => this.#resultOf(url, call));
      this.#startNext();
      const pages = await Promise.all(results);
      if (call.signal.aborted) throw cancelled();
      return pages;
    } finally {
      call.signal.removeEventListener("abort", onAbort);
    }
  }

  #resultOf(url: string, call: CrawlCall): Promise<CrawledPage> {
    const active = this.#active.get(url);
    if (active) return active;
    const known = this.#pageOf(url);
    const isRetriable = known?.status === "1234" && known.attempts < this.#limits.attemptsMax;
    if (known && !isRetriable) return Promise.resolve(known);
    const { promise, resolve } = Promise.withResolvers<CrawledPage>();
    (known ? this.#retries : this.#waiting).push({ ...call, url, resolve });
    const result = promise.finally(() => this.#active.delete(url));
    this.#active.set(url, result);
    return result;
  }

  #startNext(): void {
    while (this.#mayFetch()) {
      const job = this.#waiting.shift();
      if (!job) break;
      const reason = job.skip(job.url);
      if (reason !== null) job.resolve({ url: job.url, status: "blacklisted", attempts: 0, file: "", note: reason });
      else void this.#fetchFirst(job);
    }
    if (this.#capReached !== null) this.#refuseWaiting(this.#capReached);
    if (this.#waiting.length + this.#fetching > 0) return;
    while (this.#retrying < this.#limits.retriesAtOnce) {
      const job = this.#retries.shift();
      if (!job) return;
      const known = this.#pageOf(job.url);
      if (known && (this.#isFull || job.skip(job.url) !== null)) job.resolve(known);
      else void this.#fetchAgain(job);
    }
  }

  /** Whether the next page may be fetched now (I1, I2). */
  #mayFetch(): boolean {
    if (this.#capReached !== null || this.#retrying > 0) return false;
    return this.#fetching === 0 || this.#nextBatch === this.#batch;
  }

  get #nextBatch(): number {
    return Math.floor(this.pages.length / this.#limits.batchPages);
  }

  get #isFull(): boolean {
    return this.pages.filter(({ status, isOpen }) => status === "ok" && !isOpen).length >= this.#limits.successesMax;
  }

  get #capReached(): string | null {
    const { successesMax, batchesMax, batchPages } = this.#limits;
    if (this.#isFull) return `this run has ${successesMax} pages, which is the maximum`;
    if (this.pages.length < pagesMax(this.#limits)) return null;
    return `this run has used its ${batchesMax} batches of ${batchPages} pages`;
  }

  #refuseWaiting(note: string): void {
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { url, resolve } of refused) resolve({ url, status: "over_cap", attempts: 0, file: "", note });
  }

  async #fetchFirst(job: Job): Promise<void> {
    this.#batch = this.#nextBatch;
    this.#fetching += 1;
    const page = await this.#fetch(job, this.pages.length);
    this.#fetching -= 1;
    if (page.status === "1234" && !job.signal.aborted) this.#retries.push(job);
    else job.resolve(page);
    this.#startNext();
  }

  async #fetchAgain(job: Job): Promise<void> {
    this.#retrying += 1;
    const page = await this.#fetch(job, this.#pageOf(job.url)?.slot ?? this.pages.length);
    this.#retrying -= 1;
    job.resolve(page);
    this.#startNext();
  }

  /** Fetches a page and stores its outcome. Never rejects. */
  async #fetch(job: Job, slot: number): Promise<CrawledPage> {
    const { url, call } = job;
    const attempts = (this.#pageOf(url)?.attempts ?? 0) + 1;
    const abandon = new AbortController();
    const onCancel = (): void => abandon.abort(cancelled());
    job.signal.addEventListener("abort", onCancel, { once: true });
    const stopTimer = this.#clock.after(this.#limits.batchMs, () => abandon.abort(this.#late()));
    const open = { url, call, slot, attempts, status: "1234", file: "", note: interruptedNote, isOpen: true } as const;
    try {
      await this.#ledger.put(open);
      const outcome = await untilAborted(this.#attempt(job, abandon.signal, attempts > 1), abandon.signal);
      const page = { ...open, ...outcome, isOpen: false };
      await this.#ledger.put(page);
      return page;
    } catch (thrown) {
      const { kind, message } = classifyThrown(thrown);
      const page = { ...open, status: job.signal.aborted ? "1234" : kind, note: message, isOpen: false } as const;
      await this.#ledger.put(page).catch(() => {});
      return page;
    } finally {
      stopTimer();
      job.signal.removeEventListener("abort", onCancel);
    }
  }

  async #attempt({ url, fetch }: Job, signal: AbortSignal, isRetry: boolean): Promise<FetchOutcome> {
    signal.throwIfAborted();
    return fetch(url, { signal, isRetry });
  }

  #late(): RunFailure {
    const message = `the page was not there after ${this.#limits.batchMs} ms`;
    return new RunFailure({ type: "timeout", message, recoverable: true });
  }

  /** A cancelled call fetches nothing more. */
  #drop({ call }: CrawlCall): void {
    const dropped = [...this.#waiting, ...this.#retries].filter((job) => job.call === call);
    this.#waiting = this.#waiting.filter((job) => job.call !== call);
    this.#retries = this.#retries.filter((job) => job.call !== call);
    for (const { url, resolve } of dropped) {
      resolve({ url, status: "over_cap", attempts: 0, file: "", note: "cancelled" });
    }
  }

  #pageOf(url: string) {
    return this.pages.find((page) => page.url === url);
  }
}

function cancelled(): RunFailure {
  return new RunFailure({ type: "cancelled", message: "the crawl was cancelled", recoverable: false });
}
