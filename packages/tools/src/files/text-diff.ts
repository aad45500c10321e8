import type { FileChange } from "@troupe/core/internal";
import { startWithinBytes } from "@troupe/core/internal";
import { structuredPatch } from "diff";

export type TextDiff = Pick<FileChange, "diff" | "linesAdded" | "linesRemoved">;

export const diffBytesMax = 16 * 1024;

const contextLines = 3;

/** Differences that would take longer to be found are told as one: all that was there, and all that is. */
const editsMax = 2_000;

/**
 * The difference between two texts, unified and without a head. Only what lies between their first and their last
 * difference is compared, so that a small change of a large file costs little.
 */
export function diffTexts(before: string, after: string, bytesMax = diffBytesMax): TextDiff {
  if (before === after) return { diff: "", linesAdded: 0, linesRemoved: 0 };
  const { start, endBefore, endAfter } = changedPart(before, after);
  const parts = [before.slice(start, endBefore), after.slice(start, endAfter)] as const;
  const linesBefore = linesIn(before, 0, start);
  const options = { context: contextLines, maxEditLength: editsMax };
  const hunks = structuredPatch("", "", ...parts, "", "", options)?.hunks ?? [wholeHunk(...parts)];
  const lines: string[] = [];
  let [linesAdded, linesRemoved] = [0, 0];
  let bytes = 0;
  for (const { oldStart, oldLines, newStart, newLines, lines: body } of hunks) {
    linesAdded += body.filter((line) => line.startsWith("+")).length;
    linesRemoved += body.filter((line) => line.startsWith("-")).length;
    if (bytes > bytesMax) continue;
    const [from, to] = [firstLine(oldStart, oldLines), firstLine(newStart, newLines)];
    const head = `@@ -${from + linesBefore},${oldLines} +${to + linesBefore},${newLines} @@`;
    for (const line of [head, ...body]) {
      if (bytes > bytesMax) break;
      lines.push(line);
      bytes += line.length + 1;
    }
  }
  return { diff: capped(lines.join("\n"), bytesMax, linesAdded, linesRemoved), linesAdded, linesRemoved };
}

/** Of no lines, a hunk names the line before them. */
function firstLine(start: number, lines: number): number {
  return lines === 0 ? start - 1 : start;
}

function capped(diff: string, bytesMax: number, added: number, removed: number): string {
  if (Buffer.byteLength(diff) <= bytesMax) return diff;
  return startWithinBytes(diff, bytesMax, `\n[cut: in all ${added} lines were added and ${removed} removed]`);
}

/** From the lines before the first difference to the lines after the last one: whole lines, and enough for a context. */
function changedPart(before: string, after: string) {
  const same = commonBeginning(before, after);
  const sameEnd = commonEnd(before, after, Math.min(before.length, after.length) - same);
  let start = same;
  for (let i = 0; i <= contextLines && start > 0; i++) start = before.lastIndexOf("\n", start - 2) + 1;
  return {
    start,
    endBefore: lineEndAfter(before, before.length - sameEnd),
    endAfter: lineEndAfter(after, after.length - sameEnd),
  };
}

/** Compared by large steps first: character by character costs a hundred times as much. */
const step = 16 * 1024;

function commonBeginning(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let same = 0;
  while (same + step <= shorter && one.slice(same, same + step) === other.slice(same, same + step)) same += step;
  while (same < shorter && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  return same;
}

function commonEnd(one: string, other: string, lengthMax: number): number {
  const [end, otherEnd] = [one.length, other.length];
  let same = 0;
  while (
    same + step <= lengthMax &&
    one.slice(end - same - step, end - same) === other.slice(otherEnd - same - step, otherEnd - same)
  ) {
    same += step;
  }
  while (same < lengthMax && one.charCodeAt(end - 1 - same) === other.charCodeAt(otherEnd - 1 - same)) same += 1;
  return same;
}

function lineEndAfter(text: string, from: number): number {
  let end = from;
  for (let i = 0; i <= contextLines && end < text.length; i++) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return end;
}

function linesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function wholeHunk(before: string, after: string) {
  const [removed, added] = [linesOf(before), linesOf(after)];
  return {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
