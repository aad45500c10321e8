import type { ChangeRow } from "@troupe/core";

/** One line of a unified difference, with the numbers that it has in the file before and after. */
export interface DiffLine {
  kind: "added" | "removed" | "same" | "place" | "note";
  text: string;
  before: number | null;
  after: number | null;
}

/** One file, and all that was done to it, oldest first. */
export interface ChangedFile {
  path: string;
  kind: ChangeRow["kind"];
  linesAdded: number;
  linesRemoved: number;
  changes: ChangeRow[];
}

const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * The lines of a unified difference. What does not read like one is shown as it is.
 *
 * @example
 * readDiff("@@ -1 +1 @@\n-a\n+b\n").map(({ kind }) => kind); // ["place", "removed", "added"]
 */
export function readDiff(diff: string): DiffLine[] {
  const texts = diff.split("\n");
  if (texts.at(-1) === "") texts.pop();
  let [before, after] = [1, 1];
  return texts.map((text): DiffLine => {
    const [, first, second] = place.exec(text) ?? [];
    if (first !== undefined) {
      [before, after] = [Number(first), Number(second)];
      return { kind: "place", text, before: null, after: null };
    }
    const rest = text.slice(1);
    if (text.startsWith("+")) return { kind: "added", text: rest, before: null, after: after++ };
    if (text.startsWith("-")) return { kind: "removed", text: rest, before: before++, after: null };
    if (text.startsWith("\\")) return { kind: "note", text: rest.trim(), before: null, after: null };
    return { kind: "same", text: text.startsWith(" ") ? rest : text, before: before++, after: after++ };
  });
}

/** The files of some changes, each once, in the order in which they were first changed. */
export function byFile(rows: readonly ChangeRow[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const row of rows) {
    const file = files.get(row.path) ?? { path: row.path, kind: row.kind, linesAdded: 0, linesRemoved: 0, changes: [] };
    files.set(row.path, {
      path: row.path,
      // What was made here and changed afterwards is new all the same.
      kind: file.kind === "created" && row.kind === "modified" ? "created" : row.kind,
      linesAdded: file.linesAdded + row.linesAdded,
      linesRemoved: file.linesRemoved + row.linesRemoved,
      changes: [...file.changes, row],
    });
  }
  return [...files.values()];
}
