import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Grant } from "@troupe/core";
import type { HeldFolder } from "../../workspace/held-folder.ts";
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

/**
 * Scans a workspace from the top down, without following links. The scan only proposes paths: another command can
 * exchange names meanwhile, so each path is held before anything is mounted, made, restored or removed at it.
 */
export async function scanWorkspace(root: HeldFolder): Promise<WorkspaceScan> {
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
async function scanFolder(root: HeldFolder, folder: string, scan: WorkspaceScan): Promise<string[]> {
  const next: string[] = [];
  for (const entry of await entriesAt(root, folder)) {
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

async function protectedPathsOfRepository(root: HeldFolder, git: string): Promise<ProtectedPath[]> {
  const found = await Promise.all(
    [git, `${git}/info`].map(async (folder) =>
      (await entriesAt(root, folder))
        .map((entry) => ({ path: `${folder}/${entry.name}`, type: typeOf(entry) }))
        .filter(({ path }) => protectedPart(path)?.toLowerCase() === path.toLowerCase()),
    ),
  );
  return found.flat();
}

/** The entries of the folder at a relative path; none if it is not there, or this process may not list it. */
async function entriesAt(root: HeldFolder, path: string): Promise<Dirent[]> {
  return readdir(path === "" ? root.path : root.at(path), { withFileTypes: true }).catch(() => []);
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
