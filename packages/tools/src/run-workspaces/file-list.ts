import { createHash } from "node:crypto";
import type { Blobs } from "@troupe/core";
import {
  canonicalJson,
  decode,
  encode,
  type FileChange,
  type FolderFile,
  FolderFiles,
  protocolVersion,
} from "@troupe/core/internal";
import { diffBytesMax, diffTexts } from "../files/text-diff.ts";
import { decodeText } from "../files/text-file.ts";
import { runsLaterMark } from "../workspace/protected-paths.ts";

/** The list of a run that starts without files. */
export const emptyList: FolderFiles = { v: protocolVersion, files: [], unlisted: 0 };

/** Stores a list of files in the blob store, where every host finds it. */
export function putList(blobs: Pick<Blobs, "put">, list: FolderFiles): Promise<string> {
  return blobs.put(encode(list));
}

/** The stored list with a hash; null if it is missing or damaged. */
export async function getList(blobs: Pick<Blobs, "get">, ref: string | null): Promise<FolderFiles | null> {
  if (ref === null) return emptyList;
  const bytes = await getVerified(blobs, ref);
  return bytes && decode(FolderFiles, bytes, "list of a folder's files");
}

/** The bytes with a hash; null if they are missing or do not match the hash. */
export async function getVerified(blobs: Pick<Blobs, "get">, hash: string): Promise<Uint8Array | null> {
  const bytes = await blobs.get(hash).catch((error: unknown) => {
    if (isDamage(error)) return null;
    throw error;
  });
  return bytes && createHash("sha256").update(bytes).digest("hex") === hash ? bytes : null;
}

function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "DATABASE_DAMAGED";
}

/** Whether two lists are equal. */
export function isSameList(a: FolderFiles, b: FolderFiles): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** Reported changes of one call; for more, only the number is reported. */
const changesMax = 200;
const allDiffsBytesMax = 64 * 1024;
const textBytesMax = 1024 * 1024;

/** Internal files of programs: they are stored, but not reported as changes. */
export const internalPath = /(^|\/)(\.git|node_modules|__pycache__)\//;

/** The changes of files between two lists, as the record stores them. */
export async function changesBetween(
  before: FolderFiles,
  after: FolderFiles,
  { blobs, without }: { blobs: Pick<Blobs, "get" | "put">; without: ReadonlySet<string> },
): Promise<FileChange[]> {
  const [old, now] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])]
    .filter(
      (path) => !internalPath.test(path) && !without.has(path) && old.get(path)?.version !== now.get(path)?.version,
    )
    .sort();
  const changes: FileChange[] = [];
  let left = allDiffsBytesMax;
  for (const path of paths.slice(0, changesMax)) {
    const [from, to] = [old.get(path), now.get(path)];
    const diff = await diffOf(from, to, blobs, Math.min(diffBytesMax, left));
    left = Math.max(0, left - Buffer.byteLength(diff.diff));
    const kind = from === undefined ? "created" : to === undefined ? "deleted" : "modified";
    const versions = { before: from?.version ?? null, after: to?.version ?? null };
    changes.push({
      path,
      kind,
      ...versions,
      diffRef: null,
      ...diff,
      ...runsLaterMark(path),
      ...(await savedOf(from, blobs)),
    });
  }
  return changes;
}

/** The stored content before a change, from which an undo restores the file. */
async function savedOf(
  from: FolderFile | undefined,
  blobs: Pick<Blobs, "put">,
): Promise<Pick<FileChange, "beforeRef" | "unkept" | "typeBefore">> {
  if (from === undefined) return {};
  const { link, unkept, executable, version } = from;
  // The list has the target of a link; the store does not have it yet.
  if (link !== undefined) return { beforeRef: await blobs.put(Buffer.from(link)), typeBefore: "link" };
  const saved = unkept === undefined ? { beforeRef: version } : { unkept };
  return executable ? { ...saved, typeBefore: "executable" } : saved;
}

function byPath({ files }: FolderFiles): Map<string, FolderFile> {
  return new Map(files.map((file) => [file.path, file]));
}

async function diffOf(
  from: FolderFile | undefined,
  to: FolderFile | undefined,
  blobs: Pick<Blobs, "get">,
  bytesMax: number,
) {
  const nothing = { diff: "", linesAdded: 0, linesRemoved: 0 };
  if (bytesMax === 0) return nothing;
  const [before, after] = await Promise.all([textOf(from, blobs), textOf(to, blobs)]);
  return before === null || after === null ? nothing : diffTexts(before, after, bytesMax);
}

/** Null for a binary file, and for one whose content is not stored. */
async function textOf(file: FolderFile | undefined, blobs: Pick<Blobs, "get">): Promise<string | null> {
  if (file === undefined) return "";
  if (file.link !== undefined) return file.link;
  if (file.unkept !== undefined) return null;
  const bytes = await getVerified(blobs, file.version);
  return bytes && bytes.byteLength <= textBytesMax ? (decodeText(Buffer.from(bytes))?.text ?? null) : null;
}
