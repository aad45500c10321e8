import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Grant } from "@troupe/core";
import { foldedName } from "../../workspace/folded-name.ts";
import { type HeldFolder, holdPath, readHeld } from "../../workspace/held-folder.ts";
import { protectedInRepository, repositoryPieces } from "../../workspace/protected-table.ts";
import { leadsToProtected, protectionOfEntry, repositoryRuleOf } from "../../workspace/protection.ts";

/** The contents of a workspace that decide where a command may write. Paths are relative to the workspace. */
export interface WorkspaceScan {
  /** Every folder that was scanned, the workspace itself (`""`) first. */
  folders: string[];
  /** Existing paths that no command may write. */
  protectedPaths: ProtectedPath[];
  /** The `.git` folders, and other folders that git uses as a repository (`""` for the workspace itself). */
  repositories: string[];
}

export interface ProtectedPath {
  path: string;
  type: "folder" | "file" | "link";
  /** The repository that the path belongs to. */
  repository?: string;
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
  const entries = await entriesAt(root, folder);
  for (const entry of entries) {
    const path = pathIn(folder, entry.name);
    if (entry.name.toLowerCase() === ".git" && entry.isDirectory()) await addRepository(root, path, scan);
    else if (isClosed(path, entry)) scan.protectedPaths.push({ path, type: typeOf(entry) });
    else if (entry.isDirectory() && !skippedNames.includes(entry.name)) next.push(path);
  }
  if (hasRepositoryPieces(entries)) await addRepository(root, folder, scan);
  return next;
}

/** A link that leads to a protected path under another name counts as one. */
function isClosed(path: string, entry: Dirent): boolean {
  const protection = protectionOfEntry(path);
  if (protection !== null && protection.class !== "marked") return true;
  return entry.isSymbolicLink() && leadsToProtected(path);
}

function hasRepositoryPieces(entries: readonly Dirent[]): boolean {
  const names = new Set(
    entries.filter(({ name }) => pieceNames.has(name.toLowerCase())).map(({ name }) => foldedName(name)),
  );
  return repositoryPieces.some((pieces) => pieces.every((piece) => names.has(foldedName(piece))));
}

const pieceNames = new Set(repositoryPieces.flat().map(foldedName));

async function addRepository(root: HeldFolder, repository: string, scan: WorkspaceScan): Promise<void> {
  scan.repositories.push(repository);
  const folders = await Promise.all(rulesFolders.map((folder) => matchingFolders(root, repository, folder)));
  const found = await Promise.all(
    folders.flat().map(async (folder) =>
      (await entriesAt(root, pathIn(repository, folder))).flatMap((entry): ProtectedPath[] => {
        const below = pathIn(folder, entry.name);
        const path = pathIn(repository, below);
        const isProtected = isPartOfRepository(root, below, path);
        return isProtected ? [{ path, type: typeOf(entry), repository }] : [];
      }),
    ),
  );
  scan.protectedPaths.push(...found.flat());
}

/** The folders in a repository that contain protected names, such as `info`. */
const rulesFolders = [
  ...new Set(
    protectedInRepository
      .flatMap(({ names }) => names)
      .map((name) => name.slice(0, Math.max(0, name.lastIndexOf("/")))),
  ),
];

/** A folder of the rules, with each name that exists for a `*`. */
async function matchingFolders(root: HeldFolder, repository: string, folder: string): Promise<string[]> {
  const [above, below] = folder.split("/*");
  if (above === undefined || below === undefined) return [folder];
  const entries = await entriesAt(root, pathIn(repository, above));
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${above}/${name}${below}`);
}

/** Whether the entry at a path, which is `below` in a repository, is protected there. */
export function isPartOfRepository(root: HeldFolder, below: string, path: string): boolean {
  const names = below.split("/");
  const rule = repositoryRuleOf(names);
  if (rule?.names.length !== names.length) return false;
  const { harmful } = rule.row;
  if (harmful === undefined) return true;
  using entry = holdPath(root, path);
  const content = entry && readHeld(entry, contentBytesMax);
  return content === null || harmful.test(content.toString("utf8"));
}

/** A longer file counts as harmful. */
const contentBytesMax = 1024 * 1024;

/** The path of a name in a folder of the workspace, whose own path is `""`. */
export function pathIn(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
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
