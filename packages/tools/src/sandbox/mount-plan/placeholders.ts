import { lstat, lutimes, mkdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isProcessAlive } from "../processes/process-table.ts";

/**
 * Empty files and folders that exist while a command runs, because a mount needs an existing path. They are counted:
 * commands that run side by side share them. Only paths that were made here are removed, and only while they are empty.
 * Each one carries the id of the process that made it in its modification time, so that the placeholders of a killed
 * process can be recognised and removed.
 */
const placeholders = new Map<string, Placeholder>();

interface Placeholder {
  type: "folder" | "file";
  uses: number;
  /** Parent folders that were made for it. */
  parents: string[];
  /** The process that made it, if it was taken over while that process used it; null for one that was made here. */
  takenOverFrom: number | null;
}

export function isPlaceholder(path: string): boolean {
  return placeholders.has(path);
}

/** Resolves to true if the path is a placeholder now; false if another file or folder exists there. */
export async function acquirePlaceholder(path: string, type: "folder" | "file"): Promise<boolean> {
  const known = placeholders.get(path);
  if (known) {
    known.uses += 1;
    return true;
  }
  if (await isOwnedByOtherProcess(path)) {
    // Taking it over makes its creator leave it in place: removing it would end the protection of this command.
    placeholders.set(path, { type, uses: 1, parents: [], takenOverFrom: await creatorOf(path) });
    await markAsOwn(path);
    return true;
  }
  if ((await exists(path)) && !(await removeAbandonedPlaceholder(path))) return false;
  const parents = await makeParents(dirname(path));
  if (type === "folder") await mkdir(path);
  else await writeFile(path, "", { flag: "wx" });
  placeholders.set(path, { type, uses: 1, parents, takenOverFrom: null });
  for (const made of [path, ...parents]) await markAsOwn(made);
  return true;
}

/** Removes a placeholder of a process that has ended, with the parent folders made for it. Resolves to whether it did. */
export async function removeAbandonedPlaceholder(path: string): Promise<boolean> {
  if (placeholders.has(path) || !(await isAbandoned(path))) return false;
  const parent = dirname(path);
  // Checked before the removal, which changes the parent's modification time.
  const isParentAbandoned = await isAbandoned(parent);
  try {
    await ((await lstat(path)).isDirectory() ? rmdir(path) : unlinkEmpty(path));
  } catch {
    return false;
  }
  if (!isParentAbandoned) return true;
  await markAsOwn(parent);
  await removeAbandonedPlaceholder(parent);
  return true;
}

/** Gives back one use. The last one removes the placeholder, or leaves it to the process that still uses it. */
export async function releasePlaceholder(path: string): Promise<void> {
  const known = placeholders.get(path);
  if (!known) return;
  known.uses -= 1;
  if (known.uses > 0) return;
  placeholders.delete(path);
  if (await isOwnedByOtherProcess(path)) return markAsReleased(path);
  const { takenOverFrom } = known;
  if (takenOverFrom !== null && isProcessAlive(takenOverFrom) && !(await isReleased(path))) {
    return markAsOwn(path, takenOverFrom);
  }
  await (known.type === "folder" ? rmdir(path) : unlinkEmpty(path)).catch(() => {});
  for (const parent of known.parents) await rmdir(parent).catch(() => {});
}

/** Resolves to the parents that were missing, the innermost first. */
async function makeParents(folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = folder; !(await exists(at)); at = dirname(at)) missing.push(at);
  for (const path of missing.toReversed()) await mkdir(path);
  return missing;
}

/** The modification time is this plus the process id in seconds. No other file is from 1971, and any change resets it. */
const markedFromS = Date.UTC(1971, 0, 1) / 1000;
const pidMax = 2 ** 22;

async function markAsOwn(path: string, pid = process.pid): Promise<void> {
  await lutimes(path, Date.now() / 1000, markedFromS + pid).catch(() => {});
}

/** Tells the process that took a placeholder over that this process needs it no more, by the file's access time. */
async function markAsReleased(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats) await lutimes(path, markedFromS, stats.mtimeMs / 1000).catch(() => {});
}

async function isReleased(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.atimeMs === markedFromS * 1000;
}

/** Null for a path that is not a placeholder. */
async function creatorOf(path: string): Promise<number | null> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null || !(stats.isDirectory() || (stats.isFile() && stats.size === 0))) return null;
  const pid = stats.mtimeMs / 1000 - markedFromS;
  return Number.isInteger(pid) && pid > 0 && pid <= pidMax ? pid : null;
}

async function isAbandoned(path: string): Promise<boolean> {
  const pid = await creatorOf(path);
  // In a container, troupe may have the same pid at every start.
  return pid !== null && (pid === process.pid || !isProcessAlive(pid));
}

/** True if another living process owns this placeholder. This process may use it only after taking it over. */
export async function isOwnedByOtherProcess(path: string): Promise<boolean> {
  const pid = await creatorOf(path);
  return pid !== null && pid !== process.pid && isProcessAlive(pid);
}

async function unlinkEmpty(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile() && stats.size === 0) await unlink(path);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
