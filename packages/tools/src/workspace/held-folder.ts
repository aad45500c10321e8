import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { errorCodeOf } from "@troupe/core/internal";

/**
 * An entry of a workspace that is held by a descriptor: it stays the same entry, whatever its name leads to by now. On
 * systems other than Linux it is held by name, which protects less against a process that exchanges names meanwhile.
 *
 * All calls are synchronous. They are many and short, and a turn through the thread pool would cost more than the call.
 */
export interface HeldEntry extends Disposable {
  readonly kind: "folder" | "file" | "link" | "special";
  /** Descriptor of this process; null on a system that holds by name. */
  readonly descriptor: number | null;
  /** Path for system calls of this process. It leads to this entry and no other. */
  readonly path: string;
  /** Device and inode number, at the time when the entry was found. */
  readonly identity: string;
  readonly stats: BigIntStats;
}

export interface HeldFolder extends HeldEntry {
  readonly kind: "folder";
  /** The path of a name in the folder, for system calls of this process that do not follow a link at the end. */
  at(name: string): string;
}

/** O_PATH, which Node does not export. The value is the same on every platform that Node supports on Linux. */
export const pathOnlyFlag = 0o10000000;

/** Whether this system can name the target of a descriptor. */
export const holdsByDescriptor = process.platform === "linux" && existsSync("/proc/self/fd");

const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;

/** Holds the folder at an absolute path. Links on the way are followed, the last name must not be one. */
export function holdRoot(path: string): HeldFolder {
  if (!holdsByDescriptor) return entryByName(path, lstatSync(path, { bigint: true })) as HeldFolder;
  return entryOf(openSync(path, pathOnlyFlag | O_DIRECTORY | O_NOFOLLOW)) as HeldFolder;
}

/** Holds the root of a process's file system as that process sees it. Linux only. */
export function holdRootOf(pid: string): HeldFolder {
  return entryOf(openSync(`/proc/${pid}/root`, pathOnlyFlag | O_DIRECTORY)) as HeldFolder;
}

/** Holds the entry at a name, also a link itself. Null if there is none. */
export function holdEntry(folder: HeldFolder, name: string): HeldEntry | null {
  if (name === ".." || name.includes("/")) return null;
  try {
    if (!holdsByDescriptor) return entryByName(folder.at(name), lstatSync(folder.at(name), { bigint: true }));
    return entryOf(openSync(folder.at(name), pathOnlyFlag | O_NOFOLLOW));
  } catch (error) {
    if (missingCodes.has(errorCodeOf(error) ?? "")) return null;
    throw error;
  }
}

const missingCodes = new Set(["ENOENT", "ENOTDIR", "EACCES", "ESTALE", "ENAMETOOLONG"]);

/** Holds the folder at a name. Null for anything else, such as a link to a folder. */
export function holdFolder(folder: HeldFolder, name: string): HeldFolder | null {
  const entry = holdEntry(folder, name);
  if (entry === null || isFolder(entry)) return entry;
  entry[Symbol.dispose]();
  return null;
}

export function isFolder(entry: HeldEntry): entry is HeldFolder {
  return entry.kind === "folder";
}

/** Walks to the entry at a relative path, through folders only. Null if a part of the path is missing or a link. */
export function holdPath(root: HeldFolder, path: string): HeldEntry | null {
  const parent = holdParent(root, path);
  if (parent === null) return null;
  using _parent = parent.folder;
  return holdEntry(parent.folder, parent.name);
}

/** Walks to the folder at a relative path. Null if a part of the path is not a folder; `""` is the root. */
export function walkTo(root: HeldFolder, path: string): HeldFolder | null {
  let at = holdEntry(root, ".") as HeldFolder | null;
  for (const name of path.split("/").filter(Boolean)) {
    if (at === null) return null;
    using before = at;
    at = holdFolder(before, name);
  }
  return at;
}

/** Walks to the folder of a relative path. The caller disposes of it. */
export function holdParent(root: HeldFolder, path: string): { folder: HeldFolder; name: string } | null {
  const end = path.lastIndexOf("/");
  const folder = walkTo(root, end === -1 ? "" : path.slice(0, end));
  return folder && { folder, name: path.slice(end + 1) };
}

/** Holds the folder at an absolute path that is free of links. Null if a part of it is a link by now, or missing. */
export function holdReal(path: string): HeldFolder | null {
  using top = holdRoot("/");
  return walkTo(top, path);
}

/** The content of a held file; null for anything else, and for a file that is larger or cannot be read. */
export function readHeld(entry: HeldEntry, bytesMax: number): Buffer | null {
  if (entry.kind !== "file" || entry.stats.size > bytesMax) return null;
  try {
    const descriptor = openSync(entry.path, O_RDONLY | O_NONBLOCK);
    try {
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/** The entries of a folder; none if this process may not list it. */
export function entriesIn(folder: HeldFolder): Dirent[] {
  try {
    return readdirSync(folder.path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function entryOf(descriptor: number): HeldEntry {
  try {
    const path = `/proc/self/fd/${descriptor}`;
    return entry(path, fstatSync(descriptor, { bigint: true }), descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function entryByName(path: string, stats: BigIntStats): HeldEntry {
  return entry(path, stats, null);
}

function entry(path: string, stats: BigIntStats, descriptor: number | null): HeldEntry {
  let isOpen = true;
  const held = {
    kind: kindOf(stats),
    descriptor,
    path,
    identity: identityOf(stats),
    stats,
    // Not normalised: `/proc/self/fd/3/.` is the folder, `/proc/self/fd/3` is a link.
    at: (name: string): string => `${path}/${name}`,
    [Symbol.dispose]() {
      if (isOpen && descriptor !== null) closeSync(descriptor);
      isOpen = false;
    },
  };
  return held;
}

/** Equal for the same entry, however it was reached. */
export function identityOf({ dev, ino }: { dev: bigint | number; ino: bigint | number }): string {
  return `${dev}:${ino}`;
}

function kindOf(stats: BigIntStats): HeldEntry["kind"] {
  if (stats.isDirectory()) return "folder";
  if (stats.isFile()) return "file";
  return stats.isSymbolicLink() ? "link" : "special";
}
