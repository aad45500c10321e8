import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Grant } from "@troupe/core";
import { protectedPart } from "../../workspace/protected-paths.ts";

/** What a walk through a workspace found that decides over writing in it. Paths are relative to it. */
export interface WorkspaceFacts {
  /** Every folder that was looked into, the workspace itself (`""`) first. */
  folders: string[];
  /** What no agent writes, wherever it is. */
  protectedPaths: ProtectedPath[];
  /** Repositories: the `.git` folders. */
  repositories: string[];
}

export interface ProtectedPath {
  path: string;
  type: "folder" | "file" | "link";
}

/** Beyond this many folders a walk ends: the nearest to the top have been looked into. */
const foldersMax = 5_000;
const skipped: readonly string[] = ["node_modules", ".git"];

/** Looks through a workspace from the top down, without following links. */
export async function walkWorkspace(root: string): Promise<WorkspaceFacts> {
  const facts: WorkspaceFacts = { folders: [""], protectedPaths: [], repositories: [] };
  let level = [""];
  while (level.length > 0) {
    const found = await Promise.all(level.map((folder) => lookInto(root, folder, facts)));
    level = found.flat().slice(0, Math.max(0, foldersMax - facts.folders.length));
    facts.folders.push(...level);
  }
  return facts;
}

/** Resolves to the folders to look into next. */
async function lookInto(root: string, folder: string, facts: WorkspaceFacts): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const further: string[] = [];
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const isGit = entry.name.toLowerCase() === ".git";
    if (isGit && entry.isDirectory()) {
      facts.repositories.push(path);
      facts.protectedPaths.push(...(await protectedOfRepository(root, path)));
    } else if (protectedPart(path) !== null) {
      facts.protectedPaths.push({ path, type: typeOf(entry) });
    } else if (entry.isDirectory() && !skipped.includes(entry.name)) {
      further.push(path);
    }
  }
  return further;
}

async function protectedOfRepository(root: string, git: string): Promise<ProtectedPath[]> {
  const places = [git, `${git}/info`];
  const found = await Promise.all(
    places.map(async (place) => {
      const entries = await readdir(join(root, place), { withFileTypes: true }).catch(() => []);
      return entries
        .map((entry) => ({ path: `${place}/${entry.name}`, type: typeOf(entry) }))
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
 * The folders that a grant's scopes come to in a workspace: those in which all of its layers allow writing. A folder that
 * is named in full counts although it does not exist.
 */
export function writableFolders(writes: Grant["writes"], folders: readonly string[]): string[] {
  const [first, ...others] = writes.map((scope) => scope.flatMap((wanted) => resolveScope(wanted, folders)));
  if (first === undefined) return [""];
  const meet = (some: readonly string[], more: readonly string[]): string[] =>
    some.flatMap((a) => more.flatMap((b) => (isIn(a, b) ? [a] : isIn(b, a) ? [b] : [])));
  return [...new Set(others.reduce(meet, first))];
}

function resolveScope(wanted: string, folders: readonly string[]): string[] {
  if (!wanted.startsWith("**/")) return [wanted];
  const end = wanted.slice("**/".length);
  return folders.filter((folder) => folder === end || folder.endsWith(`/${end}`));
}

export function isIn(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a path, or a folder on the way to it, is a link: it would lead elsewhere than it says. */
export async function leadsElsewhere(root: string, path: string): Promise<boolean> {
  let at = root;
  for (const segment of path.split("/").filter(Boolean)) {
    at = join(at, segment);
    const stats = await lstat(at).catch(() => null);
    if (stats === null) return false;
    if (stats.isSymbolicLink()) return true;
  }
  return false;
}
