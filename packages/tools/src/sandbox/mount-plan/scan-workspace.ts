import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Grant } from "@troupe/core";
import { protectedPart } from "../../workspace/protected-paths.ts";

/** The contents of a workspace that decide where a command may write. Paths are relative to the workspace. */
export interface WorkspaceScan {
  /** Every folder that was scanned, the workspace itself (`""`) first. */
  folders: string[];
  /** Existing paths that no agent may write. */
  protectedPaths: ProtectedPath[];
  /** The `.git` folders. */
  repositories: string[];
}

export interface ProtectedPath {
  path: string;
  type: "folder" | "file" | "link";
}

/** A scan ends after this many folders. It goes level by level, so the deepest ones are missed. */
const foldersMax = 5_000;
const skippedNames: readonly string[] = ["node_modules", ".git"];

/** Scans a workspace from the top down, without following links. */
export async function scanWorkspace(root: string): Promise<WorkspaceScan> {
  const scan: WorkspaceScan = { folders: [""], protectedPaths: [], repositories: [] };
  let level = [""];
  while (level.length > 0) {
    const found = await Promise.all(level.map((folder) => scanFolder(root, folder, scan)));
    level = found.flat().slice(0, Math.max(0, foldersMax - scan.folders.length));
    scan.folders.push(...level);
  }
  return scan;
}

/** Resolves to the folders to scan next. */
async function scanFolder(root: string, folder: string, scan: WorkspaceScan): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const next: string[] = [];
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const isGit = entry.name.toLowerCase() === ".git";
    if (isGit && entry.isDirectory()) {
      scan.repositories.push(path);
      scan.protectedPaths.push(...(await protectedPathsOfRepository(root, path)));
    } else if (protectedPart(path) !== null) {
      scan.protectedPaths.push({ path, type: typeOf(entry) });
    } else if (entry.isDirectory() && !skippedNames.includes(entry.name)) {
      next.push(path);
    }
  }
  return next;
}

async function protectedPathsOfRepository(root: string, git: string): Promise<ProtectedPath[]> {
  const folders = [git, `${git}/info`];
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
      return entries
        .map((entry) => ({ path: `${folder}/${entry.name}`, type: typeOf(entry) }))
        .filter(({ path }) => protectedPart(path)?.toLowerCase() === path.toLowerCase());
    }),
  );
  return found.flat();
}

function typeOf(entry: Dirent): ProtectedPath["type"] {
  if (entry.isSymbolicLink()) return "link";
  return entry.isDirectory() ? "folder" : "file";
}

/**
 * The folders of a workspace in which all layers of a grant allow writing. A folder that a scope names in full counts
 * also if it does not exist.
 */
export function writableFolders(writes: Grant["writes"], folders: readonly string[]): string[] {
  const [first, ...others] = writes.map((scope) => scope.flatMap((pattern) => resolveScope(pattern, folders)));
  if (first === undefined) return [""];
  const intersect = (some: readonly string[], more: readonly string[]): string[] =>
    some.flatMap((a) => more.flatMap((b) => (isInFolder(a, b) ? [a] : isInFolder(b, a) ? [b] : [])));
  return [...new Set(others.reduce(intersect, first))];
}

function resolveScope(pattern: string, folders: readonly string[]): string[] {
  if (!pattern.startsWith("**/")) return [pattern];
  const end = pattern.slice("**/".length);
  return folders.filter((folder) => folder === end || folder.endsWith(`/${end}`));
}

/** Whether a relative path is a folder, or in it. `""` is the workspace. */
export function isInFolder(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a path, or a folder on the way to it, is a symbolic link, so that it names a file somewhere else. */
export async function goesThroughLink(root: string, path: string): Promise<boolean> {
  let at = root;
  for (const segment of path.split("/").filter(Boolean)) {
    at = join(at, segment);
    const stats = await lstat(at).catch(() => null);
    if (stats === null) return false;
    if (stats.isSymbolicLink()) return true;
  }
  return false;
}
