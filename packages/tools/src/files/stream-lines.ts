import { StringDecoder } from "node:string_decoder";
import type { HeldFile } from "../workspace/open-folder.ts";
import { failure } from "../workspace/workspace-path.ts";
import { gather, noSuchLine, type PartAsked, partCharactersMax, type TextPart } from "./read-lines.ts";
import { binaryKind } from "./text-file.ts";

const stepBytes = 1024 * 1024;

/** So much is looked through for a line that is far away: some seconds at the most. */
const lookedBytesMax = 1024 * 1024 * 1024;

/** Of one line, no more is kept. */
const keptCharactersMax = partCharactersMax + 1;

/**
 * Lines of a file that is too large to be read as a whole: it is looked through up to the last line that was asked for,
 * a step at a time, and nothing but the part is kept.
 */
export async function streamPart(file: HeldFile, asked: PartAsked, signal: AbortSignal): Promise<TextPart> {
  const { offset, shown } = asked;
  await using handle = await file.open();
  const step = Buffer.allocUnsafe(stepBytes);
  const lines = new LineGatherer(asked);
  let isAtEnd = false;
  for (let position = 0; !lines.isDone && !isAtEnd && position < lookedBytesMax; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(step, 0, stepBytes, position);
    lines.take(step.subarray(0, bytesRead));
    position += bytesRead;
    isAtEnd = bytesRead === 0;
  }
  if (lines.binary !== null) throw isBinary(lines.binary, shown, file.stats.size);
  const found = lines.finish();
  const part = gather(found, asked);
  if (part.count === 0 && !isAtEnd) throw tooFar(shown, offset, lines.line);
  if (part.count === 0) throw noSuchLine(shown, offset, `it has ${lines.line - 1} lines`);
  const last = offset - 1 + part.count;
  const next = isAtEnd && part.count === found.length ? [] : [`go on with offset ${last + 1}`];
  const size = `of a file of ${file.stats.size} bytes, too large for edit and write`;
  return { text: `${part.text}\n`, notes: [`lines ${offset} to ${last} ${size}`, ...next, ...part.notes] };
}

/** Counts lines, and keeps those of the part. */
class LineGatherer {
  /** The line that the next byte is in, counted from 1. */
  line = 1;
  /** The first bytes of the part that are no text. */
  binary: Buffer | null = null;
  readonly #first: number;
  readonly #last: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #lines: string[] = [];
  #current = "";
  #characters = 0;

  constructor({ offset, limit }: PartAsked) {
    this.#first = offset;
    this.#last = offset + limit - 1;
  }

  get isInPart(): boolean {
    return this.line >= this.#first;
  }

  get isDone(): boolean {
    return this.binary !== null || this.line > this.#last || this.#characters > partCharactersMax;
  }

  take(bytes: Buffer): void {
    for (let from = 0; from < bytes.length && !this.isDone; ) {
      const end = bytes.indexOf(10, from);
      if (this.isInPart) this.#keep(bytes.subarray(from, end === -1 ? bytes.length : end));
      if (end === -1) return;
      this.#endLine();
      from = end + 1;
    }
  }

  /** The lines of the part, the last one even where the file ends within it. */
  finish(): string[] {
    if (this.#current !== "" && !this.isDone) this.#endLine();
    return this.#lines;
  }

  #keep(bytes: Buffer): void {
    if (this.#current.length >= keptCharactersMax) return;
    const kept = bytes.subarray(0, keptCharactersMax * 4);
    if (kept.includes(0)) this.binary = Buffer.from(kept.subarray(0, 16));
    this.#current += this.#decoder.write(kept);
  }

  #endLine(): void {
    if (this.isInPart) {
      this.#lines.push(this.#current);
      this.#characters += Math.min(this.#current.length, 2_000);
    }
    this.#current = "";
    this.line += 1;
  }
}

export function isBinary(bytes: Buffer, shown: string, size: number) {
  return failure("params", `${shown} cannot be read: it is a binary file of ${size} bytes (${binaryKind(bytes)})`);
}

function tooFar(shown: string, offset: number, line: number) {
  return failure(
    "params",
    `${shown} cannot be read from line ${offset} on: its first ${lookedBytesMax} bytes have ${line - 1} lines, and no ` +
      "more is looked through; look at that part with the shell tool (tail, sed -n, grep)",
  );
}
