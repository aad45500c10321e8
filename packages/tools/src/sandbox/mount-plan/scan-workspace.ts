import type { Dirent } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Grant } from "@troupe/core";
import { entriesIn, type HeldFolder, walkTo } from "../../workspace/held-folder.ts";
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

/** A scan blocks this process for no longer than this. */
const sliceMsMax = 8;

/** Scans a workspace from the top down. Each folder is reached through held folders, so the scan never leaves it. */
export async function scanWorkspace(root: HeldFolder): Promise<WorkspaceScan> {
  const scan: WorkspaceScan = { folders: [""], protectedPaths: [], repositories: [] };
  let sliceEndMs = performance.now() + sliceMsMax;
  let level = [""];
  while (level.length > 0) {
    const found: string[] = [];
    for (const folder of level) {
      found.push(...scanFolder(root, folder, scan));
      if (performance.now() < sliceEndMs) continue;
      await setImmediate();
      sliceEndMs = performance.now() + sliceMsMax;
    }
    level = found.slice(0, Math.max(0, foldersMax - scan.folders.length));
    scan.folders.push(...level);
  }
  return scan;
}

/** Returns the folders to scan next. */
function scanFolder(root: HeldFolder, folder: string, scan: WorkspaceScan): string[] {
  const next: string[] = [];
  for (const entry of entriesAt(root, folder)) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const isGit = entry.name.toLowerCase() === ".git";
    if (isGit && entry.isDirectory()) {
      scan.repositories.push(path);
      scan.protectedPaths.push(...protectedPathsOfRepository(root, path));
    } else if (protectedPart(path) !== null) {
      scan.protectedPaths.push({ path, type: typeOf(entry) });
    } else if (entry.isDirectory() && !skippedNames.includes(entry.name)) {
      next.push(path);
    }
  }
  return next;
}

function protectedPathsOfRepository(root: HeldFolder, git: string): ProtectedPath[] {
  return [git, `${git}/info`].flatMap((folder) =>
    entriesAt(root, folder)
      .map((entry) => ({ path: `${folder}/${entry.name}`, type: typeOf(entry) }))
      .filter(({ path }) => protectedPart(path)?.toLowerCase() === path.toLowerCase()),
  );
}

/** The entries at a path; none if it is no folder by now. */
function entriesAt(root: HeldFolder, path: string): Dirent[] {
  using folder = walkTo(root, path);
  return folder === null ? [] : entriesIn(folder);
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
