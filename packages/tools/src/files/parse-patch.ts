import { failure } from "../workspace/workspace-path.ts";

/** What a patch does to one file. */
export interface FilePatch {
  kind: "add" | "delete" | "update";
  path: string;
  /** Where it is moved to. */
  movedTo: string | null;
  hunks: Hunk[];
}

export interface Hunk {
  /** As it stands in the patch, for messages. */
  head: string;
  /** The first of its old lines, counted from 1, where the patch says it. */
  line: number | null;
  /** A line that comes before it, where the patch names one. */
  after: string | null;
  /** Whether its last old line is the file's last. */
  isAtEnd: boolean;
  lines: { kind: " " | "-" | "+"; text: string }[];
  /** Whether the patch says that the old, or the new, last line has no end. */
  open: { old: boolean; new: boolean };
}

/** Reads a patch of either form: a unified difference, or the one that begins with `*** Begin Patch`. */
export function parsePatch(patch: string): FilePatch[] {
  const lines = patch.replaceAll("\r\n", "\n").split("\n");
  const files = lines.some((line) => line.startsWith("*** ") && fileHeads.some(({ head }) => line.startsWith(head)))
    ? parseMarked(lines)
    : parseUnified(lines);
  if (files.length === 0) {
    throw badPatch(
      'there is no file in it; begin with "*** Begin Patch" and "*** Update File: path", or with "--- a/path"',
    );
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
    const begun = fileBegunBy(line);
    if (begun) {
      files.push(begun);
    } else if (line.startsWith(moveHead) && file) {
      file.movedTo = line.slice(moveHead.length).trim();
    } else if (line === "*** End of File" && file) {
      for (const hunk of file.hunks.slice(-1)) hunk.isAtEnd = true;
    } else if (file && !isFrame(line)) {
      takeLine(file, line, i + 1, lines);
    } else if (line.trim() !== "" && !isFrame(line)) {
      throw badPatch(`line ${i + 1} is before the first file: ${JSON.stringify(line.slice(0, 80))}`);
    }
  }
  return files;
}

function fileBegunBy(line: string): FilePatch | null {
  const begun = fileHeads.find(({ head }) => line.startsWith(head));
  return begun ? { kind: begun.kind, path: line.slice(begun.head.length).trim(), movedTo: null, hunks: [] } : null;
}

function isFrame(line: string): boolean {
  return line.startsWith("*** Begin Patch") || line.startsWith("*** End Patch");
}

/** A line within a file: the head of a hunk, or one of its lines. */
function takeLine(file: FilePatch, line: string, number: number, lines: readonly string[]): void {
  if (line.startsWith("@@")) {
    file.hunks.push(newHunk(line));
    return;
  }
  if (line === "" && isTail(lines, number)) return;
  const hunk = file.hunks.at(-1) ?? newHunk("");
  if (file.hunks.length === 0) file.hunks.push(hunk);
  if (line.startsWith("\\")) {
    markOpen(hunk);
    return;
  }
  const kind = line === "" ? " " : line[0];
  if (kind !== " " && kind !== "-" && kind !== "+") {
    const what = file.kind === "add" ? "+" : "a space, - or +";
    throw badPatch(`line ${number} has to begin with ${what}: ${JSON.stringify(line.slice(0, 80))}`);
  }
  if (file.kind === "add" && kind !== "+" && line.trim() !== "") {
    throw badPatch(`line ${number} has to begin with +, being of a new file: ${JSON.stringify(line.slice(0, 80))}`);
  }
  hunk.lines.push({ kind, text: line.slice(1) });
}

/** Whether only blank lines, or the next head, follow: an empty line there is of no hunk. */
function isTail(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from).find((line) => line !== "");
  return next === undefined || next.startsWith("*** ") || /^(diff |--- |Index: )/.test(next);
}

function markOpen({ lines, open }: Hunk): void {
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
      files.push(unifiedFile(nameIn(line), nameIn(next)));
      i += 1;
    } else if (file && (file.hunks.length > 0 ? /^([ +\\-]|@@|$)/.test(line) : line.startsWith("@@"))) {
      takeLine(file, line, i + 1, lines);
    }
    // Whatever else there is (diff --git, index, modes) says nothing that is needed.
  }
  return files;
}

function unifiedFile(from: string | null, to: string | null): FilePatch {
  if (from === null && to === null) throw badPatch("a file in it is neither before nor after the change");
  if (from === null) return { kind: "add", path: to ?? "", movedTo: null, hunks: [] };
  if (to === null) return { kind: "delete", path: from, movedTo: null, hunks: [] };
  return { kind: "update", path: from, movedTo: to === from ? null : to, hunks: [] };
}

/** Without `a/` and `b/`, and without a date behind a tab; null for /dev/null. */
function nameIn(line: string): string | null {
  const name = (line.slice(4).split("\t")[0] ?? "").trim();
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

export function badPatch(reason: string) {
  return failure("params", `the patch cannot be read: ${reason}`);
}
