import { unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type HeldFolder, holdParent, holdPath, walkTo } from "../../workspace/held-folder.ts";
import type { HeldRepository } from "../../workspace/linked-repository.ts";
import { protectedInRepository } from "../../workspace/protected-table.ts";
import { type HeldWorkspace, holdSteps, releaseSteps } from "./held-workspace.ts";
import type { MountStep } from "./mount-steps.ts";
import { acquirePlaceholder, releasePlaceholder } from "./placeholders.ts";
import { isPartOfRepository } from "./scan-workspace.ts";

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

/** It would lead git to another repository. */
const alternates = "objects/info/alternates";

/** State of an unfinished rebase or cherry-pick in the folder of a linked worktree. */
const unfinishedWork = protectedInRepository
  .flatMap(({ names, harmful }) => (harmful ? names : []))
  .filter((name) => !name.startsWith("worktrees/"));

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
  const isHarmful = (name: string): boolean =>
    hasEntry(folder, `${inOwn}/${name}`) && isPartOfRepository(folder, name, `${inOwn}/${name}`);
  const harmful = unfinishedWork.filter(isHarmful);
  const placed: string[] = [];
  const release = (): void => releaseSteps(steps);
  const close = (): void => {
    release();
    for (const path of placed) releasePlaceholder(place, path);
    if (!isWritable) return;
    for (const name of unfinishedWork)
      if (!harmful.includes(name) && isHarmful(name)) removeFile(folder, `${inOwn}/${name}`);
  };
  if (!isWritable) return { steps, release, close };
  for (const path of [settings, alternates]) {
    try {
      if (acquirePlaceholder(place, path, "file")) placed.push(path);
    } catch {
      // If this process cannot make it, the command cannot make it either.
    }
  }
  try {
    // A folder with a mount in it can be renamed, so each one is a mount too.
    const above = [...new Set(harmful.map((name) => `${inOwn}/${dirname(name)}`))];
    const folders = [...writtenByCommits, dirname(alternates), ...above].filter((name) => isFolderAt(folder, name));
    const files = [
      ...repositoryPointers.map((name) => `${inOwn}/${name}`),
      ...[settings, alternates].filter((path) => hasFile(folder, path)),
      ...harmful.map((name) => `${inOwn}/${name}`).filter((path) => hasFile(folder, path)),
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

function hasEntry(root: HeldFolder, path: string): boolean {
  using entry = holdPath(root, path);
  return entry !== null;
}

function removeFile(root: HeldFolder, path: string): void {
  const held = holdParent(root, path);
  if (held === null) return;
  using _folder = held.folder;
  try {
    unlinkSync(held.folder.at(held.name));
  } catch {
    // A folder, which git does not read as a file.
  }
}
