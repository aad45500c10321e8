import { createHash } from "node:crypto";
import type { FileChange } from "@troupe/core";
import { structuredPatch } from "diff";
import { beginningOf } from "../../text/within-bytes.ts";
import type { Repository } from "./git-repository.ts";

/** What a commit has in it. */
export interface Committed {
  /** Of text and other files, as far as they are small enough to be looked at. */
  changes: FileChange[];
  /** All of them, in words. */
  files: { path: string; kind: FileChange["kind"]; lines: string }[];
}

interface RawChange {
  path: string;
  kind: FileChange["kind"];
  before: string | null;
  after: string | null;
}

const filesMax = 500;
const kinds: Readonly<Record<string, FileChange["kind"]>> = { A: "created", D: "deleted" };

/** What differs between a commit and the one that it followed, null for none. */
export async function changesBetween(from: string | null, to: string, repository: Repository): Promise<Committed> {
  const options = [
    "-r",
    "-z",
    "--raw",
    "--no-renames",
    "--full-index",
    "--no-commit-id",
    "--no-ext-diff",
    "--no-textconv",
  ];
  const raw = await repository.ask(["diff-tree", ...options, ...(from === null ? ["--root", to] : [from, to])]);
  const found = rawChanges(raw);
  const contents = await contentsOf(found.slice(0, filesMax), repository);
  const changes = found.flatMap((change) => fileChange(change, contents) ?? []);
  const counted = new Map(changes.map((change) => [change.path, ` (+${change.linesAdded} -${change.linesRemoved})`]));
  return { changes, files: found.map(({ path, kind }) => ({ path, kind, lines: counted.get(path) ?? "" })) };
}

/** Each reads: `:mode mode id id status`, then, after a NUL, the path. */
function rawChanges(raw: string): RawChange[] {
  const fields = raw.split("\0");
  const changes: RawChange[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [modeBefore = "", modeAfter = "", idBefore = "", idAfter = "", status = ""] = (fields[i] ?? "")
      .slice(1)
      .split(" ");
    const idOf = (mode: string, id: string): string | null => (/^0+$/.test(id) || mode === "160000" ? null : id);
    const kind = kinds[status] ?? "modified";
    changes.push({
      path: fields[i + 1] ?? "",
      kind,
      before: idOf(modeBefore, idBefore),
      after: idOf(modeAfter, idAfter),
    });
  }
  return changes;
}

const contentBytesMax = 4 * 1024 * 1024;

/** What is stored under ids, as far as it is small enough. */
async function contentsOf(changes: readonly RawChange[], { ask }: Repository): Promise<Map<string, Buffer>> {
  const ids = [...new Set(changes.flatMap(({ before, after }) => [before, after]).filter((id) => id !== null))];
  if (ids.length === 0) return new Map();
  const sizes = await ask(ids, {
    script: `printf '%s\\n' "$@" | git cat-file --batch-check='%(objectname) %(objectsize)'`,
  });
  let leftBytes = contentBytesMax;
  const small = sizes
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, size]) => {
      leftBytes -= Number(size);
      return leftBytes >= 0;
    })
    .flatMap(([id]) => id || []);
  if (small.length === 0) return new Map();
  // What a command says is text; bytes of a file need not be.
  const batch = await ask(small, { script: `printf '%s\\n' "$@" | git cat-file --batch | base64` });
  return parseBatch(Buffer.from(batch, "base64"));
}

/** Each reads: `id type size`, a line break, the bytes, a line break. */
function parseBatch(bytes: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < bytes.byteLength; ) {
    const end = bytes.indexOf("\n", at);
    if (end < 0) break;
    const [id = "", , size = ""] = bytes.toString("utf8", at, end).split(" ");
    contents.set(id, bytes.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return contents;
}

/** Null for a file whose content is not at hand. */
function fileChange(
  { path, kind, before, after }: RawChange,
  contents: ReadonlyMap<string, Buffer>,
): FileChange | null {
  const [old, now] = [before, after].map((id) => (id === null ? null : contents.get(id)));
  if (old === undefined || now === undefined || (old === null && now === null)) return null;
  return { path, kind, before: versionOf(old), after: versionOf(now), diffRef: null, ...diffOf(old, now) };
}

function versionOf(content: Buffer | null): string | null {
  return content && createHash("sha256").update(content).digest("hex");
}

const diffBytesMax = 32 * 1024;

function diffOf(old: Buffer | null, now: Buffer | null): Pick<FileChange, "diff" | "linesAdded" | "linesRemoved"> {
  const [before, after] = [old, now].map((content) => textOf(content));
  if (before === null || before === undefined || after === null || after === undefined) {
    return { diff: "", linesAdded: 0, linesRemoved: 0 };
  }
  const { hunks } = structuredPatch("", "", before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const countOf = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  const heads = hunks.map(
    (h) => `@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@\n${h.lines.join("\n")}`,
  );
  return {
    diff: beginningOf(heads.join("\n"), diffBytesMax, "\n[cut]"),
    linesAdded: countOf("+"),
    linesRemoved: countOf("-"),
  };
}

/** Null for what is no text. */
function textOf(content: Buffer | null): string | null {
  if (content === null) return "";
  if (content.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}
