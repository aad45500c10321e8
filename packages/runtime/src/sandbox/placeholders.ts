import { lstat, mkdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Empty files and folders that stand where nothing is, for as long as a command runs: so that something can be mounted
 * there. They are counted, since commands that run side by side need the same ones. Only what was made here is removed,
 * and only while it is empty.
 */
const standing = new Map<string, { type: "folder" | "file"; uses: number; parents: string[] }>();

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
  if (await exists(path)) return false;
  const parents = await makeParents(dirname(path));
  if (type === "folder") await mkdir(path);
  else await writeFile(path, "", { flag: "wx" });
  standing.set(path, { type, uses: 1, parents });
  return true;
}

export async function standDown(path: string): Promise<void> {
  const known = standing.get(path);
  if (!known) return;
  known.uses -= 1;
  if (known.uses > 0) return;
  standing.delete(path);
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

async function unlinkEmpty(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile() && stats.size === 0) await unlink(path);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
