import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { join } from "node:path";
import type { Blobs } from "@troupe/core";
import { errorCodeOf, type FolderFile, type FolderFiles, protocolVersion } from "@troupe/core/internal";
import { isPlaceholder } from "../sandbox/mount-plan/placeholders.ts";
import { type FoundEntry, type HeldFile, namesIn, type OpenFolder, openRoot } from "../workspace/open-folder.ts";

export interface FolderBounds {
  /** Number of files that are listed. */
  filesMax: number;
  /** Size of the largest file that is saved. */
  fileBytesMax: number;
  /** Total size of the saved files. */
  bytesMax: number;
}

export const folderBounds: FolderBounds = {
  filesMax: 5_000,
  fileBytesMax: 32 * 1024 * 1024,
  bytesMax: 256 * 1024 * 1024,
};

/** Deeper folders are not scanned, so that endless nesting ends. */
const depthMax = 64;

/** A scan ends after this many names. */
const namesMax = 50_000;

/** A file may change again within this time without a new timestamp. */
const timestampDoubtMs = 50;

/** Temporary files and locks of troupe's own writes. */
const temporaryName = /^\.troupe-[0-9a-f-]+\.(tmp|lock)$/;

/** A file whose content is known, until its stamp changes. */
interface KnownFile {
  stamp: string;
  file: FolderFile;
}

/** Lists a run's own folder and saves the listed files to the blob store. */
export interface FolderScan {
  /** @param keeps whether contents are saved to the blob store; otherwise they are only hashed */
  list(options: { keeps: boolean }): Promise<FolderFiles>;
}

/**
 * Scans a folder repeatedly and reads only changed files. It never follows links, also if programs change the folder
 * meanwhile. Files that are too large, too many, or contain a secret are listed as not saved, with the reason.
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
      // Not remembered, because the total may have room for it next time.
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

/** An entry other than a folder. */
type SeenEntry = Exclude<FoundEntry, { kind: "missing" | "folder" }>;

interface SaveOptions {
  keeps: boolean;
  blobs: Pick<Blobs, "put">;
  bounds: FolderBounds;
  /** Bytes saved so far. */
  bytes: number;
}

/**
 * The texts of `unkept` are stored in lists that later scans are compared with: changing a text would make stored lists of
 * running runs differ.
 */
async function fileOf(
  path: string,
  found: SeenEntry,
  { keeps, blobs, bounds, bytes }: SaveOptions,
): Promise<FolderFile> {
  if (found.kind === "link") return { path, version: sha256(found.target), link: found.target };
  if (found.kind !== "file") return { path, version: "", unkept: "it is not a regular file" };
  const { size, mode } = found.file.stats;
  const named = (mode & 0o100) === 0 ? { path } : { path, executable: true as const };
  if (size > bounds.fileBytesMax) {
    return { ...named, version: "", unkept: `its ${size} bytes are over the ${bounds.fileBytesMax} of one file` };
  }
  if (bytes + size > bounds.bytesMax) return { ...named, version: "", unkept: overTotalText(bounds) };
  const content = await contentOf(found.file);
  const version = sha256(content);
  if (!keeps) return { ...named, version };
  // Another hash means that the store removed a secret, so the stored content is not the file.
  const isWhole = (await blobs.put(content)) === version;
  return isWhole ? { ...named, version } : { ...named, version, unkept: "it contains a known secret" };
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

/** Visits every file of a folder and its subfolders, through folders that stay open. */
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

/** An entry that vanished or cannot be read counts as missing. */
function lookUp(folder: OpenFolder, name: string): Promise<FoundEntry> {
  return folder.lookUp(name).catch((error: unknown) => {
    if (errorCodeOf(error) === null) throw error;
    return { kind: "missing" };
  });
}
