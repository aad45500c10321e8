import { constants, type Stats } from "node:fs";
import { open, rename, rm, rmdir, unlink } from "node:fs/promises";
import { RunFailure } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import { type FileLock, lockFile } from "./file-lock.ts";
import { type FileBytes, readHeldFile } from "./file-version.ts";
import { folderIn, makeFolder, type OpenFolder, syncNames } from "./open-folder.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure, fileFailure } from "./workspace-path.ts";

/** The change of one file. */
export interface FileTarget {
  path: ResolvedPath;
  /** The version that the file must still have; null if it must not exist. */
  before: string | null;
  /** The new content; null deletes the file. */
  after: Buffer | null;
}

/** Size limit of a changed file: its old and new content are in memory. */
export const changedBytesMax = 32 * 1024 * 1024;

/** Thrown if a file does not have the expected version. No file was changed. */
export class FileChangedError extends Error {
  readonly path: ResolvedPath;
  readonly now: FileBytes | null;

  constructor(path: ResolvedPath, now: FileBytes | null) {
    super(`${path.shown} was changed meanwhile`);
    this.name = "ChangedMeanwhile";
    this.path = path;
    this.now = now;
  }
}

/** A change with the lock and folder that it holds. */
interface FileJob extends FileTarget {
  parent: OpenFolder;
  lock: FileLock | null;
  /** The file right before the change; null if it did not exist. */
  old: { content: FileBytes; stats: Stats } | null;
}

/**
 * Changes several files as a unit. It writes and flushes every new content to a temporary file, checks all versions again
 * while it holds all locks, and only then renames. A failure before the renames leaves no change; after a failed
 * rename, the earlier renames are reverted.
 */
export async function changeFiles(targets: readonly FileTarget[], { signal }: { signal: AbortSignal }): Promise<void> {
  const jobs: FileJob[] = [];
  const made: MadeFolder[] = [];
  let isDone = false;
  let latest = "the workspace";
  try {
    // Always in the same order: two calls that lock the same files in different orders would deadlock.
    for (const target of targets.toSorted((a, b) => (a.path.key < b.path.key ? -1 : 1))) {
      latest = target.path.shown;
      const job: FileJob = { ...target, parent: await makeParent(target.path, made), lock: null, old: null };
      jobs.push(job);
      const { key, shown, name } = target.path;
      job.lock = await lockFile(job.parent, name, { key, shown, signal });
    }
    await prepareAll(jobs);
    signal.throwIfAborted();
    await renameAll(jobs);
    isDone = true;
    for (const parent of [...jobs, ...made].map((one) => one.parent)) await syncNames(parent);
  } catch (error) {
    throw explainError(error, latest, signal);
  } finally {
    for (const { lock } of jobs) await lock?.[Symbol.asyncDispose]();
    if (!isDone) await removeFolders(made);
    for (const { folder } of made) await folder[Symbol.asyncDispose]();
  }
}

/** Removes the temporary files of killed processes. */
export async function clearLeftovers(
  paths: readonly ResolvedPath[],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  for (const { missing, folder, name, key, shown } of paths) {
    if (missing.length > 1 || name === "") continue;
    await using _lock = await lockFile(folder, name, { key, shown, signal });
  }
}

async function prepareAll(jobs: readonly FileJob[]): Promise<void> {
  for (const job of jobs) {
    job.old = await checkUnchanged(job);
    const { lock, parent, after, path } = job;
    if (lock === null || after === null) continue;
    await writeTemporary(parent, lock.temporary, after, job.old?.stats ?? null).catch((error: unknown) => {
      throw fileFailure(error, path.shown);
    });
  }
  for (const job of jobs) await checkUnchanged(job);
}

/** Throws unless the file is as it was. */
async function checkUnchanged({ parent, path, before }: FileJob): Promise<FileJob["old"]> {
  const found = await parent.lookUp(path.name);
  switch (found.kind) {
    case "missing":
      if (before !== null) throw new FileChangedError(path, null);
      return null;
    case "file": {
      await using file = found.file;
      refuseHardLinked(file.stats, path.shown);
      const content = await readHeldFile(file, changedBytesMax);
      if (content === null) throw tooLarge(path.shown, file.stats.size);
      if (content.version !== before) throw new FileChangedError(path, content);
      return { content, stats: file.stats };
    }
    case "folder":
      await found.folder[Symbol.asyncDispose]();
      throw notWritable(path.shown, "it is a folder");
    case "link":
      throw notWritable(path.shown, "it is a symbolic link");
    case "special":
      throw notWritable(path.shown, `it is ${found.what}`);
  }
}

