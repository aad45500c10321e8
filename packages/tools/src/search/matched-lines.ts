import { aroundMatch } from "./long-line.ts";
import type { RipgrepEnd } from "./ripgrep.ts";
import { type FoundFile, isNameable } from "./ripgrep-output.ts";

/** What is shown of one file. */
export interface MatchedFile extends FoundFile {
  lines: MatchedLine[];
  /** Why there are no lines, where there are none. */
  note: string | null;
}

export interface MatchedLine {
  number: number;
  isMatch: boolean;
  text: string;
}

/** What is searched once more, for its lines. */
export interface Selection {
  files: FoundFile[];
  linesPerFileMax: number;
}

export interface LinesOptions {
  workspace: string;
  search: (args: readonly string[]) => Promise<RipgrepEnd>;
  /** Lines before and after each match. */
  context: number;
}

/** One file does not use up what is shown, where there are others. */
const linesPerFileMax = 20;
/** Command lines end somewhere. */
const argumentBytesMax = 64 * 1024;
const lineBytesMax = 400;
const longLinesMax = 50;

/** The first files that fill the limit with their lines. */
export function selectFiles(
  files: readonly FoundFile[],
  { limit, isOnly }: { limit: number; isOnly: boolean },
): Selection {
  const perFile = isOnly ? limit : Math.min(limit, linesPerFileMax);
  const selected: FoundFile[] = [];
  let lines = 0;
  let bytes = 0;
  for (const file of files) {
    bytes += Buffer.byteLength(file.path) + 3;
    if (lines >= limit || bytes > argumentBytesMax) break;
    selected.push(file);
    lines += Math.min(file.count, perFile);
  }
  return { files: selected, linesPerFileMax: perFile };
}

/** The matching lines of files that are known to match, with what is around them. */
export async function linesOf(
  { files, linesPerFileMax: perFile }: Selection,
  { workspace, search, context }: LinesOptions,
): Promise<MatchedFile[]> {
  const byPath = new Map<string, MatchedFile>();
  for (const file of files) {
    byPath.set(file.path, {
      ...file,
      lines: [],
      note: isNameable(file.path) ? null : "its name is no UTF-8 text on one line, so it cannot be opened by it",
    });
  }
  const { stdout } = await search([
    "--line-number",
    "--column",
    "--byte-offset",
    "--with-filename",
    "--no-context-separator",
    `--max-columns=${lineBytesMax}`,
    `--max-count=${perFile}`,
    `--context=${context}`,
    "--",
    ...files.map(({ path }) => `./${path}`),
  ]);
  let longLines = 0;
  for (const record of stdout.split("\n")) {
    const parsed = parseRecord(record);
    const file = parsed && byPath.get(parsed.path);
    if (!file) continue;
    if ("note" in parsed) {
      file.note = parsed.note;
      continue;
    }
    const { line, place } = parsed;
    if (place !== null && isOmitted(line.text)) {
      longLines += 1;
      line.text = longLines > longLinesMax ? "[a long line]" : await aroundMatch(workspace, file.path, place);
    }
    file.lines.push(line);
  }
  return [...byPath.values()];
}

type LineRecord = { path: string } & (
  | { note: string }
  /** `place`: where in the file the match begins, in bytes; null for a line around it. */
  | { line: MatchedLine; place: number | null }
);

/**
 * `./a/b.ts`, NUL, `12:3:456:text` for a match (line, column, offset of the line), `12-456-text` for a line around one;
 * and `./a/b.png: binary file matches …`.
 */
function parseRecord(record: string): LineRecord | null {
  const nul = record.indexOf("\0");
  if (nul === -1) {
    const path = /^\.\/(.*): binary file matches \(/.exec(record)?.[1];
    return path === undefined ? null : { path, note: "a binary file, which matches" };
  }
  const found = /^(\d+)(?::(\d+):(\d+):|-\d+-)(.*)$/s.exec(record.slice(nul + 1));
  if (!found) return null;
  const [, number, column, offset, text = ""] = found;
  const isMatch = column !== undefined;
  return {
    path: record.slice(2, nul),
    line: { number: Number(number), isMatch, text: text.replace(/\r$/, "") },
    place: isMatch ? Number(offset) + Number(column) - 1 : null,
  };
}

/** What stands for a line over the cap. */
function isOmitted(text: string): boolean {
  return /^\[Omitted long (?:matching line|line with \d+ matches)\]$/.test(text);
}
