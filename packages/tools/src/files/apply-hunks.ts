import { failure } from "../workspace/workspace-path.ts";
import type { Hunk } from "./parse-patch.ts";

/** How many lines a hunk may be away from the line number that the patch gives. */
const offsetMax = 250;

const linesShown = 12;

/** A line of a text, and the line end that it has in the file. */
interface TextLine {
  text: string;
  end: "" | "\n" | "\r\n";
}

/**
 * Applies the hunks of a patch in order. Every old line must match exactly, apart from line ends. A hunk may be up to
 * `offsetMax` lines away from its line number; a note then says so.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], shown: string, notes: string[] = []): string {
  let lines = linesOf(text);
  let shift = 0;
  let from = 0;
  for (const [i, hunk] of hunks.entries()) {
    const at = findHunk(hunk, lines, { shift, from, which: `hunk ${i + 1} of ${hunks.length}`, shown });
    const old = hunk.lines.filter(({ kind }) => kind !== "+").length;
    const replaced = newLines(hunk, lines, at);
    lines = [...lines.slice(0, at), ...replaced, ...lines.slice(at + old)];
    if (hunk.line !== null) {
      const moved = at - (hunk.line - 1 + shift);
      if (moved !== 0) notes.push(`hunk ${i + 1} of ${shown} was ${moved} lines from the line that the patch gives`);
      shift = at - (hunk.line - 1) + replaced.length - old;
    }
    from = at + replaced.length;
  }
  const usual = lines[0]?.end || "\n";
  return lines.map(({ text: line, end }, i) => line + (i < lines.length - 1 ? end || usual : end)).join("");
}

/** The text of a file that a patch adds. */
export function textOfNewFile(hunks: readonly Hunk[]): string {
  const added = hunks.flatMap(({ lines }) => lines.filter(({ kind }) => kind === "+"));
  const isOpen = hunks.at(-1)?.open.new === true || added.length === 0;
  return added.map(({ text }) => text).join("\n") + (isOpen ? "" : "\n");
}

interface HunkSearch {
  /** Lines that the hunks before have added or removed. */
  shift: number;
  /** Index of the first line that may belong to the hunk. */
  from: number;
  /** The hunk, for messages. */
  which: string;
  shown: string;
}

/** Index of the line where the hunk starts. Throws when its old lines do not occur, or occur more than once. */
function findHunk(hunk: Hunk, lines: readonly TextLine[], search: HunkSearch): number {
  const old = hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
  if (hunk.line !== null) return findNearLine(hunk.line, old, lines, search);
  const from = hunk.after === null ? search.from : indexAfter(hunk.after, lines, search);
  if (old.length === 0) {
    if (hunk.after !== null) return from;
    if (lines.length === 0 || hunk.isAtEnd) return lines.length;
    throw notApplied(search, "it has no old lines to locate it; add some context lines, or @@ and a line of the file");
  }
  const matches = indexesOf(old, lines, from).filter((at) => !hunk.isAtEnd || at + old.length === lines.length);
  const [first] = matches;
  if (first === undefined) throw notFound(old, lines, search);
  if (matches.length === 1 || hunk.after !== null) return first;
  const numbers = matches.slice(0, 10).map((at) => at + 1);
  throw notApplied(
    search,
    `its old lines occur ${matches.length} times, at lines ${numbers.join(", ")}; give more of them`,
  );
}

function findNearLine(line: number, old: readonly string[], lines: readonly TextLine[], search: HunkSearch): number {
  const wanted = Math.max(0, line - 1 + search.shift);
  if (old.length === 0) return Math.min(wanted, lines.length);
  for (let offset = 0; offset <= offsetMax; offset++) {
    const [near] = [wanted + offset, wanted - offset].filter((at) => at >= search.from && matchesAt(old, lines, at));
    if (near !== undefined) return near;
  }
  throw notFound(old, lines, search);
}

