import { failure } from "../workspace/workspace-path.ts";
import { nearestLines } from "./closest-lines.ts";

export interface Edit {
  old: string;
  new: string;
  all: boolean;
}

const placesShown = 10;

/**
 * A text with exact parts of it replaced, one edit after the other. Where it has CRLF, a line feed of an edit stands for
 * either line end, and what is put in gets the ends of what it replaces.
 */
export function applyEdits(text: string, edits: readonly Edit[], shown: string): string {
  let now = text;
  for (const [i, edit] of edits.entries()) {
    const which = edits.length > 1 ? ` (edit ${i + 1} of ${edits.length}: nothing was changed)` : "";
    now = applyEdit(now, edit, `${shown} was not changed${which}`);
  }
  if (now === text) throw failure("params", `${shown} was not changed: together, the edits would leave it as it is`);
  return now;
}

function applyEdit(text: string, edit: Edit, notChanged: string): string {
  if (edit.old === "") throw failure("params", `${notChanged}: old is empty; use write to make a file`);
  if (edit.old === edit.new) throw failure("params", `${notChanged}: old and new are the same`);
  const plain = withoutReturns(text);
  const [old, replacement] = plain.hasReturns ? [unix(edit.old), unix(edit.new)] : [edit.old, edit.new];
  const starts = occurrences(plain.text, old);
  if (starts.length === 0)
    throw failure("params", `${notChanged}: old is not in it.${nearestLines(plain.text, edit.old)}`);
  if (starts.length > 1 && !edit.all) throw ambiguous(plain.text, starts, notChanged);
  const parts: string[] = [];
  let end = 0;
  for (const start of starts) {
    const [from, to] = [plain.original(start), plain.original(start + old.length)];
    const ends = plain.hasReturns ? lineEnds(text, from, to) : null;
    parts.push(text.slice(end, from), ends ? withLineEnds(replacement, ends) : replacement);
    end = to;
  }
  return parts.join("") + text.slice(end);
}

function occurrences(text: string, wanted: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) starts.push(at);
  return starts;
}

function ambiguous(text: string, starts: readonly number[], notChanged: string) {
  const places = starts.slice(0, placesShown).map((start) => `\n  ${excerptAt(text, start)}`);
  const more = starts.length > placesShown ? `\n  … and ${starts.length - placesShown} more` : "";
  return failure(
    "params",
    `${notChanged}: old is in it ${starts.length} times; give more of what is around the one that you mean, or set ` +
      `all:${places.join("")}${more}`,
  );
}

const excerptLength = 120;

/** The line in which something begins, with its number. */
export function excerptAt(text: string, start: number): string {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", start);
  const line = text.slice(start === 0 ? 0 : lineStart, lineEnd === -1 ? text.length : lineEnd);
  return `line ${lineNumberAt(text, start)}: ${line.trim().slice(0, excerptLength)}`;
}

export function lineNumberAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** A text with line feeds alone, and where in the original each of its characters is. */
function withoutReturns(text: string) {
  if (!text.includes("\r\n")) return { text, hasReturns: false, original: (at: number) => at };
  /** Positions, in the shorter text, of the line feeds that had a carriage return before them. */
  const feeds: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) feeds.push(at - feeds.length);
  return { text: unix(text), hasReturns: true, original: (at: number) => at + countBelow(feeds, at) };
}

function unix(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** How many of the sorted numbers are smaller. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

type LineEnd = "\n" | "\r\n";

/** The line ends of a part, in order; of one that has none, the end of the line that it is in. */
function lineEnds(text: string, from: number, to: number): LineEnd[] {
  const within = [...text.slice(from, to).matchAll(/\r?\n/g)].map(([end]) => end as LineEnd);
  if (within.length > 0) return within;
  const next = text.indexOf("\n", to);
  const at = next === -1 ? text.lastIndexOf("\n", from - 1) : next;
  return [text[at - 1] === "\r" ? "\r\n" : "\n"];
}

function withLineEnds(text: string, ends: readonly LineEnd[]): string {
  let count = 0;
  return text.replaceAll("\n", () => ends[Math.min(count++, ends.length - 1)] ?? "\n");
}
