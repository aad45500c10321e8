import { readdir, realpath, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Blobs, Redactor, RunFolders, RunRequest } from "@troupe/core";
import { type FolderFile, Id, protocolVersion } from "@troupe/core/internal";
import { createChangeTrackers } from "../change-tracking/change-trackers.ts";
import type { KeepBounds } from "../change-tracking/saved-contents.ts";
import type { ScanBounds } from "../change-tracking/scanner.ts";
import { trackedFolder, withTrackedChanges } from "../change-tracking/tracked-folder.ts";
import { type GitIdentity, readGitIdentity } from "../commands/git-identity.ts";
import { linkedRepository } from "../workspace/linked-repository.ts";
import { removeFolder } from "../workspace/remove-entry.ts";
import { readWorkspaceFile } from "../workspace/resolve-path.ts";
import { putList } from "./file-list.ts";
import { collectIsolated, openIsolated } from "./isolated-folder.ts";
import { workspaceLost } from "./rebuild-folder.ts";
import { createFolderScan, type FolderBounds, folderBounds } from "./scan-folder.ts";
import { finishWorktree, openWorktree } from "./worktree.ts";

type FolderRun = Pick<RunRequest, "session" | "run" | "workspace">;

export interface RunFoldersOptions {
  /** Parent of all run folders: owned by this host, outside every repository. */
  folder: string;
  blobs: Blobs;
  /** Name of this disk. Leave it out if all hosts share one disk. */
  locality?: string;
  /** Author of the commit of uncommitted changes in worktrees. */
  identity?: () => Promise<GitIdentity>;
  bounds?: FolderBounds;
  /** Finds known secrets: a file with one has no copy from before a command. @default no search */
  redact?: Redactor;
  /** Limits of the copies of files that commands may change, for each workspace. @default 8 MiB a file, 256 MiB together */
  keep?: Partial<KeepBounds>;
  /** Limits of the search for changes by commands. */
  scan?: Partial<ScanBounds>;
}

/**
 * @example
 * const folders = createRunFolders({ folder: "/home/me/.local/share/troupe/runs", blobs });
 * const { path } = await folders.open(request, { journaled: null, isResumed: false });
 */
export function createRunFolders(options: RunFoldersOptions): RunFolders {
  const { folder, blobs, locality, bounds = folderBounds, identity = () => readGitIdentity(process.env) } = options;
  const isolatedAt = ({ session, run }: Pick<FolderRun, "session" | "run">): string =>
    join(folder, "isolated", session, run);
  const worktreeAt = ({ session, run }: Pick<FolderRun, "session" | "run">): string =>
    join(folder, "worktrees", session, run);
  const { keep = {}, scan = {} } = options;
  const trackers = createChangeTrackers({
    ...{ folder: join(folder, "kept"), blobs, keep, scan },
    ...(options.redact && { redact: options.redact }),
  });

  return {
    async open(request, { journaled, isResumed }) {
      const { mode, path, files = null } = request.workspace;
      if (mode === "isolated") {
        return await openIsolated({ path: isolatedAt(request), blobs, begunWith: files, journaled, bounds });
      }
      if (mode === "worktree") {
        const made = { request, folder: worktreeAt(request), identity: await identity() };
        const worktree = await openWorktree(made, { journaled, isBegun: isResumed });
        return withTrackedChanges(worktree, trackedFolder({ path: worktree.path, run: request, trackers }));
      }
      // With a single disk, the tools report the missing folder.
      if (isResumed && locality !== undefined && !(await isFolder(path)))
        throw workspaceLost(path, `does not exist on the disk ${locality}`);
      return trackedFolder({ path, run: request, trackers });
    },

    async finish(request, { journaled }) {
      const { mode, files = null } = request.workspace;
      if (mode === "isolated") return await collectIsolated({ blobs, begunWith: files, journaled });
      if (mode === "worktree") return await finishWorktree({ request, identity: await identity() });
      return { artifacts: [], warnings: [] };
    },

    async remove(request) {
      trackers.forgetRun(request.workspace.path, request);
      if (request.workspace.mode !== "isolated") return;
      await removeFolder(isolatedAt(request));
      // The session's folder, if it is empty now.
      await rmdir(join(folder, "isolated", request.session)).catch(() => {});
    },

    async snapshot(from) {
      return await putList(blobs, await createFolderScan(from, blobs, bounds).list({ keeps: true }));
    },

    async snapshotFiles(from, paths) {
      const files = new Map<string, FolderFile>();
      for (const path of paths) {
        const { bytes, real } = await readWorkspaceFile(from, path, { bytesMax: bounds.fileBytesMax });
        files.set(real, { path: real, version: await blobs.put(bytes) });
      }
      const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
      return await putList(blobs, { v: protocolVersion, files: sorted, unlisted: 0 });
    },

    async removeLeftovers(isSettled) {
      await trackers.removeLeftovers(isSettled);
      for (const { session, run } of await runsIn(join(folder, "isolated"))) {
        if (!(await isSettled({ session, run }))) continue;
        await removeFolder(isolatedAt({ session, run }));
        await rmdir(join(folder, "isolated", session)).catch(() => {});
      }
      for (const { session, run } of await runsIn(join(folder, "worktrees"))) {
        if (!(await isSettled({ session, run }))) continue;
        const at = await realpath(join(folder, "worktrees", session, run));
        const linked = await linkedRepository(at);
        if (!linked) continue;
        const request = { session, run, workspace: { id: "w", path: dirname(linked.common) } };
        await finishWorktree({ request, identity: await identity() });
        await rmdir(join(folder, "worktrees", session)).catch(() => {});
      }
    },
  };
}

/** The runs with a folder below this one, grouped by session. */
async function runsIn(folder: string): Promise<{ session: string; run: string }[]> {
  const sessions = (await namesOf(folder)).filter((name) => Id.safeParse(name).success);
  const runs = await Promise.all(
    sessions.map(async (session) => (await namesOf(join(folder, session))).map((run) => ({ session, run }))),
  );
  return runs.flat().filter(({ run }) => Id.safeParse(run).success);
}

async function namesOf(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}