function indexAfter(after: string, lines: readonly TextLine[], search: HunkSearch): number {
  const at = lines.findIndex((line, i) => i >= search.from && line.text.trim() === after);
  if (at === -1) throw notApplied(search, `the line after @@ is not in the file: ${JSON.stringify(after)}`);
  return at + 1;
}

function indexesOf(old: readonly string[], lines: readonly TextLine[], from: number): number[] {
  return lines.flatMap((_, at) => (at >= from && matchesAt(old, lines, at) ? [at] : []));
}

function matchesAt(old: readonly string[], lines: readonly TextLine[], at: number): boolean {
  return old.every((text, i) => lines[at + i]?.text === text);
}

/** The lines that replace the old ones. Unchanged lines keep their ends, new lines take the end of their neighbour. */
function newLines(hunk: Hunk, lines: readonly TextLine[], at: number): TextLine[] {
  const usual = lines[at]?.end || lines[0]?.end || "\n";
  const replaced: TextLine[] = [];
  let next = at;
  for (const { kind, text } of hunk.lines) {
    const current = lines[next];
    if (kind !== "+") next += 1;
    if (kind === " " && current) replaced.push(current);
    if (kind === "+") replaced.push({ text, end: current?.end || usual });
  }
  return withLastEnd(replaced, { hunk, isLast: next === lines.length, usual, wasOpen: lines.at(-1)?.end === "" });
}

/** Only the last line of a file can lack an end: where the patch says so, or where an unchanged last line lacked it. */
function withLastEnd(
  lines: TextLine[],
  { hunk, isLast, usual, wasOpen }: { hunk: Hunk; isLast: boolean; usual: TextLine["end"]; wasOpen: boolean },
): TextLine[] {
  const ended = lines.map((line): TextLine => (line.end === "" ? { ...line, end: usual } : line));
  const last = ended.pop();
  if (!last) return ended;
  const isUnchanged = hunk.lines.at(-1)?.kind === " ";
  const isOpen = isLast && (hunk.open.new || (wasOpen && isUnchanged && !hunk.open.old));
  return [...ended, isOpen ? { ...last, end: "" } : last];
}

function linesOf(text: string): TextLine[] {
  return [...text.matchAll(/([^\n]*?)(\r?\n|$)/g)].flatMap(([whole, line = "", end = ""]) =>
    whole === "" ? [] : [{ text: line, end: end as TextLine["end"] }],
  );
}

function notFound(old: readonly string[], lines: readonly TextLine[], search: HunkSearch) {
  const closest = indexOfClosest(old, lines);
  const wanted = `\nIts old lines:${excerpt(old, null)}`;
  if (closest === -1)
    return notApplied(search, `its old lines are not in the file, and no lines are similar.${wanted}`);
  const similar = lines.slice(closest, closest + old.length).map(({ text }) => text);
  return notApplied(
    search,
    `its old lines are not in the file.${wanted}\nThe most similar lines:${excerpt(similar, closest)}`,
  );
}

/** The index where most of the old lines match in order, without regard to white space around them. */
function indexOfClosest(old: readonly string[], lines: readonly TextLine[]): number {
  const bare = old.map((text) => text.trim());
  let best = { at: -1, same: 0 };
  for (let at = 0; at < lines.length; at++) {
    let same = 0;
    for (let i = 0; i < Math.min(bare.length, linesShown); i++) {
      if (bare[i] !== "" && lines[at + i]?.text.trim() === bare[i]) same += 1;
    }
    if (same > best.same) best = { at, same };
  }
  return best.at;
}

function excerpt(lines: readonly string[], at: number | null): string {
  const shown = lines
    .slice(0, linesShown)
    .map((line, i) => `\n${at === null ? "" : `${at + i + 1}: `}${line.slice(0, 200)}`);
  return shown.join("") + (lines.length > linesShown ? "\n…" : "");
}

function notApplied({ which, shown }: HunkSearch, reason: string) {
  return failure("params", `nothing was changed: ${which} of ${shown} does not apply: ${reason}`);
}
