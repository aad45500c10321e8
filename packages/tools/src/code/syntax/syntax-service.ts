import { createHash } from "node:crypto";
import { RunFailure } from "@troupe/core";
import { connectParserThread, type ParserThread } from "./parser-thread-client.ts";
import type { SyntaxQuery, SyntaxResult, SyntaxResults, Unparsed } from "./queries.ts";

/** Parses source files in a separate thread, so that a hostile file blocks neither the event loop nor other files. */
export interface SyntaxService {
  /** Throws a `RunFailure` when the query is cancelled or the parser cannot start, and `MISSING_PACKAGE` without the parser. */
  query<Q extends SyntaxQuery>(
    source: SourceText,
    query: Q,
    signal: AbortSignal,
  ): Promise<SyntaxResults[Q["kind"]] | Unparsed>;
  /** Ends the thread. The next query starts a new one. */
  close(): Promise<void>;
}

export interface SourceText {
  /** An id from `languages`. */
  language: string;
  bytes: Uint8Array;
}

export interface SyntaxServiceOptions {
  /** The thread ends after this time without a query. @default 30,000 */
  idleMs?: number;
  /** Time limit for one file. @default 10,000 */
  fileTimeoutMs?: number;
  /** Module that the thread runs. @default the parser */
  threadUrl?: URL;
}

interface PendingQuery {
  source: SourceText;
  query: SyntaxQuery;
  signal: AbortSignal;
  resolve(result: SyntaxResult | Unparsed): void;
  reject(error: unknown): void;
}

/** Larger files are generated. They are not parsed. */
export const sourceBytesMax = 1024 * 1024;

/**
 * Creates a syntax service. The thread starts at the first query and ends when it is idle. An idle thread does not keep
 * the process alive.
 *
 * @example
 * const syntax = createSyntaxService();
 * const outline = await syntax.query({ language: "python", bytes }, { kind: "outline" }, signal);
 */
export function createSyntaxService(options: SyntaxServiceOptions = {}): SyntaxService {
  const { idleMs = 30_000, fileTimeoutMs = 10_000, threadUrl } = options;
  const cache = createResultCache();
  const queue: PendingQuery[] = [];
  let thread: Promise<ParserThread> | null = null;
  let isWorking = false;
  let idleTimer: NodeJS.Timeout | undefined;

  const close = async (): Promise<void> => {
    const ending = thread;
    thread = null;
    await (await ending?.catch(() => null))?.end();
  };

  const parse = async ({ source, query, signal }: PendingQuery): Promise<SyntaxResult | Unparsed> => {
    if (signal.aborted) throw cancelled();
    thread ??= connectParserThread(threadUrl).catch((error) => {
      thread = null;
      throw error;
    });
    const connected = await thread;
    const request = { language: source.language, bytes: new Uint8Array(source.bytes), query };
    const result = await connected.parse(request, fileTimeoutMs);
    if (connected.hasEnded()) thread = null;
    return result;
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    clearTimeout(idleTimer);
    for (let next = queue.shift(); next; next = queue.shift()) {
      try {
        next.resolve(await parse(next));
      } catch (error) {
        next.reject(error);
      }
    }
    isWorking = false;
    idleTimer = setTimeout(() => void close(), idleMs).unref();
  };

  return {
    async query<Q extends SyntaxQuery>(source: SourceText, query: Q, signal: AbortSignal) {
      if (signal.aborted) throw cancelled();
      if (source.bytes.byteLength > sourceBytesMax) return tooLarge(source.bytes.byteLength);
      const key = keyOf(source, query);
      const cached = cache.get(key);
      if (cached) return cached as SyntaxResults[Q["kind"]] | Unparsed;
      const result = await orCancelled(
        signal,
        new Promise<SyntaxResult | Unparsed>((resolve, reject) => {
          queue.push({ source, query, signal, resolve, reject });
          void work();
        }),
      );
      cache.set(key, result);
      return result as SyntaxResults[Q["kind"]] | Unparsed;
    },
    close,
  };
}

/** Rejects at once when the signal aborts, without waiting for the file that is being parsed. */
async function orCancelled<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(cancelled());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, stop.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    promise.catch(() => {});
  }
}

function keyOf({ language, bytes }: SourceText, query: SyntaxQuery): string {
  const text = query.kind === "occurrences" ? `occurrences ${query.name}` : query.kind;
  return `${createHash("sha256").update(bytes).digest("base64url")} ${language} ${text}`;
}

function tooLarge(bytes: number): Unparsed {
  return { problem: `its ${bytes} bytes are over the limit of ${sourceBytesMax}` };
}

function cancelled(): RunFailure {
  return new RunFailure({ type: "cancelled", message: "cancelled while source files were parsed", recoverable: false });
}

/** Limit of the cache, in definitions, names and occurrences of about 200 bytes each. */
const cacheWeightMax = 200_000;

/** Caches results by content and query. It evicts the result that was used least recently. */
function createResultCache() {
  const results = new Map<string, SyntaxResult | Unparsed>();
  let weight = 0;
  return {
    get(key: string): SyntaxResult | Unparsed | null {
      const result = results.get(key);
      if (!result) return null;
      results.delete(key);
      results.set(key, result);
      return result;
    },
    set(key: string, result: SyntaxResult | Unparsed): void {
      if (results.has(key)) return;
      results.set(key, result);
      weight += weightOf(result);
      for (const [oldest, evicted] of results) {
        if (weight <= cacheWeightMax) break;
        results.delete(oldest);
        weight -= weightOf(evicted);
      }
    },
  };
}

function weightOf(result: SyntaxResult | Unparsed): number {
  if ("problem" in result) return 1;
  if ("occurrences" in result) return 1 + result.occurrences.length;
  return 1 + result.definitions.length + result.imports.length + result.exports.length;
}
