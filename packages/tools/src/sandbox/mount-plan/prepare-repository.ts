import { basename, join } from "node:path";
import { type HeldFolder, holdPath, walkTo } from "../../workspace/held-folder.ts";
import type { HeldRepository } from "../../workspace/linked-repository.ts";
import { type HeldWorkspace, holdSteps, releaseSteps } from "./held-workspace.ts";
import type { MountStep } from "./mount-steps.ts";
import { acquirePlaceholder, releasePlaceholder } from "./placeholders.ts";

/** The repository of a linked git worktree, which lies outside the workspace, ready for one command. */
export interface PreparedRepository {
  steps: readonly MountStep[];
  release(): void;
  close(): void;
}

/** Folders of a repository that a commit writes: not its settings or hooks, and not the checkouts of others. */
const writtenByCommits: readonly string[] = ["objects", "refs", "logs"];

/** Files of a linked worktree that name its repository. */
const repositoryPointers: readonly string[] = ["commondir", "gitdir"];

const ownSettings = "config.worktree";

/** The repository, read-only. */
export function repositoryFolders({ folder, common }: HeldRepository): MountStep[] {
  return holdSteps(placeOf(folder, common), [{ kind: "read", path: common, type: "folder" }]);
}

/** Plans the repository: read-only, and writable for commits if the command may write everywhere in the worktree. */
export function prepareRepository(
  repository: HeldRepository,
  { isWritable }: { isWritable: boolean },
): PreparedRepository {
  const { folder, common, own } = repository;
  const steps = repositoryFolders(repository);
  const inOwn = `worktrees/${basename(own)}`;
  const settings = `${inOwn}/${ownSettings}`;
  const place = placeOf(folder, common);
  let isPlaced = false;
  const release = (): void => releaseSteps(steps);
  const close = (): void => {
    release();
    if (isPlaced) releasePlaceholder(place, settings);
  };
  if (!isWritable) return { steps, release, close };
  try {
    isPlaced = acquirePlaceholder(place, settings, "file");
  } catch {
    // If this process cannot make it, the command cannot make it either.
  }
  try {
    const folders = writtenByCommits.filter((name) => isFolderAt(folder, name));
    const files = [
      ...repositoryPointers.map((name) => `${inOwn}/${name}`),
      ...(hasFile(folder, settings) ? [settings] : []),
    ];
    steps.push(
      ...holdSteps(place, [
        ...[...folders, inOwn].map((path): MountStep => ({ kind: "write", path: join(common, path), type: "folder" })),
        ...files.map((path): MountStep => ({ kind: "read", path: join(common, path), type: "file" })),
      ]),
    );
    return { steps, release, close };
  } catch (error) {
    close();
    throw error;
  }
}

function placeOf(folder: HeldFolder, path: string): HeldWorkspace {
  return { folder, path, [Symbol.dispose]() {} };
}

function isFolderAt(root: HeldFolder, path: string): boolean {
  using folder = walkTo(root, path);
  return folder !== null;
}

function hasFile(root: HeldFolder, path: string): boolean {
  using entry = holdPath(root, path);
  return entry?.kind === "file";
}
