import { fstatSync, type Stats } from "node:fs";
import type { Readable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { TroupeError } from "@troupe/core";

/** The kind of standard input. `none` is not read, and a terminal only when the user asks for it. */
export interface PipedInput {
  kind: "pipe" | "file" | "socket" | "terminal" | "none";
  /** Opens the input. It is read once. */
  open(): Readable;
}

/** Size limit of the context in one request. */
const bytesMax = 1024 * 1024;
const noticeAfterMs = 2_000;
const socketGraceMs = 3_000;

/** Standard input of this process. */
export function standardInput(): PipedInput {
  // The end of a terminal's text ends its stream for good. Questions are read from `process.stdin`, so it needs another one.
  if (isatty(0)) return { kind: "terminal", open: () => new ReadStream(0) };
  return { kind: kindOf(() => fstatSync(0)), open: () => process.stdin };
}

/** `stat` throws for a closed descriptor. */
export function kindOf(stat: () => Stats): PipedInput["kind"] {
  try {
    const stats = stat();
    if (stats.isFIFO()) return "pipe";
    if (stats.isFile()) return "file";
    return stats.isSocket() ? "socket" : "none";
  } catch {
    return "none";
  }
}

export interface ReadOptions {
  signal: AbortSignal;
  /** Tells the user that a command waits for input. */
  notice: (text: string) => void;
}

/**
 * Reads the context of a task; null for none. A terminal and `/dev/null` are not read. A pipe or file is read to its end,
 * and `notice` tells the user after 2 s. A socket without data for 3 s counts as no input, because some programs leave one
 * open in their children.
 */
export async function readContext(input: PipedInput, options: ReadOptions): Promise<string | null> {
  if (input.kind === "none" || input.kind === "terminal") return null;
  const waiting = "reading context from standard input until it ends; pass `< /dev/null` for no context";
  return readToEnd(input, { ...options, waiting, graceMs: input.kind === "socket" ? socketGraceMs : null });
}

/** Reads the task of `troupe run -`: everything until the end of the input. Throws `USAGE` if there is no text. */
export async function readTask(input: PipedInput, options: ReadOptions): Promise<string> {
  if (input.kind === "terminal") options.notice("type the task; end it with Ctrl-D on a line of its own");
  const waiting = input.kind === "terminal" ? null : "reading the task from standard input until it ends";
  const text = input.kind === "none" ? null : await readToEnd(input, { ...options, waiting, graceMs: null });
  if (text !== null) return text.trim();
  throw new TroupeError("USAGE", "`run -` reads the task from standard input, which is empty", {
    fix: 'echo "what to do" | troupe run -   (or: troupe run "what to do")',
  });
}

/** The lines of a secret that is piped into a command; null for a terminal, or without input. */
export async function readSecretLines(input: PipedInput, options: ReadOptions): Promise<string[] | null> {
  if (input.kind === "none" || input.kind === "terminal") return null;
  const waiting = "reading the secret from standard input until it ends";
  const text = await readToEnd(input, { ...options, waiting, graceMs: null });
  return text === null ? null : text.split(/\r?\n/);
}

interface ReadingOptions extends ReadOptions {
  /** The notice for a user who waits; null for none. */
  waiting: string | null;
  /** Time until silence counts as no input; null for no limit. */
  graceMs: number | null;
}

/** Null for white space alone. */
async function readToEnd(input: PipedInput, { waiting, ...options }: ReadingOptions): Promise<string | null> {
  const notice = waiting === null ? undefined : setTimeout(() => options.notice(waiting), noticeAfterMs);
  const stream = input.open();
  try {
    return decode(await readAll(stream, options));
  } finally {
    clearTimeout(notice);
    // An open stream would keep the process alive.
    stream.destroy();
  }
}

async function readAll(
  stream: Readable,
  { signal, graceMs }: Pick<ReadingOptions, "signal" | "graceMs">,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const silence = new AbortController();
  const grace = graceMs === null ? undefined : setTimeout(() => silence.abort(), graceMs);
  const stop = () => stream.destroy();
  const either = AbortSignal.any([signal, silence.signal]);
  either.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of stream) {
      clearTimeout(grace);
      chunks.push(Buffer.from(chunk));
      bytes += chunks.at(-1)?.length ?? 0;
      if (bytes > bytesMax) throw tooMuch();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!silence.signal.aborted) throw error;
  } finally {
    clearTimeout(grace);
    either.removeEventListener("abort", stop);
  }
  signal.throwIfAborted();
  return Buffer.concat(chunks);
}

function tooMuch(): TroupeError {
  return new TroupeError("TOO_LARGE", `standard input is larger than ${bytesMax / 1024 / 1024} MiB`, {
    fix: "put it into a file of the workspace and name the file in the task",
  });
}

function decode(bytes: Buffer): string | null {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TroupeError("USAGE", "standard input is not UTF-8 text", {
      cause,
      fix: "put it into a file of the workspace and name the file in the task",
    });
  }
  return text.trim() === "" ? null : text;
}
