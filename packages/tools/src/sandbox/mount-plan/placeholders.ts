import { lstat, lutimes, mkdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { processLives } from "../processes/process-table.ts";

/**
 * Empty files and folders that stand where nothing is, for as long as a command runs: so that something can be mounted
 * there. They are counted, since commands that run side by side need the same ones. Only what was made here is removed,
 * and only while it is empty. Each is marked with the process that made it: what a killed one has left is known by that.
 */
const standing = new Map<string, Placeholder>();

interface Placeholder {
  type: "folder" | "file";
  uses: number;
  /** Folders that were made for it. */
  parents: string[];
  /** The process that it was taken over from, while that one used it; null for one that was made here. */
  from: number | null;
}

export function isPlaceholder(path: string): boolean {
  return standing.has(path);
}

/** Resolves to whether something of that name is there now that belongs to the command's time only. */
export async function standIn(path: string, type: "folder" | "file"): Promise<boolean> {
  const known = standing.get(path);
  if (known) {
    known.uses += 1;
    return true;
  }
  if (await isOfAnother(path)) {
    // The other one leaves it where it is when it is through: a thing that is removed protects nobody any more.
    standing.set(path, { type, uses: 1, parents: [], from: await makerOf(path) });
    await mark(path);
    return true;
  }
  if ((await exists(path)) && !(await removeLeft(path))) return false;
  const parents = await makeParents(dirname(path));
  if (type === "folder") await mkdir(path);
  else await writeFile(path, "", { flag: "wx" });
  standing.set(path, { type, uses: 1, parents, from: null });
  for (const made of [path, ...parents]) await mark(made);
  return true;
}

/** Takes away what a process that has ended could not, with the folders that it made for it. Resolves to whether it did. */
export async function removeLeft(path: string): Promise<boolean> {
  if (standing.has(path) || !(await isLeft(path))) return false;
  const above = dirname(path);
  // To empty a folder is to change it: whether it is one of ours shows before that only.
  const aboveIsLeft = await isLeft(above);
  try {
    await ((await lstat(path)).isDirectory() ? rmdir(path) : unlinkEmpty(path));
  } catch {
    return false;
  }
  if (!aboveIsLeft) return true;
  await mark(above);
  await removeLeft(above);
  return true;
}

export async function standDown(path: string): Promise<void> {
  const known = standing.get(path);
  if (!known) return;
  known.uses -= 1;
  if (known.uses > 0) return;
  standing.delete(path);
  if (await isOfAnother(path)) return release(path);
  if (known.from !== null && processLives(known.from) && !(await isReleased(path))) return mark(path, known.from);
  await (known.type === "folder" ? rmdir(path) : unlinkEmpty(path)).catch(() => {});
  for (const parent of known.parents) await rmdir(parent).catch(() => {});
}

/** Resolves to those that were missing, the innermost first. */
async function makeParents(folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = folder; !(await exists(at)); at = dirname(at)) missing.push(at);
  for (const path of missing.toReversed()) await mkdir(path);
  return missing;
}

/** Nothing else is of these days: the time of a change tells whose a placeholder is, and any change to it takes that away. */
const markedFromS = Date.UTC(1971, 0, 1) / 1000;
const pidMax = 2 ** 22;

async function mark(path: string, pid = process.pid): Promise<void> {
  await lutimes(path, Date.now() / 1000, markedFromS + pid).catch(() => {});
}

/** Tells who took it over that it is not needed here any more: by the other time that a file has. */
async function release(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats) await lutimes(path, markedFromS, stats.mtimeMs / 1000).catch(() => {});
}

async function isReleased(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.atimeMs === markedFromS * 1000;
}

/** Null for what is no placeholder. */
async function makerOf(path: string): Promise<number | null> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null || !(stats.isDirectory() || (stats.isFile() && stats.size === 0))) return null;
  const pid = stats.mtimeMs / 1000 - markedFromS;
  return Number.isInteger(pid) && pid > 0 && pid <= pidMax ? pid : null;
}

async function isLeft(path: string): Promise<boolean> {
  const pid = await makerOf(path);
  // In a container every start may have the same one.
  return pid !== null && (pid === process.pid || !processLives(pid));
}

/** Whether another process that lives uses it: it stands for this one's commands only where they take it over. */
export async function isOfAnother(path: string): Promise<boolean> {
  const pid = await makerOf(path);
  return pid !== null && pid !== process.pid && processLives(pid);
}

async function unlinkEmpty(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile() && stats.size === 0) await unlink(path);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
