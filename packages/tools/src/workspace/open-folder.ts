import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { syncFolder } from "../disk/atomic-write.ts";

/**
 * A folder of a workspace that is open. On Linux it is held by a handle: whatever becomes of its name meanwhile, what is
 * done through it is done in the folder that was checked.
 *
 * Elsewhere nothing names what a handle holds, so that names are checked, used, and checked again. Somebody who swaps a
 * folder for a link at the right moments can get between: the protection against races is weaker there.
 */
export interface OpenFolder extends AsyncDisposable {
  /** Relative to the workspace, free of links, with `/`; empty for the workspace itself. */
  readonly real: string;
  /** For system calls of this process, and as the working folder of one that it starts. Valid while it is open. */
  readonly path: string;
  /** A name in it, for system calls of this process. Never one with a separator in it. */
  at(name: string): string;
  /** What a name in it is. A link is never followed. */
  lookUp(name: string): Promise<FoundEntry>;
  /** Rejects where its name leads elsewhere by now. Held by a handle, that does not matter. */
  recheck(): Promise<void>;
}

/** What is at a name. Folders and files that are found are held, and have to be disposed of. */
export type FoundEntry =
  | { kind: "missing" }
  | { kind: "link"; target: string }
  | { kind: "folder"; folder: OpenFolder }
  | { kind: "file"; file: HeldFile }
  | { kind: "special"; what: string };

/** A regular file that was found, and nothing else even if its name leads elsewhere by now. */
export interface HeldFile extends AsyncDisposable {
  readonly stats: Stats;
  open(): Promise<FileHandle>;
}

/** How folders are held. */
export type FolderAccess = "handles" | "names";

/** O_PATH, which Node has no name for: it is the same on all that Linux and Node run on together. */
const pathOnlyFlag = 0o10000000;

const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;

/** The better one of those that this machine has. */
export const bestFolderAccess: FolderAccess =
  process.platform === "linux" && existsSync("/proc/self/fd") ? "handles" : "names";

/** Opens the workspace itself, which is trusted to be what its owner says, links on the way to it included. */
export async function openRoot(workspace: string, holding: FolderAccess = bestFolderAccess): Promise<OpenFolder> {
  if (holding === "names") return openByName(await realpath(workspace), "");
  return openByHandle(await open(workspace, pathOnlyFlag | O_DIRECTORY), "");
}

/** The names in a folder, sorted. */
export async function namesIn(folder: OpenFolder): Promise<string[]> {
  return (await readdir(folder.path)).sort();
}

/** One of a folder's folders, opened; null for whatever is none. */
export async function folderIn(folder: OpenFolder, name: string): Promise<OpenFolder | null> {
  const found = await folder.lookUp(name);
  if (found.kind === "file") await found.file[Symbol.asyncDispose]();
  return found.kind === "folder" ? found.folder : null;
}

/** Makes a folder in one that is open, unless it is there, and says whether it was made. */
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

/** Makes the names in a folder durable. */
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

/** The name is opened as the thing that it is, a link included; through that handle nothing else can be reached. */
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
    // Opened anew through the handle: the same file, and no device that somebody has put at its name.
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

/** What the link says may be out of date by now. That does no harm: every step of where it leads is looked at as well. */
async function linkAt(path: string): Promise<FoundEntry> {
  try {
    return { kind: "link", target: await readlink(path) };
  } catch (error) {
    // Swapped between two looks: it is as if it had just been made anew.
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