/**
 * Refuses a file with several names (hard links): a rename would replace one name and leave the others with the old
 * content.
 */
export function refuseHardLinked({ nlink }: Stats, shown: string): void {
  if (nlink > 1) throw notWritable(shown, "it is hard-linked: the same file has another name elsewhere");
}

export function notWritable(shown: string, reason: string): RunFailure {
  return failure("permission", `${shown} was not written: ${reason}; choose another path`);
}

export function tooLarge(shown: string, size: number): RunFailure {
  return failure(
    "params",
    `${shown} was not changed: its ${size} bytes are over the ${changedBytesMax} that can be; use the shell tool (sed -i)`,
  );
}

/** The new file gets the old one's permission bits, and its owner if that is allowed. */
async function writeTemporary(folder: OpenFolder, name: string, bytes: Buffer, like: Stats | null): Promise<void> {
  await folder.recheck();
  await rm(folder.at(name), { force: true });
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  await using file = await open(folder.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (like) {
    if (like.uid !== process.getuid?.()) await file.chown(like.uid, like.gid).catch(() => {});
    await file.chmod(like.mode & 0o7777);
  }
  await file.writeFile(bytes);
  await file.sync();
}

/** Deletions come last, so that a moved file always exists under a name. */
async function renameAll(jobs: readonly FileJob[]): Promise<void> {
  const done: FileJob[] = [];
  try {
    for (const job of jobs.toSorted((a, b) => Number(a.after === null) - Number(b.after === null))) {
      await applyChange(job);
      done.push(job);
    }
  } catch (error) {
    await revertChanges(done.toReversed());
    throw error;
  }
}

async function applyChange({ parent, path, lock, after }: FileJob): Promise<void> {
  await parent.recheck();
  if (after === null) return unlink(parent.at(path.name));
  if (lock) await rename(parent.at(lock.temporary), parent.at(path.name));
}

async function revertChanges(done: readonly FileJob[]): Promise<void> {
  const failed: string[] = [];
  for (const { parent, path, lock, old } of done) {
    try {
      if (old === null) await unlink(parent.at(path.name));
      else if (lock) {
        await writeTemporary(parent, lock.temporary, old.content.bytes, old.stats);
        await rename(parent.at(lock.temporary), parent.at(path.name));
      }
    } catch {
      failed.push(path.shown);
    }
  }
  if (failed.length === 0) return;
  throw failure(
    "tool_error",
    `only some of the files could be changed, and these could not be put back: ${failed.join(", ")}; look at them`,
  );
}

/** A parent folder, with its name if this call made it. */
interface MadeFolder {
  parent: OpenFolder;
  name: string;
  folder: OpenFolder;
}

/** The file's folder. Missing parents are made. */
async function makeParent({ folder, missing, shown }: ResolvedPath, made: MadeFolder[]): Promise<OpenFolder> {
  let parent = folder;
  for (const name of missing.slice(0, -1)) {
    const isNew = await makeFolder(parent, name);
    const inner = await folderIn(parent, name);
    if (inner === null) throw notWritable(shown, `${name} on its way is not a folder any more`);
    made.push({ parent, name: isNew ? name : "", folder: inner });
    parent = inner;
  }
  return parent;
}

/** Removes only empty folders: other processes may have put files there meanwhile. */
async function removeFolders(made: readonly MadeFolder[]): Promise<void> {
  for (const { parent, name } of made.toReversed()) {
    if (name !== "") await rmdir(parent.at(name)).catch(() => {});
  }
}

function explainError(error: unknown, shown: string, signal: AbortSignal): unknown {
  if (error instanceof RunFailure || error instanceof FileChangedError) return error;
  if (signal.aborted) return failure("cancelled", "it was cancelled before anything was changed");
  if (errorCodeOf(error) === null) return error;
  return fileFailure(error, shown);
}
