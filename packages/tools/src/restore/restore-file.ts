import { constants } from "node:fs";
import { open, rename, rm, symlink, unlink } from "node:fs/promises";
import { type Blobs, RunFailure } from "@troupe/core";
import { errorCodeOf, type FileRestoration, NotRestoredError } from "@troupe/core/internal";
import { getVerified } from "../run-workspaces/file-list.ts";
import { type FileLock, lockFile } from "../workspace/file-lock.ts";
import { versionOf } from "../workspace/file-version.ts";
import { folderIn, type HeldFile, makeFolder, type OpenFolder, syncNames } from "../workspace/open-folder.ts";
import { rootsOf } from "../workspace/workspace-path.ts";
import { hashFile } from "./inspect-path.ts";
import { openWay } from "./restore-path.ts";

/**
 * Restores one file: it checks the file's version under the lock of the file tools, and replaces it in one step. A file
 * that is restored already stays as it is. Throws `NotRestoredError`; the file is then unchanged.
 */
export async function restoreFile(workspace: string, file: FileRestoration, blobs: Pick<Blobs, "get">): Promise<void> {
  try {
    const bytes = await contentFor(file, blobs);
    await using way = await openWay(workspace, file.path);
    if (way.blockedBy !== null) throw new NotRestoredError(`${way.blockedBy} is not a folder now`);
    if (way.parent === null && file.version === null) return;
    await using made = await makeFolders(way.innermost, way.missing);
    const parent = made.folder ?? way.innermost;
    const key = `${(await rootsOf(workspace))[1]}/${file.path}`;
    const { signal } = new AbortController();
    await using lock = await lockFile(parent, way.name, { key, shown: file.path, signal });
    await replace({ parent, name: way.name, lock }, file, bytes);
    await syncNames(parent);
  } catch (error) {
    if (error instanceof RunFailure) throw new NotRestoredError(error.message);
    const code = errorCodeOf(error);
    if (code === null || error instanceof NotRestoredError) throw error;
    throw new NotRestoredError(`this machine does not allow it (${code})`);
  }
}

async function contentFor({ version, ref }: FileRestoration, blobs: Pick<Blobs, "get">): Promise<Uint8Array | null> {
  if (version === null || ref === undefined) return null;
  // A reference to other content than the version would restore a state that the file never had.
  const bytes = ref === version ? await getVerified(blobs, ref) : null;
  if (bytes === null) throw new NotRestoredError("its old content is not in the store any more, or is damaged");
  return bytes;
}

interface Place {
  parent: OpenFolder;
  name: string;
  lock: FileLock;
}

async function replace(place: Place, file: FileRestoration, bytes: Uint8Array | null): Promise<void> {
  const { parent, name } = place;
  await using now = await currentEntry(parent, name);
  if (now.isFolder && file.version === null) return;
  if (now.isFolder) throw new NotRestoredError("there is a folder with its name now");
  const isDone = now.version === file.version;
  if (now.version !== file.expected && !isDone) throw new NotRestoredError("it was changed meanwhile");
  if (file.version === null) {
    await parent.recheck();
    if (now.version !== null) await unlink(parent.at(name));
  } else if (isDone && now.isLink === (file.type === "link")) {
    if (now.held) await setMode(now.held, file);
  } else {
    // A rename would replace one name and leave the others with the newer content.
    if (now.held && now.held.stats.nlink > 1) throw new NotRestoredError("it is hard-linked: it has another name");
    if (bytes === null) throw new NotRestoredError("its old content is not kept");
    await putContent(place, file, { bytes, held: now.held });
  }
}

interface CurrentEntry extends AsyncDisposable {
  version: string | null;
  held: HeldFile | null;
  isLink: boolean;
  isFolder: boolean;
}

async function currentEntry(parent: OpenFolder, name: string): Promise<CurrentEntry> {
  const found = await parent.lookUp(name);
  if (found.kind === "special") throw new NotRestoredError(`it is ${found.what} now`);
  const held = found.kind === "file" ? found.file : null;
  const entry = found.kind === "folder" ? found.folder : held;
  const version = held ? await hashFile(held) : found.kind === "link" ? versionOf(Buffer.from(found.target)) : null;
  const close = async (): Promise<void> => entry?.[Symbol.asyncDispose]();
  return {
    ...{ version, held, isLink: found.kind === "link", isFolder: found.kind === "folder" },
    [Symbol.asyncDispose]: close,
  };
}

/** Writes the content beside the file and renames it over the file. */
async function putContent(
  { parent, name, lock }: Place,
  file: FileRestoration,
  { bytes, held }: { bytes: Uint8Array; held: HeldFile | null },
): Promise<void> {
  await parent.recheck();
  const temporary = parent.at(lock.temporary);
  await rm(temporary, { force: true });
  if (file.type === "link") await symlink(Buffer.from(bytes).toString(), temporary);
  else {
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;
    await using out = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    const like = held?.stats ?? null;
    if (like && like.uid !== process.getuid?.()) await out.chown(like.uid, like.gid).catch(() => {});
    await out.writeFile(bytes);
    await out.chmod(modeFor(file, like ? like.mode & 0o777 : null));
    await out.sync();
  }
  await parent.recheck();
  await rename(temporary, parent.at(name));
}

async function setMode(held: HeldFile, file: FileRestoration): Promise<void> {
  const now = held.stats.mode & 0o777;
  const mode = modeFor(file, now);
  if (mode === now) return;
  await using handle = await held.open();
  await handle.chmod(mode);
}

/** The exact bits, if they are known. Otherwise the file keeps its bits, and only the executable bit is restored. */
function modeFor({ type, mode }: FileRestoration, now: number | null): number {
  if (mode !== null) return mode;
  const isExecutable = type === "executable";
  if (now === null) return isExecutable ? 0o755 : 0o644;
  if (((now & 0o100) !== 0) === isExecutable) return now;
  // Executable for every user who can read it.
  return isExecutable ? now | ((now & 0o444) >> 2) : now & ~0o111;
}

interface MadeFolders extends AsyncDisposable {
  /** The innermost; null if none was missing. */
  folder: OpenFolder | null;
}

async function makeFolders(from: OpenFolder, names: readonly string[]): Promise<MadeFolders> {
  const made: OpenFolder[] = [];
  const close = async (): Promise<void> => {
    for (const folder of made) await folder[Symbol.asyncDispose]();
  };
  try {
    for (const name of names) {
      const parent = made.at(-1) ?? from;
      await makeFolder(parent, name);
      const inner = await folderIn(parent, name);
      if (inner === null) throw new NotRestoredError(`${name} on its way is not a folder any more`);
      made.push(inner);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { folder: made.at(-1) ?? null, [Symbol.asyncDispose]: close };
}
