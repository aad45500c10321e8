import { createHash } from "node:crypto";
import { RunFailure } from "@troupe/core";
import { createAnswerCache } from "./answer-cache.ts";
import { connectToThread, type SyntaxThread } from "./parser-thread-client.ts";
import type { Answers, Question, Unparsed } from "./queries.ts";

/** Understands source files, without keeping the event loop busy and without being taken down by any of them. */
export interface SyntaxService {
  /** Throws a `RunFailure` when it is cancelled, and when the parser cannot be started. */
  ask<Q extends Question>(file: SourceFile, question: Q, signal: AbortSignal): Promise<Answers[Q["kind"]] | Unparsed>;
  /** Ends the thread; another question starts it again. */
  close(): Promise<void>;
}

export interface SourceFile {
  /** Of `languages`. */
  language: string;
  bytes: Uint8Array;
}

export interface SyntaxServiceOptions {
  /** After this time without a question the thread ends. @default 30,000 */
  idleMs?: number;
  /** What one file may take, all told. @default 10,000 */
  fileTimeoutMs?: number;
  /** What the thread runs. @default the parser */
  threadUrl?: URL;
}

interface Waiting {
  file: SourceFile;
  question: Question;
  signal: AbortSignal;
  resolve(answer: Answers[keyof Answers] | Unparsed): void;
  reject(error: unknown): void;
}

/** Files that nobody writes by hand are not parsed. */
export const sourceBytesMax = 1024 * 1024;

/**
 * Starts its thread at the first question, and ends it when there was none for a while. Nothing of it keeps a process
 * alive that has no question open.
 *
 * @example
 * const syntax = createSyntaxService();
 * const outline = await syntax.ask({ language: "python", bytes }, { kind: "outline" }, signal);
 */
export function createSyntaxService(options: SyntaxServiceOptions = {}): SyntaxService {
  const { idleMs = 30_000, fileTimeoutMs = 10_000, threadUrl } = options;
  const cache = createAnswerCache();
  const queue: Waiting[] = [];
  let thread: Promise<SyntaxThread> | null = null;
  let isWorking = false;
  let idleTimer: NodeJS.Timeout | undefined;

  const close = async (): Promise<void> => {
    const ending = thread;
    thread = null;
    await (await ending?.catch(() => null))?.end();
  };

  const answer = async ({ file, question, signal }: Waiting): Promise<Answers[keyof Answers] | Unparsed> => {
    if (signal.aborted) throw cancelled();
    thread ??= connectToThread(threadUrl).catch((error) => {
      thread = null;
      throw error;
    });
    const connected = await thread;
    const found = await connected.ask(
      { language: file.language, bytes: new Uint8Array(file.bytes), question },
      fileTimeoutMs,
    );
    if (connected.ended()) thread = null;
    return found;
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    clearTimeout(idleTimer);
    for (let next = queue.shift(); next; next = queue.shift()) {
      try {
        next.resolve(await answer(next));
      } catch (error) {
        next.reject(error);
      }
    }
    isWorking = false;
    idleTimer = setTimeout(() => void close(), idleMs).unref();
  };

  return {
    async ask<Q extends Question>(file: SourceFile, question: Q, signal: AbortSignal) {
      if (signal.aborted) throw cancelled();
      if (file.bytes.byteLength > sourceBytesMax) return tooLarge(file.bytes.byteLength);
      const key = keyOf(file, question);
      const known = cache.get(key);
      if (known) return known as Answers[Q["kind"]] | Unparsed;
      const found = await orCancelled(
        signal,
        new Promise<Answers[keyof Answers] | Unparsed>((resolve, reject) => {
          queue.push({ file, question, signal, resolve, reject });
          void work();
        }),
      );
      cache.set(key, found);
      return found as Answers[Q["kind"]] | Unparsed;
    },
    close,
  };
}

/** Whoever has cancelled does not wait for the file that is being parsed. */
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

function keyOf({ language, bytes }: SourceFile, question: Question): string {
  const asked = question.kind === "places" ? `places ${question.name}` : question.kind;
  return `${createHash("sha256").update(bytes).digest("base64url")} ${language} ${asked}`;
}

function tooLarge(bytes: number): Unparsed {
  return { problem: `its ${bytes} bytes are over the ${sourceBytesMax} that are parsed` };
}

function cancelled(): RunFailure {
  return new RunFailure({ type: "cancelled", message: "cancelled while source files were parsed", recoverable: false });
}
