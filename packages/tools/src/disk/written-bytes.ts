import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** A folder with more entries is measured up to here. */
const entriesMax = 200_000;

/**
 * The size on the disk of all files in a folder that were made or changed since a moment. A file that only became longer
 * counts whole, so the sum can be too large, and never too small by more than the entries over the limit.
 *
 * @param enoughBytes the search ends when the sum is larger
 */
export async function writtenBytesIn(folder: string, sinceMs: number, enoughBytes: number): Promise<number> {
  let sum = 0;
  let entries = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await entriesOf(next)) {
      entries += 1;
      if (sum > enoughBytes || entries > entriesMax) return sum;
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) sum += await changedBytes(path, sinceMs);
    }
  }
  return sum;
}

async function changedBytes(path: string, sinceMs: number): Promise<number> {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && stats.ctimeMs >= sinceMs ? stats.blocks * 512 : 0;
}

function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
