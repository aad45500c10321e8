import { join, relative } from "node:path";
import type { Grant } from "@troupe/core";
import { createSerialQueue } from "../../serial-queue.ts";
import { type HeldRepository, holdRepository } from "../../workspace/linked-repository.ts";
import { protectedPart } from "../../workspace/protected-paths.ts";
import { type HeldWorkspace, holdSteps, isPlainWay, releaseSteps, WorkspaceChangedError } from "./held-workspace.ts";
import type { HiddenStep, MountStep } from "./mount-steps.ts";
import {
  acquirePlaceholder,
  isOwnedByOtherProcess,
  releasePlaceholder,
  removeAbandonedPlaceholder,
} from "./placeholders.ts";
import { type PreparedRepository, prepareRepository, repositoryFolders } from "./prepare-repository.ts";
import { foldersAbove, type MissingPath, missingProtectedPaths, protectedSteps } from "./protected-files.ts";
import { type Original, recordOriginals, restoreProtected } from "./restore-protected.ts";
import type { SavedFolder } from "./saved-folder.ts";
import { isInFolder, scanWorkspace, type WorkspaceScan, writableFolders } from "./scan-workspace.ts";

/** A workspace that is ready for one command. */
export interface PreparedWorkspace {
  /** Each step that mounts a path of the workspace holds its entry. */
  steps: readonly MountStep[];
  /** Releases the held entries, after the mounts were checked. */
  release(): void;
  /** Removes placeholders and undoes forbidden changes. Resolves to the protected paths that the command had changed. */
  close(end: CommandEnd): Promise<string[]>;
}

/** The end of the command, for its clean-up. */
export interface CommandEnd {
  /** False: the command never started, so it has made nothing. */
  hasRun: boolean;
  /** Keeps the files that the clean-up takes out of the workspace. Null: they are removed. */
  saved: SavedFolder | null;
}

/** Commands of one workspace prepare and close one after the other, because each changes placeholders in it. */
const inTurn = createSerialQueue();

/**
 * Plans a workspace at its own path: writable where every write scope allows it, read-only everywhere else. Protected
 * paths are read-only also if they do not exist yet. Protected paths that cannot be mounted are restored on `close`.
 *
 * Other commands may exchange names of the workspace at any time. So each path is reached through held folders, and
 * each step holds the entry that its mount has to show. Throws a `WorkspaceChangedError` if an entry was exchanged.
 */
export async function prepareWorkspace(
  workspace: HeldWorkspace,
  writes: Grant["writes"],
  hidden: readonly HiddenStep[] = [],
): Promise<PreparedWorkspace> {
  const linked = holdRepository(workspace.folder, workspace.path);
  try {
    if (writes.some((scope) => scope.length === 0)) return readOnlyWorkspace(workspace, linked);
    return await inTurn(workspace.path, () => prepareWritable(workspace, { writes, hidden, linked }));
  } catch (error) {
    linked?.[Symbol.dispose]();
    throw error;
  }
}

/** A command that cannot write anywhere needs no protection and no scan. */
function readOnlyWorkspace(workspace: HeldWorkspace, linked: HeldRepository | null): PreparedWorkspace {
  const steps = [
    ...holdSteps(workspace, [{ kind: "read", path: workspace.path, type: "folder" }]),
    ...(linked ? repositoryFolders(linked) : []),
  ];
  return {
    steps,
    release: () => releaseSteps(steps),
    async close() {
      releaseSteps(steps);
      linked?.[Symbol.dispose]();
      return [];
    },
  };
}

