import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The state of all files of a workspace, without their content. */
export interface WorkspaceState {
  digest: string;
  /** The file whose state changed last; null for an empty workspace. */
  newest: string | null;
}

/** More files than this are not part of the state. Those near the top of the workspace come first. */
const filesMax = 20_000;

/**
 * Reads names, sizes, times and inodes of the files of a workspace. A write changes the time of a file's inode, which no
 * program can set, so every change of a file changes the digest. The folder `.git` counts with its settings and hooks.
 */
export function workspaceState(workspace: string): WorkspaceState {
  const hash = createHash("sha256");
  let newest: { path: string; at: bigint } | null = null;
  let count = 0;
  for (const { path, stats } of filesIn(workspace)) {
    count += 1;
    if (count > filesMax) break;
    hash.update(`${path}\0${stats.ino}\0${stats.size}\0${stats.mode}\0${stats.mtimeNs}\0${stats.ctimeNs}\0`);
    if (newest === null || stats.ctimeNs > newest.at) newest = { path, at: stats.ctimeNs };
  }
  return { digest: hash.digest("hex"), newest: newest?.path ?? null };
}

/** All files, those near the top first, and installed packages last. */
function* filesIn(workspace: string): Generator<{ path: string; stats: BigIntStats }> {
  const open = [""];
  const packages: string[] = [];
  for (let folder = open.shift(); folder !== undefined; folder = open.shift() ?? packages.shift()) {
    for (const path of pathsIn(workspace, folder)) {
      const stats = statsOf(join(workspace, path));
      if (stats?.isDirectory()) (path.endsWith("node_modules") ? packages : open).push(path);
      else if (stats !== null) yield { path, stats };
    }
  }
}

function pathsIn(workspace: string, folder: string): string[] {
  const paths = namesIn(join(workspace, folder)).map((name) => (folder === "" ? name : `${folder}/${name}`));
  return paths.filter((path) => !isSkipped(path));
}

/** git changes these by itself, also when it only reads. */
function isSkipped(path: string): boolean {
  return path.startsWith(".git/") && !/^\.git\/(config|hooks)(\/|$)/.test(path);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function statsOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}
