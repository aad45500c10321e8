import { chmod, lstat, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { leadsElsewhere, type ProtectedPath } from "./scan-workspace.ts";

/**
 * What is protected and yet can be changed behind a mount: a link, on which nothing can be mounted, and a file that has
 * another name elsewhere. How it was is kept, so that it can be put back.
 */
export type Kept = { path: string; target: string } | { path: string; content: Buffer; mode: number };

/** A larger file is no settings. */
const contentBytesMax = 1024 * 1024;

export async function keepUnmountable(root: string, paths: readonly ProtectedPath[]): Promise<Kept[]> {
  const found = await Promise.all(paths.map(({ path }) => keepAt(root, path)));
  return found.flat();
}

async function keepAt(root: string, path: string): Promise<Kept[]> {
  const file = join(root, path);
  const stats = await lstat(file).catch(() => null);
  if (stats === null) return [];
  if (stats.isSymbolicLink()) return [{ path, target: await readlink(file) }];
  if (stats.isFile()) {
    const isKept = stats.nlink > 1 && stats.size <= contentBytesMax;
    const content = isKept ? await readFile(file).catch(() => null) : null;
    return content === null ? [] : [{ path, content, mode: stats.mode }];
  }
  const entries = stats.isDirectory() ? await readdir(file).catch(() => []) : [];
  return (await Promise.all(entries.slice(0, entriesMax).map((name) => keepAt(root, `${path}/${name}`)))).flat();
}

const entriesMax = 200;

/** Resolves to whether it was another thing. */
export async function restoreKept(root: string, kept: Kept): Promise<boolean> {
  const file = join(root, kept.path);
  if (await leadsElsewhere(root, dirname(kept.path))) return false;
  if ("target" in kept) {
    if ((await readlink(file).catch(() => null)) === kept.target) return false;
    await rm(file, { recursive: true, force: true });
    await symlink(kept.target, file);
    return true;
  }
  const content = await readFile(file).catch(() => null);
  if (content?.equals(kept.content)) return false;
  // As a file of its own: its other name stays with what was written there.
  await rm(file, { recursive: true, force: true });
  await writeFile(file, kept.content);
  await chmod(file, kept.mode);
  return true;
}
