import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { join } from "node:path";
import type { Blobs } from "@troupe/core";
import { errorCodeOf, type FolderFile, type FolderFiles, protocolVersion } from "@troupe/core/internal";
import { isPlaceholder } from "../sandbox/mount-plan/placeholders.ts";
import { type FoundEntry, type HeldFile, namesIn, type OpenFolder, openRoot } from "../workspace/open-folder.ts";

export interface FolderBounds {
  /** Files that are listed at all. @default 5000 */
  filesMax: number;
  /** The largest file that is kept. @default 32 MiB */
  fileBytesMax: number;
  /** Of all files together that are kept. @default 256 MiB */
  bytesMax: number;
}

export const folderBounds: FolderBounds = {
  filesMax: 5_000,
  fileBytesMax: 32 * 1024 * 1024,
  bytesMax: 256 * 1024 * 1024,
};

/** Names deeper than this are not looked at: whoever nests folders without end is not followed. */
const depthMax = 64;

/** Beyond this many names a walk ends, and what was counted until then is said. */
const namesMax = 50_000;

/** A file that was changed so lately may change again without its times telling. */
const timestampDoubtMs = 50;

/** Files of ours that lie beside those that are being written. */
const temporaryName = /^\.troupe-[0-9a-f-]+\.(tmp|lock)$/;

/** A file whose content is known, for as long as nothing about it has changed. */
interface KnownFile {
  stamp: string;
  file: FolderFile;
}

/** Lists a run's own folder; what it lists it has kept in Blobs. */
export interface FolderScan {
  /** @param keeps whether contents are put into Blobs; else they are only hashed */
  list(options: { keeps: boolean }): Promise<FolderFiles>;
}

/**
 * Looks through a folder again and again, reading only what has changed since. No link is followed, whatever programs in
 * it do meanwhile. What is too large, too much, or has a secret in it is listed as not kept, with the reason.
 */
export function createFolderScan(root: string, blobs: Pick<Blobs, "put">, bounds = folderBounds): FolderScan {
  let known = new Map<string, KnownFile>();

  const list = async ({ keeps }: { keeps: boolean }): Promise<FolderFiles> => {
    const before = known;
    const now = new Map<string, KnownFile>();
    const files: FolderFile[] = [];
    const startedMs = Date.now();
    const options: SaveOptions = { keeps, blobs, bounds, bytes: 0 };
    let unlisted = 0;

    const currentFile = async (path: string, stats: Stats, found: SeenEntry): Promise<FolderFile> => {
      const stamp = `${stats.ino}/${stats.size}/${stats.mtimeMs}/${stats.ctimeMs}/${stats.mode}`;
      const same = before.get(path);
      const isSame = same?.stamp === stamp && startedMs - stats.ctimeMs > timestampDoubtMs;
      const file = isSame ? same.file : await fileOf(path, found, options);
      if (file.unkept === undefined) options.bytes += stats.size;
      // The whole may have room for it the next time.
      if ((keeps || isSame) && file.unkept !== overTotalText(bounds)) now.set(path, { stamp, file });
      return file;
    };

    await walk(root, async (path, found) => {
      if (files.length >= bounds.filesMax) unlisted += 1;
      else if (found.kind === "file") files.push(await currentFile(path, found.file.stats, found));
      else files.push(await fileOf(path, found, options));
    });
    known = now;
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { v: protocolVersion, files, unlisted };
  };

  return { list };
}

/** What is at a name, other than a folder. */
type SeenEntry = Exclude<FoundEntry, { kind: "missing" | "folder" }>;

interface SaveOptions {
  keeps: boolean;
  blobs: Pick<Blobs, "put">;
  bounds: FolderBounds;
  /** Kept so far. */
  bytes: number;
}

async function fileOf(
  path: string,
  found: SeenEntry,
  { keeps, blobs, bounds, bytes }: SaveOptions,
): Promise<FolderFile> {
  if (found.kind === "link") return { path, version: sha256(found.target), link: found.target };
  if (found.kind !== "file") return { path, version: "", unkept: "it is no regular file" };
  const { size, mode } = found.file.stats;
  const named = (mode & 0o100) === 0 ? { path } : { path, executable: true as const };
  if (size > bounds.fileBytesMax) {
    return { ...named, version: "", unkept: `its ${size} bytes are over the ${bounds.fileBytesMax} of one file` };
  }
  if (bytes + size > bounds.bytesMax) return { ...named, version: "", unkept: overTotalText(bounds) };
  const content = await contentOf(found.file);
  const version = sha256(content);
  if (!keeps) return { ...named, version };
  // Another hash means other bytes: what was taken out of them is a secret, and a file without it is another file.
  const isWhole = (await blobs.put(content)) === version;
  return isWhole ? { ...named, version } : { ...named, version, unkept: "it has in it what is known as a secret" };
}

function overTotalText({ bytesMax }: FolderBounds): string {
  return `all files together are over ${bytesMax} bytes`;
}

async function contentOf(file: HeldFile): Promise<Buffer> {
  await using handle = await file.open();
  return await handle.readFile();
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

type VisitEntry = (path: string, found: SeenEntry) => Promise<void>;

/** Every file of a folder and of those below it, through folders that are held open on the way. */
async function walk(root: string, visit: VisitEntry): Promise<void> {
  let names = 0;

  const into = async (folder: OpenFolder, depth: number): Promise<void> => {
    if (depth > depthMax) return;
    for (const name of await namesIn(folder)) {
      names += 1;
      if (names > namesMax) return;
      const isOurs = temporaryName.test(name) || isPlaceholder(join(root, folder.real, name));
      if (!isOurs) await at(folder, name, depth);
    }
  };

  const at = async (folder: OpenFolder, name: string, depth: number): Promise<void> => {
    const found = await lookUp(folder, name);
    const path = folder.real === "" ? name : `${folder.real}/${name}`;
    if (found.kind === "missing") return;
    if (found.kind === "folder") {
      await using inner = found.folder;
      await into(inner, depth + 1);
    } else if (found.kind === "file") {
      await using _file = found.file;
      await visit(path, found);
    } else await visit(path, found);
  };

  await using top = await openRoot(root);
  await into(top, 0);
}

/** What is gone, or cannot be looked at, is not there. */
function lookUp(folder: OpenFolder, name: string): Promise<FoundEntry> {
  return folder.lookUp(name).catch((error: unknown) => {
    if (errorCodeOf(error) === null) throw error;
    return { kind: "missing" };
  });
}
