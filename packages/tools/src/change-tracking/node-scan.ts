import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
} from "node:fs";
import { holdsByDescriptor, pathOnlyFlag } from "../workspace/held-folder.ts";
import type { ScannedFolder } from "./scan.ts";
import { stampOf } from "./stamp.ts";

/** Deeper folders are not scanned, so that endless nesting ends. */
const depthMax = 128;

const { O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

export interface NodeScanOptions {
  /** Real path of the workspace. */
  root: string;
  /** The folder that is scanned, as a path in a scan. @default the workspace */
  from?: string;
  /** Number of names that are scanned at most. */
  namesMax: number;
  /** Whether a folder needs no scan. Called for each folder below the first. @default never */
  isKnown?: (path: string, identity: string) => boolean;
}

/** A folder that is open, by a path for system calls. */
interface OpenFolder {
  at: string;
  identity: string;
}

/**
 * Scans a folder in this process, which is faster than a child process for a small folder. Paths have one character for
 * each byte, so that names that are not UTF-8 are scanned, too. Links are not followed. Empty if the folder is missing;
 * null if it has more names than allowed.
 */
export function scanWithNode({
  root,
  from = "",
  namesMax,
  isKnown = () => false,
}: NodeScanOptions): Map<string, ScannedFolder> | null {
  const folders = new Map<string, ScannedFolder>();
  let names = 0;

  const scan = ({ at, identity }: OpenFolder, path: string, depth: number): boolean => {
    const lines: string[] = [];
    for (const entry of depth > depthMax ? [] : entriesIn(at)) {
      names += 1;
      if (names > namesMax) return false;
      const name = entry.name.toString("latin1");
      if (!entry.isDirectory()) lines.push(lineOf(`${at}/${name}`, path + name));
      else if (!withFolder(`${at}/${name}`, (found) => scanBelow(found, `${path}${name}/`, depth + 1))) return false;
    }
    folders.set(path, { identity, entries: bytesFrom(lines.join("")) });
    return true;
  };
  const scanBelow = (found: OpenFolder, path: string, depth: number): boolean =>
    isKnown(path, found.identity) || scan(found, path, depth);

  const isWhole = withFolderAt(root, from, (folder) => scan(folder, from, from.split("/").length - 1));
  return isWhole ? folders : null;
}

/** Some entries of one folder, without missing entries and folders. Empty if the folder is missing. */
export function readEntries(root: string, folder: string, names: readonly string[]): Buffer {
  const lines: string[] = [];
  withFolderAt(root, folder, ({ at }) => {
    for (const name of names) lines.push(lineOf(`${at}/${name}`, folder + name));
    return true;
  });
  return bytesFrom(lines.join(""));
}

/** Calls a function with the folder at a path of a scan. True if the folder is missing. */
function withFolderAt(root: string, path: string, use: (folder: OpenFolder) => boolean): boolean {
  const walk = (folder: OpenFolder, [name, ...others]: readonly string[]): boolean =>
    name === undefined ? use(folder) : withFolder(`${folder.at}/${name}`, (found) => walk(found, others));
  const at = Buffer.from(root, "utf8").toString("latin1");
  const stats = statsOf(at);
  return stats === null || walk({ at, identity: identityOf(stats) }, path.split("/").filter(Boolean));
}

/** Calls a function with a folder that stays the same, also if a command exchanges it for a link meanwhile. */
function withFolder(path: string, use: (folder: OpenFolder) => boolean): boolean {
  if (!holdsByDescriptor) {
    const stats = statsOf(path);
    return stats?.isDirectory() !== true || use({ at: path, identity: identityOf(stats) });
  }
  let descriptor: number;
  try {
    descriptor = openSync(bytesFrom(path), pathOnlyFlag | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    return true;
  }
  try {
    const identity = identityOf(fstatSync(descriptor, { bigint: true }));
    return use({ at: `/proc/self/fd/${descriptor}`, identity });
  } finally {
    closeSync(descriptor);
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Empty for an entry that has vanished, or became a folder meanwhile. */
function lineOf(at: string, path: string): string {
  const stats = statsOf(at);
  return stats === null || stats.isDirectory() ? "" : `${stampOf(stats)} ./${path}\0`;
}

function entriesIn(folder: string): Dirent<Buffer>[] {
  try {
    return readdirSync(bytesFrom(folder), { withFileTypes: true, encoding: "buffer" });
  } catch {
    return [];
  }
}

function statsOf(path: string): BigIntStats | null {
  try {
    return lstatSync(bytesFrom(path), { bigint: true });
  } catch {
    return null;
  }
}

function bytesFrom(path: string): Buffer {
  return Buffer.from(path, "latin1");
}
