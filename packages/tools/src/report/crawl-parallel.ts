import { type Clock, RunFailure, type ToolContext } from "@troupe/core";
import { domainBlacklisted, type TraceEvent } from "@troupe/core/internal";
import { defineTool, type Outward, type Tool, type ToolResult } from "@troupe/core/tool";
import { z } from "zod";
import { crawlToolName } from "../files/corpus-order.ts";
import { parseWebUrl } from "../http-client/ssrf-guard.ts";
import { outwardOfUrl, riskOfUrl } from "../web/page-tools.ts";
import type { PageToolDeps } from "../web/read-page.ts";
import { writeConsent } from "../workspace/protected-paths.ts";
import type { CrawlLimits } from "./crawl-limits.ts";
import type { CrawlRuns } from "./crawl-runs.ts";
import type { CrawlSchedule, FetchOutcome } from "./crawl-schedule.ts";
import { type CrawledPage, pageLine } from "./crawled-page.ts";
import { type DomainBlacklist, domainOf, openDomainBlacklist } from "./domain-blacklist.ts";
import { fetchPage } from "./fetch-page.ts";
import { oneLine, type PageFailure } from "./page-failure.ts";
import { formatPageFile, pageFileName, parsePageFile, resultsFolder } from "./page-file.ts";
import { checkMayWrite, writeOutput } from "./workspace-output.ts";

export interface CrawlToolDeps extends PageToolDeps {
  runs: CrawlRuns;
  limits: CrawlLimits;
  memoryFolder: string;
  clock: Clock;
}

const urlField = z.string().min(1).max(8_000);
const urlsMax = 50;

const input = z.strictObject({
  url: urlField.optional().describe("One page. Give url or urls"),
  urls: z.array(urlField).min(1).max(urlsMax).optional().describe("Several pages"),
  retain_images: z.boolean().default(false).describe("Whether to keep links to the images of the articles"),
  session_dir: z.string().min(1).max(4_096).default(".").describe("Folder for the results. Default: the workspace"),
});
type CrawlArguments = z.output<typeof input>;

/**
 * Creates the tool that reads several pages at once and saves their articles as Markdown. It holds the caps of a run by
 * itself: 5 pages at once, 2 batches, 10 successes.
 */
export function createCrawlTool(deps: CrawlToolDeps): Tool {
  const crawl = (args: CrawlArguments, context: ToolContext, isResumed: boolean): Promise<ToolResult> =>
    crawlPages(args, context, deps, isResumed);
  return defineTool({
    name: crawlToolName,
    description:
      "Reads the articles of several web pages at once and saves each as a Markdown file in search_results/. Give url or " +
      "urls. In one run it fetches at most 2 batches of 5 pages and stops at 10 successes. Pages that time out (1234) are " +
      "tried once more, missing pages (1214) are not. Afterwards call save_corpus.",
    input,
    risk: "medium",
    riskOf: (args) => (urlsOf(args).some((url) => riskOfUrl(url) === "high") ? "high" : "medium"),
    outwardOf: (args) => outwardOfAll(urlsOf(args)),
    consent: ({ session_dir }, { workspace }) => writeConsent([fileIn(session_dir, "page.md")], workspace),
    effect: "verifiable",
    groups: ["web"],
    // The journal then has the start of the call: another host finds out that pages may have been fetched.
    plan: async () => [],
    run: (args, context) => crawl(args, context, false),
    verify: async (args, context) => (context.plan === null ? null : crawl(args, context, true)),
  });
}

function urlsOf({ url, urls = [] }: Pick<CrawlArguments, "url" | "urls">): string[] {
  return [...(url === undefined ? [] : [url]), ...urls];
}

/** Several hosts count like any host, because a policy trusts hosts one by one. */
function outwardOfAll(urls: readonly string[]): Outward | null {
  const parts = urls.flatMap((url) => outwardOfUrl(url) ?? []);
  if (parts.length === 0) return null;
  const hosts = new Set(parts.map(({ host }) => host));
  const [host = null] = hosts;
  return {
    host: hosts.size === 1 ? host : null,
    characters: parts.reduce<number | null>((sum, { characters }) => addUp(sum, characters), 0),
  };
}

