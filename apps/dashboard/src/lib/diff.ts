import type { ChangeRow } from "@troupe/core";

/** One line of a unified diff, with its line numbers before and after the change. */
export interface DiffLine {
  kind: "added" | "removed" | "same" | "hunk" | "note";
  text: string;
  before: number | null;
  after: number | null;
}

/** A changed file with its changes, oldest first. */
export interface ChangedFile {
  path: string;
  kind: ChangeRow["kind"];
  linesAdded: number;
  linesRemoved: number;
  /** The later use of the file by another program; null for none. */
  runsLater: string | null;
  changes: ChangeRow[];
}

const hunkHeader = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * Parses a unified diff. Lines of any other text become unchanged lines.
 *
 * @example
 * parseDiff("@@ -1 +1 @@\n-a\n+b\n").map(({ kind }) => kind); // ["hunk", "removed", "added"]
 */
export function parseDiff(diff: string): DiffLine[] {
  const texts = diff.split("\n");
  if (texts.at(-1) === "") texts.pop();
  let [before, after] = [1, 1];
  return texts.map((text): DiffLine => {
    const [, first, second] = hunkHeader.exec(text) ?? [];
    if (first !== undefined) {
      [before, after] = [Number(first), Number(second)];
      return { kind: "hunk", text, before: null, after: null };
    }
    const rest = text.slice(1);
    if (text.startsWith("+")) return { kind: "added", text: rest, before: null, after: after++ };
    if (text.startsWith("-")) return { kind: "removed", text: rest, before: before++, after: null };
    if (text.startsWith("\\")) return { kind: "note", text: rest.trim(), before: null, after: null };
    return { kind: "same", text: text.startsWith(" ") ? rest : text, before: before++, after: after++ };
  });
}

/** Groups changes by file, in the order of the first change. */
export function groupByFile(rows: readonly ChangeRow[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const row of rows) {
    const file = files.get(row.path) ?? emptyFile(row);
    files.set(row.path, {
      path: row.path,
      // A file that the run created and then modified still counts as created.
      kind: file.kind === "created" && row.kind === "modified" ? "created" : row.kind,
      linesAdded: file.linesAdded + row.linesAdded,
      linesRemoved: file.linesRemoved + row.linesRemoved,
      runsLater: row.runsLater ?? file.runsLater,
      changes: [...file.changes, row],
    });
  }
  return [...files.values()];
}

function emptyFile({ path, kind }: ChangeRow): ChangedFile {
  return { path, kind, linesAdded: 0, linesRemoved: 0, runsLater: null, changes: [] };
}
