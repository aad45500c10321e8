import type { FileChange } from "@troupe/core/internal";
import { startWithinBytes } from "@troupe/core/internal";

export type TextDiff = Pick<FileChange, "diff" | "linesAdded" | "linesRemoved">;

export const diffBytesMax = 16 * 1024;

const contextLines = 3;

/** A comparison that needs more edits is shown as one change of the whole part: all old lines, then all new ones. */
const editsMax = 2_000;

/**
 * The difference between two texts, as a unified diff without a head. It compares only the part between the first and the
 * last difference, so a small change of a large file is cheap.
 */
export async function diffTexts(before: string, after: string, bytesMax = diffBytesMax): Promise<TextDiff> {
  if (before === after) return { diff: "", linesAdded: 0, linesRemoved: 0 };
  const { start, endBefore, endAfter } = changedPart(before, after);
  const parts = [before.slice(start, endBefore), after.slice(start, endAfter)] as const;
  const linesBefore = countLines(before, 0, start);
  // Loaded at first use: a host that changes no files does not need it.
  const { structuredPatch } = await import("diff");
  const options = { context: contextLines, maxEditLength: editsMax };
  const hunks = structuredPatch("", "", ...parts, "", "", options)?.hunks ?? [singleHunk(...parts)];
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
  return { diff: truncated(lines.join("\n"), bytesMax, linesAdded, linesRemoved), linesAdded, linesRemoved };
}

/** A hunk without lines on one side names the line before it. */
function firstLine(start: number, lines: number): number {
  return lines === 0 ? start - 1 : start;
}

function truncated(diff: string, bytesMax: number, added: number, removed: number): string {
  if (Buffer.byteLength(diff) <= bytesMax) return diff;
  return startWithinBytes(diff, bytesMax, `\n[truncated: ${added} lines were added and ${removed} removed in total]`);
}

/** The part that differs, as whole lines, with enough lines around it for the context. */
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

/** Texts are compared in large steps first, because comparing single characters is a hundred times slower. */
const stepLength = 16 * 1024;

function commonBeginning(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let same = 0;
  while (same + stepLength <= shorter && one.slice(same, same + stepLength) === other.slice(same, same + stepLength))
    same += stepLength;
  while (same < shorter && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  return same;
}

function commonEnd(one: string, other: string, lengthMax: number): number {
  const [end, otherEnd] = [one.length, other.length];
  let same = 0;
  while (
    same + stepLength <= lengthMax &&
    one.slice(end - same - stepLength, end - same) === other.slice(otherEnd - same - stepLength, otherEnd - same)
  ) {
    same += stepLength;
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

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function singleHunk(before: string, after: string) {
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
