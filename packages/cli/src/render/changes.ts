import type { ChangeRow } from "@troupe/core";
import type { Colours, Output } from "../terminal/terminal.ts";
import { cleanLine, cleanText } from "./clean.ts";
import { type Cell, layout } from "./layout.ts";

/** All changes of one file together. */
interface ChangedFile {
  path: string;
  kind: ChangeRow["kind"];
  linesAdded: number;
  linesRemoved: number;
  agents: string[];
  /** The later use of the file by another program; null for none. */
  runsLater: string | null;
}

/** The changed files in the order of their first change. */
export function changedFiles(rows: readonly ChangeRow[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const { path, kind, linesAdded, linesRemoved, agent, runsLater } of rows) {
    const before = files.get(path);
    files.set(path, {
      path,
      // A file that was created and then modified is still new.
      kind: before?.kind === "created" && kind === "modified" ? "created" : kind,
      linesAdded: (before?.linesAdded ?? 0) + linesAdded,
      linesRemoved: (before?.linesRemoved ?? 0) + linesRemoved,
      agents: [...new Set([...(before?.agents ?? []), agent])],
      runsLater: runsLater ?? before?.runsLater ?? null,
    });
  }
  return [...files.values()];
}

export function changeTable(rows: readonly ChangeRow[], { width, colours }: Output): string[] {
  const heads = ["FILE", "CHANGE", "LINES", "BY"];
  const head: Cell[] = heads.map((text) => ({ text, paint: colours.dim }));
  const body = changedFiles(rows).map((file): Cell[] => [
    { text: cleanLine(file.path) },
    file.runsLater === null
      ? { text: file.kind, paint: paintOf(file.kind, colours) }
      : { text: `${file.kind}, runs later`, paint: colours.yellow },
    { text: lineCounts(file) },
    { text: file.agents.map(cleanLine).join(", ") },
  ]);
  return layout([{ flexible: true }, {}, { align: "right" }, {}], [head, ...body], width);
}

/** `+3 −1`, readable without colours. */
export function lineCounts({ linesAdded, linesRemoved }: Pick<ChangeRow, "linesAdded" | "linesRemoved">): string {
  return `+${linesAdded} −${linesRemoved}`;
}

/** The diff of a change, below a line with its file, agent and tool. */
export function diffLines(row: ChangeRow, { colours }: Pick<Output, "colours">): string[] {
  const head = `${cleanLine(row.path)}  ${row.kind} ${lineCounts(row)}`;
  const by = colours.dim(`  ${cleanLine(row.agent)}, ${cleanLine(row.tool)}`);
  const mark = row.runsLater === undefined ? [] : [colours.yellow(`runs later: it ${cleanLine(row.runsLater)}`)];
  return [
    "",
    colours.bold(head) + by,
    ...mark,
    ...bodyOf(row, colours),
    ...(row.cut ? [colours.dim("… truncated")] : []),
  ];
}

function bodyOf({ diff, cut }: ChangeRow, colours: Colours): string[] {
  // Without control characters the text cannot move the cursor, so `+` and `-` stay at the start of their lines.
  const lines = cleanText(diff).split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return cut ? [] : [colours.dim("no text diff")];
  return lines.map((line) => paintLine(line, colours));
}

function paintLine(line: string, colours: Colours): string {
  if (line.startsWith("+")) return colours.green(line);
  if (line.startsWith("-")) return colours.red(line);
  if (line.startsWith("@@")) return colours.cyan(line);
  return line;
}

function paintOf(kind: ChangeRow["kind"], colours: Colours): (text: string) => string {
  if (kind === "created") return colours.green;
  return kind === "deleted" ? colours.red : colours.yellow;
}
