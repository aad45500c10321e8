import { StringDecoder } from "node:string_decoder";
import type { HeldFile } from "../workspace/open-folder.ts";
import { failure } from "../workspace/workspace-path.ts";
import { binaryKind } from "./text-file.ts";

/** Some lines of a text, with notes for the model. */
export interface TextExcerpt {
  text: string;
  notes: string[];
}

export interface LineRange {
  /** The first line, counted from 1. */
  offset: number;
  /** How many lines. */
  limit: number;
  /** The path as the model sees it. */
  shown: string;
}

/** Below the output limit of a host, so that an excerpt ends with a whole line and a note that says how to continue. */
const excerptCharactersMax = 48_000;

const lineCharactersMax = 2_000;

/** Takes lines from a text that is in memory. */
export function readLines(text: string, range: LineRange): TextExcerpt {
  const { offset, limit, shown } = range;
  if (text === "") return { text: "", notes: [`${shown} is empty`] };
  const endsInLine = !text.endsWith("\n");
  const { lines, count } = cutLines(text, offset, limit);
  if (offset > count) throw noSuchLine(shown, offset, `it has ${count} lines`);
  const excerpt = joinLines(lines, range);
  const last = offset - 1 + excerpt.count;
  const isWhole = offset === 1 && last === count;
  const next = last < count ? [`continue with offset ${last + 1}`] : [];
  const position = isWhole ? [] : [`lines ${offset} to ${last} of ${count}`, ...next];
  const isOpen = endsInLine && last === count;
  return {
    text: excerpt.text + (isOpen ? "" : "\n"),
    notes: [...position, ...(isOpen ? ["the last line has no line end"] : []), ...excerpt.notes],
  };
}

/** Cuts out the wanted lines and counts all of them, without splitting the whole text. */
function cutLines(text: string, offset: number, limit: number): { lines: string[]; count: number } {
  const lines: string[] = [];
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    count += 1;
    if (count >= offset && count < offset + limit) lines.push(text.slice(start, end === -1 ? text.length : end));
    start = end === -1 ? text.length : end + 1;
  }
  return { lines, count };
}

/** Joins as many lines as an excerpt may have, and truncates long ones. */
function joinLines(lines: readonly string[], { limit, offset }: LineRange): TextExcerpt & { count: number } {
  const lengthMax = limit === 1 ? excerptCharactersMax : lineCharactersMax;
  const shown: string[] = [];
  const truncated: number[] = [];
  let characters = 0;
  for (const line of lines) {
    const part = truncateLine(line, lengthMax);
    if (shown.length > 0 && characters + part.length > excerptCharactersMax) break;
    if (part !== line) truncated.push(offset + shown.length);
    shown.push(part);
    characters += part.length + 1;
  }
  const more = truncated.length > 10 ? "…" : "";
  const notes = truncated.length > 0 ? [`truncated long lines: ${truncated.slice(0, 10).join(", ")}${more}`] : [];
  return { text: shown.join("\n"), notes, count: shown.length };
}

function truncateLine(line: string, lengthMax: number): string {
  if (line.length <= lengthMax) return line;
  return `${line.slice(0, lengthMax)}[… ${line.length - lengthMax} more characters]`;
}

function noSuchLine(shown: string, offset: number, reason: string) {
  return failure("params", `${shown} cannot be read: ${reason}, so there is no line ${offset}`);
}

const stepBytes = 1024 * 1024;

/** How much of a large file is searched for a line. This takes a few seconds. */
const scannedBytesMax = 1024 * 1024 * 1024;

/** How much of one line is held in memory. */
const lineBufferCharactersMax = excerptCharactersMax + 1;

/**
 * Takes lines from a file that is too large for memory. It reads in steps, up to the last wanted line.
 *
 * @param bytesMax how much of the file is searched for the lines
 */
export async function streamLines(
  file: HeldFile,
  range: LineRange,
  signal: AbortSignal,
  bytesMax = scannedBytesMax,
): Promise<TextExcerpt> {
  const { offset, shown } = range;
  await using handle = await file.open();
  const step = Buffer.allocUnsafe(stepBytes);
  const collector = new LineCollector(range);
  let isAtEnd = false;
  for (let position = 0; !collector.isDone && !isAtEnd && position < bytesMax; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(step, 0, stepBytes, position);
    collector.add(step.subarray(0, bytesRead));
    position += bytesRead;
    isAtEnd = bytesRead === 0;
  }
  if (collector.binary !== null) throw binaryFailure(collector.binary, shown, file.stats.size);
  const lines = collector.finish();
  const excerpt = joinLines(lines, range);
  if (excerpt.count === 0 && !isAtEnd) throw tooFar(range, collector.line, bytesMax);
  if (excerpt.count === 0) throw noSuchLine(shown, offset, `it has ${collector.line - 1} lines`);
  const last = offset - 1 + excerpt.count;
  const next = isAtEnd && excerpt.count === lines.length ? [] : [`continue with offset ${last + 1}`];
  const size = `of a file of ${file.stats.size} bytes, too large for edit and write`;
  return { text: `${excerpt.text}\n`, notes: [`lines ${offset} to ${last} ${size}`, ...next, ...excerpt.notes] };
}

/** Counts the lines of a stream of bytes, and stores those in the range. */
class LineCollector {
  /** Number of the line that contains the next byte, counted from 1. */
  line = 1;
  /** The first bytes of the range, where they are not text. */
  binary: Buffer | null = null;
  readonly #first: number;
  readonly #last: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #lines: string[] = [];
  #current = "";
  #characters = 0;

  constructor({ offset, limit }: LineRange) {
    this.#first = offset;
    this.#last = offset + limit - 1;
  }

  get isInRange(): boolean {
    return this.line >= this.#first;
  }

  get isDone(): boolean {
    return this.binary !== null || this.line > this.#last || this.#characters > excerptCharactersMax;
  }

  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length && !this.isDone; ) {
      const end = bytes.indexOf(10, from);
      if (this.isInRange) this.#append(bytes.subarray(from, end === -1 ? bytes.length : end));
      if (end === -1) return;
      this.#endLine();
      from = end + 1;
    }
  }

  /** The lines of the range, with the last line of a file that ends without a line end. */
  finish(): string[] {
    if (this.#current !== "" && !this.isDone) this.#endLine();
    return this.#lines;
  }

  #append(bytes: Buffer): void {
    if (this.#current.length >= lineBufferCharactersMax) return;
    const part = bytes.subarray(0, lineBufferCharactersMax * 4);
    if (part.includes(0)) this.binary = Buffer.from(part.subarray(0, 16));
    this.#current += this.#decoder.write(part);
  }

  #endLine(): void {
    if (this.isInRange) {
      this.#lines.push(this.#current);
      this.#characters += Math.min(this.#current.length, lineCharactersMax);
    }
    this.#current = "";
    this.line += 1;
  }
}

export function binaryFailure(bytes: Buffer, shown: string, size: number) {
  return failure("params", `${shown} cannot be read: it is a binary file of ${size} bytes (${binaryKind(bytes)})`);
}

function tooFar({ shown, offset }: LineRange, line: number, bytesMax: number) {
  return failure(
    "params",
    `${shown} cannot be read from line ${offset} on: its first ${bytesMax} bytes have ${line - 1} lines, and no ` +
      "more of it is searched; read that part with the shell tool (tail, sed -n, grep)",
  );
}
