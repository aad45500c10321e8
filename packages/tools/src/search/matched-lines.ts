import { resolvePath } from "../workspace/resolve-path.ts";
import type { RipgrepResult } from "./ripgrep.ts";
import { isNameable, type MatchCount } from "./ripgrep-output.ts";

/** A file with the lines that a search shows. */
export interface MatchedFile extends MatchCount {
  lines: MatchedLine[];
  /** The reason why no lines are shown. */
  note: string | null;
}

export interface MatchedLine {
  number: number;
  /** False for a context line. */
  isMatch: boolean;
  text: string;
}

/** The files whose lines are read. */
export interface FileSelection {
  files: MatchCount[];
  linesPerFileMax: number;
}

export interface LinesOptions {
  workspace: string;
  search: (args: readonly string[]) => Promise<RipgrepResult>;
  /** Lines before and after each match. */
  context: number;
}

/** One of several files must not use up the limit. */
const linesPerFileMax = 20;
/** Operating systems limit the length of a command line. */
const argumentBytesMax = 64 * 1024;
const lineBytesMax = 400;
const longLinesMax = 50;

/** Selects the first files whose lines fill the limit. */
export function selectFiles(
  files: readonly MatchCount[],
  { limit, isOnly }: { limit: number; isOnly: boolean },
): FileSelection {
  const perFile = isOnly ? limit : Math.min(limit, linesPerFileMax);
  const selected: MatchCount[] = [];
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

/** Reads the matching lines of the selected files, with context. */
export async function readMatchedLines(
  { files, linesPerFileMax: perFile }: FileSelection,
  { workspace, search, context }: LinesOptions,
): Promise<MatchedFile[]> {
  const byPath = new Map<string, MatchedFile>();
  for (const file of files) {
    const note = isNameable(file.path) ? null : "its name is not UTF-8 on one line, so it cannot be opened by name";
    byPath.set(file.path, { ...file, lines: [], note });
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
    const { line, matchOffset } = parsed;
    if (matchOffset !== null && isOmitted(line.text)) {
      longLines += 1;
      line.text = longLines > longLinesMax ? longLineText : await excerptAt(workspace, file.path, matchOffset);
    }
    file.lines.push(line);
  }
  return [...byPath.values()];
}

type LineRecord = { path: string } & (
  | { note: string }
  /** `matchOffset` is the offset of the match in the file, in bytes. Null for a context line. */
  | { line: MatchedLine; matchOffset: number | null }
);

/**
 * Parses `./a/b.ts`, NUL, `12:3:456:text` for a match (line, column, offset of the line), `12-456-text` for a context line,
 * and `./a/b.png: binary file matches …`.
 */
function parseRecord(record: string): LineRecord | null {
  const nul = record.indexOf("\0");
  if (nul === -1) {
    const path = /^\.\/(.*): binary file matches \(/.exec(record)?.[1];
    return path === undefined ? null : { path, note: "a binary file with a match" };
  }
  const match = /^(\d+)(?::(\d+):(\d+):|-\d+-)(.*)$/s.exec(record.slice(nul + 1));
  if (!match) return null;
  const [, number, column, offset, text = ""] = match;
  const isMatch = column !== undefined;
  return {
    path: record.slice(2, nul),
    line: { number: Number(number), isMatch, text: text.replace(/\r$/, "") },
    matchOffset: isMatch ? Number(offset) + Number(column) - 1 : null,
  };
}

/** True for ripgrep's placeholder of a line over the limit. */
function isOmitted(text: string): boolean {
  return /^\[Omitted long (?:matching line|line with \d+ matches)\]$/.test(text);
}

const longLineText = "[a long line]";
/** How much of a long line is shown before its match, and from the match on. */
const bytesBeforeMatch = 100;
const bytesFromMatch = 300;

/** The part of a long line around a match. A minified file is one long line. */
async function excerptAt(workspace: string, path: string, matchOffset: number): Promise<string> {
  const start = Math.max(0, matchOffset - bytesBeforeMatch);
  try {
    const bytes = await readPart(workspace, path, { start, length: matchOffset - start + bytesFromMatch });
    return cutToLine(bytes, matchOffset - start);
  } catch {
    return longLineText;
  }
}

async function readPart(workspace: string, path: string, { start, length }: { start: number; length: number }) {
  await using resolved = await resolvePath(workspace, path);
  if (resolved.found.kind !== "file") throw new Error("it is not a file any more");
  await using file = await resolved.found.file.open();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return buffer.subarray(0, bytesRead);
}

/** Removes the parts of other lines, and adds `…` where the line continues. */
function cutToLine(bytes: Buffer, matchIndex: number): string {
  const lineStart = bytes.lastIndexOf("\n", matchIndex) + 1;
  const lineEnd = bytes.indexOf("\n", matchIndex);
  const part = bytes.subarray(lineStart, lineEnd === -1 ? undefined : lineEnd);
  if (part.includes(0)) return longLineText;
  // The cut can be inside a character.
  const text = part.toString("utf8").replace(/^\uFFFD{1,3}|\uFFFD{1,3}$/g, "");
  return `${lineStart === 0 ? "…" : ""}${text}${lineEnd === -1 ? "…" : ""}`;
}
