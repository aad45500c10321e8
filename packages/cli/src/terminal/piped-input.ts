import { fstatSync, type Stats } from "node:fs";
import type { Readable } from "node:stream";
import { TroupeError } from "@troupe/core";

/** The kind of standard input. `none` is not read. */
export interface PipedInput {
  kind: "pipe" | "file" | "socket" | "none";
  stream: Readable;
}

/** Size limit of the context in one request. */
const bytesMax = 1024 * 1024;
const noticeAfterMs = 2_000;
const socketGraceMs = 3_000;

/**
 * Standard input of this process. A terminal and `/dev/null` are not read. A pipe and a file are read to their end. A socket
 * can stay open without data, because some programs start children that way.
 */
export function standardInput(): PipedInput {
  return { kind: kindOf(() => fstatSync(0)), stream: process.stdin };
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

/**
 * Reads all piped input; null for none. A pipe or file is read to its end, and `notice` tells the user after 2 s. A socket
 * without data for 3 s counts as no input.
 */
export async function readPipedText(
  input: PipedInput,
  options: { signal: AbortSignal; notice: (text: string) => void },
): Promise<string | null> {
  if (input.kind === "none") return null;
  const notice = setTimeout(() => {
    options.notice("reading context from standard input until it ends; pass `< /dev/null` for no context");
  }, noticeAfterMs);
  try {
    return decode(await readAll(input, options.signal));
  } finally {
    clearTimeout(notice);
    // An open stream would keep the process alive.
    input.stream.destroy();
  }
}

async function readAll(input: PipedInput, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const silence = new AbortController();
  const grace = input.kind === "socket" ? setTimeout(() => silence.abort(), socketGraceMs) : undefined;
  const stop = () => input.stream.destroy();
  const either = AbortSignal.any([signal, silence.signal]);
  either.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of input.stream) {
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
