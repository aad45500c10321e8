import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Grant } from "@troupe/core";
import { createSerialQueue } from "../../serial-queue.ts";
import { type LinkedRepository, linkedRepository } from "../../workspace/linked-repository.ts";
import { protectedPart } from "../../workspace/protected-paths.ts";
import type { MountStep } from "./mount-steps.ts";
import {
  acquirePlaceholder,
  isOwnedByOtherProcess,
  releasePlaceholder,
  removeAbandonedPlaceholder,
} from "./placeholders.ts";
import { missingProtectedPaths, protectedSteps } from "./protected-files.ts";
import { recordOriginals, restoreProtected } from "./restore-protected.ts";
import { goesThroughLink, isInFolder, scanWorkspace, type WorkspaceScan, writableFolders } from "./scan-workspace.ts";

/** A workspace that is ready for one command. */
export interface PreparedWorkspace {
  steps: readonly MountStep[];
  /** Removes placeholders and undoes forbidden changes. Resolves to the protected paths that the command had changed. */
  close(): Promise<string[]>;
}

/** Commands of one workspace prepare and close one after the other, because each changes placeholders in it. */
const inTurn = createSerialQueue();

/**
 * Plans a workspace at its own path: writable where every write scope allows it, read-only everywhere else. Protected
 * paths are read-only also if they do not exist yet. Protected paths that cannot be mounted are restored on `close`.
 *
 * @param root real path of the workspace, free of links
 */
export async function prepareWorkspace(root: string, writes: Grant["writes"]): Promise<PreparedWorkspace> {
  const linked = await linkedRepository(root);
  if (writes.some((scope) => scope.length === 0)) return readOnlyWorkspace(root, linked);
  return await inTurn(root, async () => {
    const scan = await scanWithoutPlaceholders(root);
    const writable = await usableFolders(root, writableFolders(writes, scan.folders));
    const placeholders: string[] = [];
    const addPlaceholder = async (path: string, type: "folder" | "file"): Promise<void> => {
      // If this process cannot make it, the command cannot make it either.
      if (await acquirePlaceholder(join(root, path), type).catch(() => false)) placeholders.push(path);
    };
    for (const folder of writable) if (folder !== "") await addPlaceholder(folder, "folder");
    const isWritable = (path: string): boolean => writable.some((folder) => isInFolder(path, folder));
    for (const { path, type } of missingProtectedPaths(root, scan))
      if (isWritable(path)) await addPlaceholder(path, type);
    const repository = linked && (await prepareRepository(linked, { isWritable: writable.includes("") }));
    const originals = await recordOriginals(root, scan.protectedPaths);
    return {
      steps: [
        { kind: writable.includes("") ? "write" : "read", path: root, type: "folder" },
        ...writable
          .filter(Boolean)
          .map((path): MountStep => ({ kind: "write", path: join(root, path), type: "folder" })),
        ...protectedSteps(root, writable, scan, placeholders),
        ...(repository?.steps ?? []),
      ],
      close: () =>
        inTurn(root, async () => {
          const changed = writable.length > 0 ? await restoreProtected(root, { scan, originals, writable }) : [];
          for (const path of placeholders.toReversed()) await releasePlaceholder(join(root, path));
          await repository?.close();
          return changed;
        }),
    };
  });
}

/** A command that cannot write anywhere needs no protection and no scan. */
function readOnlyWorkspace(root: string, linked: LinkedRepository | null): PreparedWorkspace {
  const shown = linked ? [root, linked.common] : [root];
  return { steps: shown.map((path) => ({ kind: "read", path, type: "folder" })), close: async () => [] };
}

/** Scans a workspace, leaves out placeholders of other living processes, and removes those of killed processes. */
async function scanWithoutPlaceholders(root: string): Promise<WorkspaceScan> {
  const scan = await scanWorkspace(root);
  const temporary = new Set<string>();
  for (const { path } of scan.protectedPaths) {
    const absolute = join(root, path);
    if ((await removeAbandonedPlaceholder(absolute)) || (await isOwnedByOtherProcess(absolute))) temporary.add(path);
  }
  return { ...scan, protectedPaths: scan.protectedPaths.filter(({ path }) => !temporary.has(path)) };
}

/** Leaves out folders that are protected or that a link leads away from the workspace. */
async function usableFolders(root: string, folders: readonly string[]): Promise<string[]> {
  const checked = await Promise.all(
    folders.map(async (folder) => {
      if (folder === "") return folder;
      if (protectedPart(folder) !== null || (await goesThroughLink(root, folder))) return null;
      return folder;
    }),
  );
  return checked.filter((folder) => folder !== null);
}

/** Folders of a repository that a commit writes: not its settings or hooks, and not the checkouts of others. */
const writtenByCommits: readonly string[] = ["objects", "refs", "logs"];

/** Files of a linked worktree that name its repository. */
const repositoryPointers: readonly string[] = ["commondir", "gitdir"];

/**
 * Plans the repository of a linked git worktree, which lies outside the workspace: read-only, and writable for commits
 * if the command may write everywhere in the worktree.
 */
async function prepareRepository(
  { common, own }: LinkedRepository,
  { isWritable }: { isWritable: boolean },
): Promise<{ steps: MountStep[]; close(): Promise<void> }> {
  const steps: MountStep[] = [{ kind: "read", path: common, type: "folder" }];
  if (!isWritable) return { steps, close: async () => {} };
  for (const name of writtenByCommits) {
    const path = join(common, name);
    if ((await lstat(path).catch(() => null))?.isDirectory()) steps.push({ kind: "write", path, type: "folder" });
  }
  const settings = join(own, "config.worktree");
  const isPlaced = await acquirePlaceholder(settings, "file").catch(() => false);
  steps.push({ kind: "write", path: own, type: "folder" });
  const readOnly = [...repositoryPointers.map((name) => join(own, name)), settings];
  for (const path of readOnly) {
    if ((await lstat(path).catch(() => null))?.isFile()) steps.push({ kind: "read", path, type: "file" });
  }
  return {
    steps,
    async close() {
      if (isPlaced) await releasePlaceholder(settings);
    },
  };
}
