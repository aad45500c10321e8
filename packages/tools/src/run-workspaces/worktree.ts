import { lstat, mkdir, realpath, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RunFailure, type RunRequest } from "@troupe/core";
import type { CollectedFiles, FolderChanges, RunFolder } from "@troupe/core/internal";
import { projectOf } from "@troupe/core/internal";
import type { GitIdentity } from "../commands/git-identity.ts";
import { createSerialQueue } from "../serial-queue.ts";
import { linkedRepository } from "../workspace/linked-repository.ts";
import { removeFolder } from "../workspace/remove-entry.ts";
import { isWithin } from "../workspace/workspace-path.ts";
import { type HostGit, openHostGit } from "./host-git.ts";
import { workspaceLost } from "./rebuild-folder.ts";
import { commitAll, openSnapshots } from "./snapshots.ts";

type WorktreeRun = Pick<RunRequest, "run" | "workspace">;

export interface WorktreeOptions {
  request: WorktreeRun;
  /** Path for a new worktree. */
  folder: string;
  identity: GitIdentity;
}

/** Name of a run's branch. The end of the run's id is unique. */
export function branchOf(run: string): string {
  return `troupe/${run.slice(-12)}`;
}

/** Git locks files that all worktrees of a repository share, so their changes run one after the other. */
const inTurn = createSerialQueue();

/**
 * Opens a run's worktree. It uses an existing one, recreates a removed one from its branch and newest snapshot, or
 * makes the first one. Throws a `RunFailure` if that is impossible.
 *
 * @param journaled the newest snapshot in the run's journal; null if it has none
 * @param isBegun whether a host has worked in it before

 */
export async function openWorktree(
  options: WorktreeOptions,
  { journaled, isBegun }: { journaled: string | null; isBegun: boolean },
): Promise<RunFolder> {
  const { request, identity } = options;
  const repository = await repositoryOf(projectOf(request));
  return await inTurn(repository, async () => {
    const git = await openHostGit({ folder: repository, identity, question: listWorktrees });
    const known = await worktreeOf(git, request.run);
    const folder = known ?? (await makeWorktree({ ...options, git, repository, journaled, isBegun }));
    return await worktreeFolder(folder, request.run, identity);
  });
}

/** A run folder that takes a snapshot after each call. */
async function worktreeFolder(folder: string, run: string, identity: GitIdentity): Promise<RunFolder> {
  const snapshots = await openSnapshots(folder, run, identity);
  let turn: Promise<unknown> = Promise.resolve();
  const saveNow = async (): Promise<FolderChanges | null> => {
    const folderRef = await snapshots.take();
    return folderRef === null ? null : { folderRef, changes: [], note: "" };
  };
  return {
    path: folder,
    callStarted: async () => "",
    callEnded() {
      const saved = turn.then(saveNow, saveNow);
      turn = saved.catch(() => {});
      return saved;
    },
    callDropped() {},
    callInDoubt: async () => null,
    describeUnkept: async () => "",
  };
}

async function repositoryOf(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch(() => {
    throw workspaceLost(workspace, "does not exist, so no worktree can be made from it");
  });
  const isRepository = (await lstat(join(root, ".git")).catch(() => null))?.isDirectory() === true;
  if (isRepository || (await linkedRepository(root))) return root;
  throw refused(
    `${workspace} is not a git repository, so this agent cannot work in a worktree of it: run git init and commit there, ` +
      "or let its file say workspace: isolated or shared",
  );
}

const listWorktrees: readonly string[] = ["worktree", "list", "--porcelain", "-z"];

/** The folder of a run's worktree, made by any host; null if there is none. @param git with the listed worktrees */
async function worktreeOf(git: HostGit, run: string): Promise<string | null> {
  const listed = git.answered().split("\0");
  const paths = listed.flatMap((line) => (line.startsWith("worktree ") ? [line.slice("worktree ".length)] : []));
  const path = paths.find((one) => basename(one) === run);
  return path !== undefined && (await lstat(join(path, ".git")).catch(() => null)) ? path : null;
}

interface MakeOptions extends WorktreeOptions {
  git: HostGit;
  repository: string;
  journaled: string | null;
  isBegun: boolean;
}

async function makeWorktree({ git, repository, folder, request, journaled, isBegun }: MakeOptions): Promise<string> {
  const branch = branchOf(request.run);
  if (isWithin(repository, folder)) {
    throw refused(
      `the worktree would lie in the repository itself (${folder}): set TROUPE_HOME to a folder outside of it`,
    );
  }
  const hasBranch = (await git.run(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`])).code === 0;
  if (!hasBranch && isBegun) throw workspaceLost(`the branch ${branch}`, "of this run does not exist any more");
  const from = hasBranch ? null : await headCommit(request.workspace.path);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  // Leftovers of a killed host must go first: git refuses to make a worktree over them.
  await removeFolder(folder);
  const at = from === null ? ["--", folder, branch] : ["-b", branch, "--", folder, from];
  await git.ask(at, { script: 'git worktree prune || exit; exec git worktree add --quiet "$@"' });
  if (journaled !== null) await restoreSnapshot(folder, journaled);
  return folder;
}

/** The commit that is checked out in the parent's workspace: the run starts from it. */
async function headCommit(folder: string): Promise<string> {
  const { answer } = await openHostGit({ folder, question: ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"] });
  if (answer.code === 0) return answer.stdout.trim();
  throw refused(`${folder} has no commit yet, so no worktree can be made from it: commit first`);
}

/** Restores the files of the newest snapshot on top of the committed ones. */
async function restoreSnapshot(folder: string, snapshot: string): Promise<void> {
  const git = await openHostGit({ folder, question: ["cat-file", "-e", `${snapshot}^{tree}`] });
  if (git.answer.code !== 0)
    throw workspaceLost(`the snapshot ${snapshot.slice(0, 12)} of its worktree`, "is not in the repository any more");
  await git.ask([snapshot], { script: 'git read-tree --reset -u "$1" && exec git read-tree HEAD' });
}

/** Commits uncommitted changes and removes the worktree. The branch stays. */
export async function finishWorktree({ request, identity }: Omit<WorktreeOptions, "folder">): Promise<CollectedFiles> {
  const repository = await repositoryOf(projectOf(request));
  return await inTurn(repository, async () => {
    const name = `refs/heads/${branchOf(request.run)}`;
    const git = await openHostGit({ folder: repository, identity, question: listWorktrees });
    const folder = await worktreeOf(git, request.run);
    const warnings = folder === null ? [] : await commitAll(folder, { ...request, name, identity });
    if (folder !== null && warnings.length === 0) {
      await git.ask(["worktree", "remove", "--force", "--", folder]);
      await rm(`${folder}.index`, { force: true });
    }
    const script = 'git update-ref -d "$1"; exec git rev-parse --verify --quiet "$2"';
    const tip = await git.run([`refs/troupe/${request.run}`, name], { script });
    if (tip.code !== 0) return { artifacts: [], warnings };
    return { artifacts: [{ name: `branch ${branchOf(request.run)}`, ref: tip.stdout.trim() }], warnings };
  });
}

function refused(why: string): RunFailure {
  return new RunFailure({ type: "params", message: why, recoverable: true });
}
