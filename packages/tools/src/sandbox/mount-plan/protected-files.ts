import { join } from "node:path";
import { heldInRepository, heldWhileMissing } from "../../workspace/protected-paths.ts";
import type { MountStep } from "./mount-steps.ts";
import { isPlaceholder } from "./placeholders.ts";
import { isInFolder, type ProtectedPath, pathIn, type WorkspaceScan } from "./scan-workspace.ts";

/** A path that needs an empty file or folder, so that a mount of it is possible. */
export interface MissingPath {
  path: string;
  type: "folder" | "file";
  /** Whether the mount is read-only. */
  isProtected: boolean;
}

const gitFolders: readonly string[] = ["hooks", "modules"];

/** Protected paths that do not exist yet: names at the workspace's top, and the settings of each repository. */
export function missingProtectedPaths(root: string, { protectedPaths, repositories }: WorkspaceScan): MissingPath[] {
  // A placeholder of another command counts as missing: this command has to hold it too.
  const existing = protectedPaths.filter(({ path }) => !isPlaceholder(join(root, path)));
  const present = new Set(existing.map(({ path }) => path.toLowerCase()));
  const wanted: MissingPath[] = [
    // Always a folder: git ignores an empty one, and no program reads a folder as settings.
    ...heldWhileMissing.map((path) => ({ path, type: "folder", isProtected: true }) as const),
    // No `commondir`: an empty one would break the repository.
    ...repositories.flatMap((git) =>
      heldInRepository.map((name): MissingPath => {
        const type = gitFolders.includes(name) ? "folder" : "file";
        return { path: pathIn(git, name), type, isProtected: true };
      }),
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
  placeholders: readonly MissingPath[],
): MountStep[] {
  const isWritable = (path: string): boolean => writable.some((folder) => isInFolder(path, folder));
  const readOnly: ProtectedPath[] = [
    ...protectedPaths.filter(({ type }) => type !== "link"),
    ...placeholders.filter(({ isProtected }) => isProtected),
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

/** The folders on the way to a relative path, the outermost first. */
export function foldersAbove(path: string): string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, i) => segments.slice(0, i + 1).join("/"));
}
