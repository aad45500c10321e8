import { chmod, lstat, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isPlaceholder } from "./placeholders.ts";
import {
  goesThroughLink,
  isInFolder,
  type ProtectedPath,
  scanWorkspace,
  type WorkspaceScan,
} from "./scan-workspace.ts";

/**
 * The second layer of protection, after the read-only mounts. It covers protected paths that a mount cannot protect: a
 * symbolic link, a file with another name (hard link), and paths that the command itself creates.
 */
export interface BeforeCommand {
  scan: WorkspaceScan;
  originals: readonly Original[];
  writable: readonly string[];
}

/** A protected link or file as it was before the command. */
export type Original = { path: string; target: string } | { path: string; content: Buffer; mode: number };

/** Larger files are not settings. */
const contentBytesMax = 1024 * 1024;
const entriesMax = 200;

/** Records the protected links and hard-linked files, which a command could change behind a mount. */
export async function recordOriginals(root: string, paths: readonly ProtectedPath[]): Promise<Original[]> {
  const found = await Promise.all(paths.map(({ path }) => recordOriginal(root, path)));
  return found.flat();
}

async function recordOriginal(root: string, path: string): Promise<Original[]> {
  const file = join(root, path);
  const stats = await lstat(file).catch(() => null);
  if (stats === null) return [];
  if (stats.isSymbolicLink()) return [{ path, target: await readlink(file) }];
  if (stats.isFile()) {
    const isHardLinked = stats.nlink > 1 && stats.size <= contentBytesMax;
    const content = isHardLinked ? await readFile(file).catch(() => null) : null;
    return content === null ? [] : [{ path, content, mode: stats.mode }];
  }
  const entries = stats.isDirectory() ? await readdir(file).catch(() => []) : [];
  const below = entries.slice(0, entriesMax).map((name) => recordOriginal(root, `${path}/${name}`));
  return (await Promise.all(below)).flat();
}

/** Removes protected paths that the command created, restores the originals, and resolves to all paths it changed. */
export async function restoreProtected(root: string, before: BeforeCommand): Promise<string[]> {
  const known = new Set(before.scan.protectedPaths.map(({ path }) => path));
  const now = await scanWorkspace(root);
  const created = now.protectedPaths.filter(
    ({ path }) =>
      !known.has(path) &&
      !isPlaceholder(join(root, path)) &&
      before.writable.some((folder) => isInFolder(path, folder)),
  );
  const changed: string[] = [];
  for (const { path } of created) if (await removeCreated(root, path)) changed.push(path);
  for (const original of before.originals) if (await restoreOriginal(root, original)) changed.push(original.path);
  return changed;
}

async function removeCreated(root: string, path: string): Promise<boolean> {
  const folder = dirname(path);
  if (folder !== "." && (await goesThroughLink(root, folder))) return false;
  await rm(join(root, path), { recursive: true, force: true });
  return (await lstat(join(root, path)).catch(() => null)) === null;
}

/** Resolves to whether the command had changed it. */
async function restoreOriginal(root: string, original: Original): Promise<boolean> {
  const file = join(root, original.path);
  if (await goesThroughLink(root, dirname(original.path))) return false;
  if ("target" in original) {
    if ((await readlink(file).catch(() => null)) === original.target) return false;
    await rm(file, { recursive: true, force: true });
    await symlink(original.target, file);
    return true;
  }
  const content = await readFile(file).catch(() => null);
  if (content?.equals(original.content)) return false;
  // As a new file: the hard link's other name keeps the content that the command wrote.
  await rm(file, { recursive: true, force: true });
  await writeFile(file, original.content);
  await chmod(file, original.mode);
  return true;
}
