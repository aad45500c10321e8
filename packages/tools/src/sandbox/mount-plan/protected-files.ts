import { join } from "node:path";
import { protectedAtTop, protectedPart } from "../../workspace/protected-paths.ts";
import type { MountStep } from "./mount-steps.ts";
import { isPlaceholder } from "./placeholders.ts";
import { isInFolder, type ProtectedPath, type WorkspaceScan } from "./scan-workspace.ts";

/** A path that needs an empty file or folder, so that a read-only mount can protect it. */
export interface MissingPath {
  path: string;
  type: "folder" | "file";
}

const gitFolders: readonly string[] = ["hooks", "modules"];
const [protectedInGit, protectedNames] = [protectedAtTop.filter(isInGit), protectedAtTop.filter((p) => !isInGit(p))];

/** Protected paths that do not exist yet: names at the workspace's top, and the settings of each repository. */
export function missingProtectedPaths(root: string, { protectedPaths, repositories }: WorkspaceScan): MissingPath[] {
  // A placeholder of another command counts as missing: this command has to hold it too.
  const existing = protectedPaths.filter(({ path }) => !isPlaceholder(join(root, path)));
  const present = new Set(existing.map(({ path }) => path.toLowerCase()));
  const wanted: MissingPath[] = [
    // Always a folder: git ignores an empty one, and no program reads a folder as settings.
    ...protectedNames.map((path) => ({ path, type: "folder" as const })),
    ...repositories.flatMap((git) =>
      protectedInGit
        .map((path) => path.slice(".git/".length))
        // An empty `commondir` would break the repository.
        .filter((name) => name !== "commondir")
        .map((name) => ({ path: `${git}/${name}`, type: gitFolders.includes(name) ? "folder" : "file" }) as const),
    ),
  ];
  return wanted.filter(({ path }) => !present.has(path.toLowerCase()));
}

/**
 * Mounts each protected path in a writable folder read-only, and every folder above it as a mount of its own. A command
 * can rename a folder that contains a mount and put another folder in its place, but it cannot rename a mount.
 */
export function protectedSteps(
  root: string,
  writable: readonly string[],
  { protectedPaths, repositories }: WorkspaceScan,
  placeholders: readonly string[],
): MountStep[] {
  const isWritable = (path: string): boolean => writable.some((folder) => isInFolder(path, folder));
  const readOnly: ProtectedPath[] = [
    ...protectedPaths.filter(({ type }) => type !== "link"),
    ...placeholders
      .filter((path) => protectedPart(path) !== null)
      .map((path) => ({ path, type: typeOfPlaceholder(path) })),
  ].filter(({ path }) => isWritable(path));
  const unrenamable = new Set(readOnly.flatMap(({ path }) => foldersAbove(path)).concat(repositories));
  return [
    ...[...unrenamable]
      .filter(isWritable)
      .map((path): MountStep => ({ kind: "write", path: join(root, path), type: "folder" })),
    ...readOnly.map(
      ({ path, type }): MountStep => ({
        kind: "read",
        path: join(root, path),
        type: type === "file" ? "file" : "folder",
      }),
    ),
  ];
}

function typeOfPlaceholder(path: string): "folder" | "file" {
  const [, inGit] = /(?:^|\/)\.git\/(.*)$/i.exec(path) ?? [];
  return inGit === undefined || gitFolders.includes(inGit) ? "folder" : "file";
}

function isInGit(path: string): boolean {
  return path.startsWith(".git/");
}

/** The folders on the way to a relative path, the outermost first. */
export function foldersAbove(path: string): string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, i) => segments.slice(0, i + 1).join("/"));
}
