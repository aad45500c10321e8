import type { Blobs } from "@troupe/core";
import type { FileChange, FolderFile, FolderFiles } from "@troupe/core/internal";
import { diffBytesMax, diffTexts } from "../files/text-diff.ts";
import { decodeText } from "../files/text-file.ts";
import { getVerified } from "./file-list.ts";

/** Of one call: more are told by their number alone. */
const changesMax = 200;
const allDiffsBytesMax = 64 * 1024;
const textBytesMax = 1024 * 1024;

/** What programs keep for themselves: it is kept, and told to nobody. */
export const internalPath = /(^|\/)(\.git|node_modules|__pycache__)\//;

/** What has happened to files between two looks at a folder, as the record has it. */
export async function changesBetween(
  before: FolderFiles,
  after: FolderFiles,
  { blobs, without }: { blobs: Pick<Blobs, "get">; without: ReadonlySet<string> },
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
    changes.push({ path, kind, before: from?.version ?? null, after: to?.version ?? null, diffRef: null, ...diff });
  }
  return changes;
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

/** Null for what is no text, or is not kept. */
async function textOf(file: FolderFile | undefined, blobs: Pick<Blobs, "get">): Promise<string | null> {
  if (file === undefined) return "";
  if (file.link !== undefined) return file.link;
  if (file.unkept !== undefined) return null;
  const bytes = await getVerified(blobs, file.version);
  return bytes && bytes.byteLength <= textBytesMax ? (decodeText(Buffer.from(bytes))?.text ?? null) : null;
}
