import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { syncFolder } from "../disk/atomic-write.ts";
import { holdsByDescriptor, pathOnlyFlag } from "./held-folder.ts";

/**
 * An open folder of a workspace. On Linux a handle holds it: work through the handle happens in the checked folder,
 * also if its name is replaced meanwhile.
 *
 * Other systems cannot name the target of a handle, so names are checked, used, and checked again. A process that swaps
 * a folder for a link at the right moments can get between: the protection against races is weaker there.
 */
export interface OpenFolder extends AsyncDisposable {
  /** Path relative to the workspace, free of links, with `/`; empty for the workspace itself. */
  readonly real: string;
  /**
   * For system calls of this process, and as the working folder of a process that it starts. Valid while the folder is
   * open.
   */
  readonly path: string;
  /** The path of a name in the folder, for system calls of this process. The name must not contain a separator. */
  at(name: string): string;
  /** The entry at a name. Links are not followed. */
  lookUp(name: string): Promise<FoundEntry>;
  /** Rejects if the folder's name now leads elsewhere. Does nothing for a folder held by a handle. */
  recheck(): Promise<void>;
}

/** The entry at a name. The caller disposes of a folder or file. */
export type FoundEntry =
  | { kind: "missing" }
  | { kind: "link"; target: string }
  | { kind: "folder"; folder: OpenFolder }
  | { kind: "file"; file: HeldFile }
  | { kind: "special"; what: string };

/** A regular file that stays the same file, also if its name leads elsewhere by now. */
export interface HeldFile extends AsyncDisposable {
  readonly stats: Stats;
  open(): Promise<FileHandle>;
}

/** Means of holding folders: by handles (safe against races) or by names. */
export type FolderAccess = "handles" | "names";

const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;

/** The safer means that this machine supports. */
export const bestFolderAccess: FolderAccess = holdsByDescriptor ? "handles" : "names";

/** Opens the workspace itself. Its path is trusted, including links on the way. */
export async function openRoot(workspace: string, holding: FolderAccess = bestFolderAccess): Promise<OpenFolder> {
  if (holding === "names") return openByName(await realpath(workspace), "");
  return openByHandle(await open(workspace, pathOnlyFlag | O_DIRECTORY), "");
}

/** The names in a folder, sorted. */
export async function namesIn(folder: OpenFolder): Promise<string[]> {
  return (await readdir(folder.path)).sort();
}

/** Opens a subfolder; null if the name is not a folder. */
export async function folderIn(folder: OpenFolder, name: string): Promise<OpenFolder | null> {
  const found = await folder.lookUp(name);
  if (found.kind === "file") await found.file[Symbol.asyncDispose]();
  return found.kind === "folder" ? found.folder : null;
}

/** Makes a subfolder and returns true; false if the name exists. */
export async function makeFolder(folder: OpenFolder, name: string): Promise<boolean> {
  await folder.recheck();
  try {
    await mkdir(folder.at(name));
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Flushes the names in a folder to disk. */
export function syncNames(folder: OpenFolder): Promise<void> {
  return syncFolder(folder.path);
}

function openByHandle(handle: FileHandle, real: string): OpenFolder {
  const path = handlePath(handle);
  const at = (name: string): string => `${path}/${name}`;
  return {
    real,
    path,
    at,
    lookUp: (name) => lookUpByHandle(at(name), childPath(real, name)),
    recheck: async () => {},
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Opens the entry itself, also a link. Only this entry can be reached through the handle. */
async function lookUpByHandle(path: string, real: string): Promise<FoundEntry> {
  let handle: FileHandle;
  try {
    handle = await open(path, pathOnlyFlag | O_NOFOLLOW);
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return { kind: "missing" };
    throw error;
  }
  const stats = await handle.stat();
  if (stats.isDirectory()) return { kind: "folder", folder: openByHandle(handle, real) };
  if (stats.isFile()) {
    // Opened again through the handle: the same file, and not a device that replaced its name.
    const openFile = (): Promise<FileHandle> => open(handlePath(handle), O_RDONLY | O_NONBLOCK);
    return { kind: "file", file: { stats, open: openFile, [Symbol.asyncDispose]: () => handle.close() } };
  }
  await handle.close();
  return stats.isSymbolicLink() ? linkAt(path) : { kind: "special", what: specialKind(stats) };
}

function openByName(path: string, real: string): OpenFolder {
  const at = (name: string): string => join(path, name);
  const recheck = async (): Promise<void> => {
    if ((await realpath(path)) !== path) throw movedError(real);
  };
  return {
    real,
    path,
    at,
    lookUp: async (name) => {
      const found = await lookUpByName(at(name), childPath(real, name), recheck);
      await recheck();
      return found;
    },
    recheck,
    [Symbol.asyncDispose]: async () => {},
  };
}

async function lookUpByName(path: string, real: string, recheck: () => Promise<void>): Promise<FoundEntry> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (errorCodeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return { kind: "missing" };
  if (stats.isSymbolicLink()) return linkAt(path);
  if (stats.isDirectory()) return { kind: "folder", folder: openByName(path, real) };
  if (!stats.isFile()) return { kind: "special", what: specialKind(stats) };
  const openFile = async (): Promise<FileHandle> => {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const opened = await handle.stat();
      if (opened.ino !== stats.ino || opened.dev !== stats.dev) throw movedError(real);
      await recheck();
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  };
  return { kind: "file", file: { stats, open: openFile, [Symbol.asyncDispose]: async () => {} } };
}

/** The target may be out of date by now. That is harmless: each step of the target is looked up as well. */
async function linkAt(path: string): Promise<FoundEntry> {
  try {
    return { kind: "link", target: await readlink(path) };
  } catch (error) {
    // Swapped between two lookups: treated like a missing entry.
    if (errorCodeOf(error) === "EINVAL" || errorCodeOf(error) === "ENOENT") return { kind: "missing" };
    throw error;
  }
}

function specialKind(stats: Stats): string {
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

function movedError(real: string): Error {
  return Object.assign(new Error(`${real} was moved while it was used`), { code: "ESTALE" });
}

function childPath(real: string, name: string): string {
  return real === "" ? name : `${real}/${name}`;
}

function handlePath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}
