import { failure } from "../workspace/workspace-path.ts";

/** The change that a patch makes to one file. */
export interface FilePatch {
  kind: "add" | "delete" | "update";
  path: string;
  /** New path of a file that the patch moves. */
  movedTo: string | null;
  hunks: Hunk[];
}

export interface Hunk {
  /** The head line as the patch has it, for messages. */
  head: string;
  /** Number of the first old line, counted from 1. Null where the patch gives none. */
  line: number | null;
  /** A line of the file that precedes the hunk. Null where the patch names none. */
  after: string | null;
  /** True when the last old line is the last line of the file. */
  isAtEnd: boolean;
  lines: { kind: " " | "-" | "+"; text: string }[];
  /** True where the patch says that the old, or the new, last line has no line end. */
  open: { old: boolean; new: boolean };
}

/** Parses a patch: a unified diff, or the form that starts with `*** Begin Patch`. */
export function parsePatch(patch: string): FilePatch[] {
  const lines = patch.replaceAll("\r\n", "\n").split("\n");
  const files = lines.some((line) => line.startsWith("*** ") && fileHeads.some(({ head }) => line.startsWith(head)))
    ? parseMarked(lines)
    : parseUnified(lines);
  if (files.length === 0) {
    throw badPatch('it names no file; start with "*** Begin Patch" and "*** Update File: path", or with "--- a/path"');
  }
  return files;
}

const fileHeads = [
  { head: "*** Update File: ", kind: "update" },
  { head: "*** Add File: ", kind: "add" },
  { head: "*** Delete File: ", kind: "delete" },
] as const;

const moveHead = "*** Move to: ";

function parseMarked(lines: readonly string[]): FilePatch[] {
  const files: FilePatch[] = [];
  for (const [i, line] of lines.entries()) {
    const file = files.at(-1);
    const started = fileStartedBy(line);
    if (started) {
      files.push(started);
    } else if (line.startsWith(moveHead) && file) {
      file.movedTo = line.slice(moveHead.length).trim();
    } else if (line === "*** End of File" && file) {
      for (const hunk of file.hunks.slice(-1)) hunk.isAtEnd = true;
    } else if (file && !isFrame(line)) {
      addLine(file, line, i + 1, lines);
    } else if (line.trim() !== "" && !isFrame(line)) {
      throw badPatch(`line ${i + 1} is before the first file: ${JSON.stringify(line.slice(0, 80))}`);
    }
  }
  return files;
}

function fileStartedBy(line: string): FilePatch | null {
  const started = fileHeads.find(({ head }) => line.startsWith(head));
  return started
    ? { kind: started.kind, path: line.slice(started.head.length).trim(), movedTo: null, hunks: [] }
    : null;
}

function isFrame(line: string): boolean {
  return line.startsWith("*** Begin Patch") || line.startsWith("*** End Patch");
}

/** Adds a line of a file's patch: the head of a hunk, or one of its lines. */
function addLine(file: FilePatch, line: string, number: number, lines: readonly string[]): void {
  if (line.startsWith("@@")) {
    file.hunks.push(newHunk(line));
    return;
  }
  if (line === "" && isBeforeNextHead(lines, number)) return;
  const hunk = file.hunks.at(-1) ?? newHunk("");
  if (file.hunks.length === 0) file.hunks.push(hunk);
  if (line.startsWith("\\")) {
    markMissingLineEnd(hunk);
    return;
  }
  const kind = line === "" ? " " : line[0];
  if (kind !== " " && kind !== "-" && kind !== "+") {
    const what = file.kind === "add" ? "+" : "a space, - or +";
    throw badPatch(`line ${number} must start with ${what}: ${JSON.stringify(line.slice(0, 80))}`);
  }
  if (file.kind === "add" && kind !== "+" && line.trim() !== "") {
    throw badPatch(`line ${number} of a new file must start with +: ${JSON.stringify(line.slice(0, 80))}`);
  }
  hunk.lines.push({ kind, text: line.slice(1) });
}

/** True when only blank lines or the next head follow. An empty line there belongs to no hunk. */
function isBeforeNextHead(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from).find((line) => line !== "");
  return next === undefined || next.startsWith("*** ") || /^(diff |--- |Index: )/.test(next);
}

function markMissingLineEnd({ lines, open }: Hunk): void {
  const last = lines.at(-1)?.kind;
  if (last !== "+") open.old = true;
  if (last !== "-") open.new = true;
}

function newHunk(head: string): Hunk {
  const numbers = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(head);
  const after = numbers ? "" : head.replace(/^@@/, "").replace(/@@$/, "").trim();
  const line = numbers ? Number(numbers[1]) + (numbers[2] === "0" ? 1 : 0) : null;
  return { head, line, after: after || null, isAtEnd: false, lines: [], open: { old: false, new: false } };
}

function parseUnified(lines: readonly string[]): FilePatch[] {
  const files: FilePatch[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const next = lines[i + 1] ?? "";
    const file = files.at(-1);
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      files.push(unifiedFile(pathIn(line), pathIn(next)));
      i += 1;
    } else if (file && (file.hunks.length > 0 ? /^([ +\\-]|@@|$)/.test(line) : line.startsWith("@@"))) {
      addLine(file, line, i + 1, lines);
    }
    // Other lines (diff --git, index, modes) are not needed.
  }
  return files;
}

function unifiedFile(from: string | null, to: string | null): FilePatch {
  if (from === null && to === null) throw badPatch("it names /dev/null as both the old and the new file");
  if (from === null) return { kind: "add", path: to ?? "", movedTo: null, hunks: [] };
  if (to === null) return { kind: "delete", path: from, movedTo: null, hunks: [] };
  return { kind: "update", path: from, movedTo: to === from ? null : to, hunks: [] };
}

/** The path without `a/` or `b/` and without the date after a tab. Null for /dev/null. */
function pathIn(line: string): string | null {
  const name = (line.slice(4).split("\t")[0] ?? "").trim();
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

function badPatch(reason: string) {
  return failure("params", `the patch cannot be read: ${reason}`);
}