function addUp(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function fileIn(sessionDir: string, name: string): string {
  const folder = sessionDir === "." ? "" : `${sessionDir.replace(/\/+$/, "")}/`;
  return `${folder}${resultsFolder}/${name}`;
}

async function crawlPages(
  args: CrawlArguments,
  context: ToolContext,
  deps: CrawlToolDeps,
  isResumed: boolean,
): Promise<ToolResult> {
  const { urls, invalid } = readUrls(urlsOf(args));
  if (urls.length + invalid.length === 0) throw refused("give url or urls: there is no page to crawl");
  await checkMayWrite(fileIn(args.session_dir, "page.md"), context);
  const blacklist = await openDomainBlacklist(deps, context);
  const call = new CallOfCrawl(args, context, deps, blacklist);
  await call.loadBlacklist(urls);
  return deps.runs.with(context, { urls, isResumed }, async (schedule) => {
    const pages = await schedule.crawl(urls, {
      call: context.idempotencyKey,
      signal: context.signal,
      fetch: (url, scope) => call.fetch(url, scope),
      skip: (url) => call.skipReason(url),
    });
    // A call that was interrupted may have saved files before.
    for (const page of schedule.pages) if (page.call === context.idempotencyKey) call.noteFile(page);
    return resultOf([...pages, ...invalid], schedule, call, deps.limits);
  });
}

/** Absolute URLs, each once and without its fragment. */
function readUrls(texts: readonly string[]): { urls: string[]; invalid: CrawledPage[] } {
  const urls = new Set<string>();
  const invalid = new Map<string, CrawledPage>();
  for (const text of texts) {
    try {
      const url = parseWebUrl(text);
      url.hash = "";
      urls.add(url.href);
    } catch (error) {
      const url = oneLine(text).replaceAll(" ", "%20");
      const note = error instanceof Error ? oneLine(error.message) : "it is not a URL";
      invalid.set(url, { url, status: "failed", attempts: 0, file: "", note });
    }
  }
  return { urls: [...urls], invalid: [...invalid.values()] };
}

/** One call: it fetches and saves pages, and collects the facts of its result. */
class CallOfCrawl {
  readonly #args: CrawlArguments;
  readonly #context: ToolContext;
  readonly #deps: CrawlToolDeps;
  readonly #blacklist: DomainBlacklist;
  readonly #blacklisted = new Set<string>();
  readonly events: TraceEvent[] = [];
  readonly filesCreated = new Set<string>();
  readonly filesModified = new Set<string>();
  /** Hosts whose text is in the files. */
  readonly hosts = new Set<string>();

  constructor(args: CrawlArguments, context: ToolContext, deps: CrawlToolDeps, blacklist: DomainBlacklist) {
    this.#args = args;
    this.#context = context;
    this.#deps = deps;
    this.#blacklist = blacklist;
  }

  async loadBlacklist(urls: readonly string[]): Promise<void> {
    for (const domain of new Set(urls.map(domainOf))) {
      if (await this.#blacklist.has(domain)) this.#blacklisted.add(domain);
    }
  }

  skipReason(url: string): string | null {
    const domain = domainOf(url);
    return this.#blacklisted.has(domain) ? `${domain} is blacklisted: too many of its pages do not exist` : null;
  }

  async fetch(url: string, { signal, isRetry }: { signal: AbortSignal; isRetry: boolean }): Promise<FetchOutcome> {
    const { session } = this.#context;
    const fetched = await fetchPage(url, this.#deps, {
      session,
      images: this.#args.retain_images,
      fresh: isRetry,
      signal,
    });
    signal.throwIfAborted();
    if ("failure" in fetched) return await this.#failed(url, fetched.failure);
    const { url: finalUrl, status, title, content } = fetched.page;
    const fetchedAt = new Date(this.#deps.clock.now()).toISOString();
    const text = formatPageFile({ url, title: oneLine(title), fetchedAt, status, content });
    const path = fileIn(this.#args.session_dir, pageFileName(url));
    const { real, isNew } = await writeOutput(
      path,
      Buffer.from(text),
      { ...this.#context, signal },
      ({ bytes }) => parsePageFile(bytes.toString())?.url === url,
    );
    (isNew ? this.filesCreated : this.filesModified).add(real);
    this.hosts.add(finalUrl.hostname);
    return { status: "ok", file: real, note: oneLine(title) };
  }

  noteFile({ status, file }: CrawledPage): void {
    if (status === "ok" && !this.filesModified.has(file)) this.filesCreated.add(file);
  }

  async #failed(url: string, { kind, message }: PageFailure): Promise<FetchOutcome> {
    if (kind === "mcp_error") this.#note("crawl_page_skipped", "warn", url, message);
    if (kind === "unreadable") this.#note("crawl_page_unreadable", "debug", url, message);
    if (kind === "1214") {
      const failures = await this.#blacklist.add(url, this.#context.idempotencyKey);
      if (failures !== null) {
        this.#blacklisted.add(domainOf(url));
        this.events.push(domainBlacklisted(domainOf(url), failures));
      }
    }
    return { status: kind, file: "", note: message };
  }

  #note(name: string, level: TraceEvent["level"], url: string, reason: string): void {
    this.events.push({ name, level, fields: { url, reason } });
  }
}

function resultOf(
  pages: readonly CrawledPage[],
  schedule: CrawlSchedule,
  { events, filesCreated, filesModified, hosts }: CallOfCrawl,
  { batchPages, batchesMax, successesMax }: CrawlLimits,
): ToolResult {
  const crawled = pages.filter(({ status }) => status === "ok").length;
  const successes = schedule.pages.filter(({ status }) => status === "ok").length;
  const batches = Math.ceil(schedule.pages.length / batchPages);
  const head =
    `crawled ${crawled}/${pages.length} pages; this run: ${successes} of at most ${successesMax} successes, ` +
    `${batches} of ${batchesMax} batches`;
  const lines = [
    head,
    "- status | url | fetches | file | title or reason",
    ...pages.map(pageLine),
    successes > 0 ? 'Next: save_corpus with from: "search_results", then read_corpus.' : "No article was saved.",
  ];
  return {
    output: lines.join("\n"),
    filesCreated: [...filesCreated],
    filesModified: [...filesModified],
    untrusted: [...new Set([...hosts, ...pages.flatMap(hostOf)])],
    ...(events.length > 0 ? { events: events.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b))) } : {}),
  };
}

/** Pages come back in any order; the result does not depend on it. */
function keyOf({ name, fields }: TraceEvent): string {
  return `${fields.url ?? fields.domain} ${name}`;
}

/** The host of a page whose title or error text is in the result. */
function hostOf({ url, attempts }: CrawledPage): string[] {
  return attempts > 0 ? [URL.parse(url)?.hostname ?? url] : [];
}

function refused(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
