import { type BigIntStats, closeSync, constants, type Dirent, lstatSync, openSync, readdirSync } from "node:fs";
import { holdsByDescriptor, pathOnlyFlag } from "../workspace/held-folder.ts";
import { type Scan, stampOf } from "./scan.ts";

/** Deeper folders are not scanned, so that endless nesting ends. */
const depthMax = 128;

const { O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

/**
 * Scans a folder in this process, which is faster than a child process for a small folder. Paths have one character for
 * each byte, so that names that are not UTF-8 are scanned, too. Null if the folder has more names than allowed.
 */
export function scanWithNode(root: string, namesMax: number): Scan | null {
  const lines: string[] = [];
  let names = 0;

  const into = (folder: string, shown: string, depth: number): boolean => {
    for (const entry of depth > depthMax ? [] : entriesIn(folder)) {
      names += 1;
      if (names > namesMax) return false;
      const name = entry.name.toString("latin1");
      const at = `${folder}/${name}`;
      if (!entry.isDirectory()) addEntry(at, `${shown}/${name}`);
      else if (!withFolder(at, (held) => into(held, `${shown}/${name}`, depth + 1))) return false;
    }
    return true;
  };

  const addEntry = (at: string, shown: string): void => {
    const stats = statsOf(at);
    if (stats && !stats.isDirectory()) lines.push(`${stampOf(stats)} ${shown}\0`);
  };

  return into(bytesOf(root).toString("latin1"), ".", 0) ? bytesFrom(lines.join("")) : null;
}

/** Calls a function with a path that leads to this folder, also if a command exchanges it for a link meanwhile. */
function withFolder(path: string, use: (held: string) => boolean): boolean {
  if (!holdsByDescriptor) return use(path);
  let descriptor: number;
  try {
    descriptor = openSync(bytesFrom(path), pathOnlyFlag | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    return true;
  }
  try {
    return use(`/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
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

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "utf8");
}