async function prepareWritable(
  workspace: HeldWorkspace,
  { writes, hidden, linked }: { writes: Grant["writes"]; hidden: readonly HiddenStep[]; linked: HeldRepository | null },
): Promise<PreparedWorkspace> {
  const scan = await scanWithoutPlaceholders(workspace);
  const writable = writableFolders(writes, scan.folders).filter((path) => isUsable(workspace, path));
  const placeholders = addPlaceholders(workspace, writable, scan);
  let steps: readonly MountStep[] = [];
  let repository: PreparedRepository | null = null;
  const release = (): void => {
    releaseSteps(steps);
    repository?.release();
  };
  const giveBack = (): void => {
    release();
    for (const { path } of placeholders.toReversed()) releasePlaceholder(workspace, path);
    repository?.close();
  };
  try {
    const originals = recordOriginals(workspace, scan.protectedPaths);
    checkOriginals(originals, scan);
    const planned = plannedSteps(workspace, writable, scan, placeholders);
    steps = holdSteps(workspace, [...planned, ...stepsAbove(workspace, writable, hidden)]);
    repository = linked && prepareRepository(linked, { isWritable: writable.includes("") });
    const close = async ({ hasRun, saved }: CommandEnd): Promise<string[]> => {
      const mayHaveWritten = hasRun && writable.length > 0;
      const changed = mayHaveWritten ? await restoreProtected(workspace, { scan, originals, writable }, saved) : [];
      giveBack();
      linked?.[Symbol.dispose]();
      return changed;
    };
    return {
      steps: [...steps, ...(repository?.steps ?? [])],
      release,
      close: (end) => inTurn(workspace.path, () => close(end)),
    };
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** A protected link that is not a link any more would be neither mounted nor restored. */
function checkOriginals(originals: readonly Original[], { protectedPaths }: WorkspaceScan): void {
  const recorded = new Set(originals.map(({ path }) => path));
  const exchanged = protectedPaths.find(({ path, type }) => type === "link" && !recorded.has(path));
  if (exchanged) throw new WorkspaceChangedError(exchanged.path);
}

/** Makes the missing folders of the write scopes and the missing protected paths. Returns the existing placeholders. */
function addPlaceholders(workspace: HeldWorkspace, writable: readonly string[], scan: WorkspaceScan): MissingPath[] {
  const isWritable = (path: string): boolean => writable.some((folder) => isInFolder(path, folder));
  const wanted: MissingPath[] = [
    ...writable.filter(Boolean).map((path) => ({ path, type: "folder" as const, isProtected: false })),
    ...missingProtectedPaths(workspace.path, scan).filter(({ path }) => isWritable(path)),
  ];
  return wanted.filter(({ path, type }) => isPlaced(workspace, path, type));
}

/** If this process cannot make it, the command cannot make it either. */
function isPlaced(workspace: HeldWorkspace, path: string, type: "folder" | "file"): boolean {
  try {
    return acquirePlaceholder(workspace, path, type);
  } catch {
    return false;
  }
}

function plannedSteps(
  { path: root }: HeldWorkspace,
  writable: readonly string[],
  scan: WorkspaceScan,
  placeholders: readonly MissingPath[],
): MountStep[] {
  const folders = writable.filter(Boolean);
  return [
    { kind: writable.includes("") ? "write" : "read", path: root, type: "folder" },
    ...folders.map((path): MountStep => ({ kind: "write", path: join(root, path), type: "folder" })),
    ...protectedSteps(root, writable, scan, placeholders),
  ];
}

/** Mounts of the folders above hidden paths: without them, a command could rename such a folder and uncover the path. */
function stepsAbove(
  { path: root }: HeldWorkspace,
  writable: readonly string[],
  hidden: readonly HiddenStep[],
): MountStep[] {
  const above = hidden.flatMap(({ path }) => foldersAbove(relative(root, path)));
  return [...new Set(above)]
    .filter((path) => writable.some((folder) => path !== folder && isInFolder(path, folder)))
    .map((path): MountStep => ({ kind: "write", path: join(root, path), type: "folder" }));
}

/** Scans a workspace, leaves out placeholders of other living processes, and removes those of killed processes. */
async function scanWithoutPlaceholders(workspace: HeldWorkspace): Promise<WorkspaceScan> {
  const scan = await scanWorkspace(workspace.folder);
  const protectedPaths = scan.protectedPaths.filter(
    ({ path }) => !removeAbandonedPlaceholder(workspace, path) && !isOwnedByOtherProcess(workspace, path),
  );
  return { ...scan, protectedPaths };
}

/** A folder that is protected, or that a link leads away from the workspace, is not writable. */
function isUsable(workspace: HeldWorkspace, folder: string): boolean {
  return folder === "" || (protectedPart(folder) === null && isPlainWay(workspace, folder));
}
