import { createHash } from "node:crypto";
import {
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type HeldFolder, holdEntry, holdParent, identityOf, readHeld } from "../workspace/held-folder.ts";
import { secretAt, secretWithIdentity } from "../workspace/secret-paths.ts";
import { isUtf8, shownPath } from "./scan.ts";
import { partsOf, type Stamp, stampOf } from "./stamp.ts";

/** Limits of the copies of one workspace. */
export interface KeepBounds {
  /** Size of the largest file that is copied. */
  fileBytesMax: number;
  /** Size of all copies together. */
  bytesMax: number;
  filesMax: number;
  /** Time for copies before one command. */
  timeMs: number;
}

export const keepBounds: KeepBounds = {
  fileBytesMax: 8 * 1024 * 1024,
  bytesMax: 256 * 1024 * 1024,
  filesMax: 20_000,
  timeMs: 500,
};

/**
 * Copies of files of a workspace, from before a command could change them. A copy is named by the path and the stamp of
 * its file: it is found again after a restart, and never belongs to another content of the file.
 */
export interface SavedContents {
  /** Copies an entry that still has this stamp. Returns why it was not copied; null if it was. */
  keep(path: string, stamp: Stamp): string | null;
  /** The content of an entry when it had this stamp; null if there is no copy. For a link, its target. */
  read(path: string, stamp: Stamp): Buffer | null;
  /** Removes a copy that no call can need any more. */
  drop(path: string, stamp: Stamp): void;
  /** Removes all copies but these. */
  dropOthers(saved: Iterable<readonly [path: string, stamp: Stamp]>): void;
}

/** The reason for a file that was not copied in the time for it. The next command tries it again. */
export const noTimeReason = "there was no time to copy it before the command";

export interface SavedContentsOptions {
  /** The workspace, held for as long as copies are made. */
  root: HeldFolder;
  /** Real path of the workspace. */
  workspace: string;
  /** Folder of the copies: private, and outside of every workspace. */
  folder: string;
  bounds: KeepBounds;
  /** Whether a content has a known secret. It then has no copy: Blobs would not keep it either. @default never */
  hasSecret?: (content: Buffer) => boolean;
}

export function createSavedContents({
  root,
  workspace,
  folder,
  bounds,
  hasSecret = () => false,
}: SavedContentsOptions): SavedContents {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sizes = new Map<string, number>();
  let bytes = 0;
  for (const name of readdirSync(folder).filter((name) => copyName.test(name))) note(name, sizeOf(join(folder, name)));

  function note(name: string, size: number): void {
    bytes += size - (sizes.get(name) ?? 0);
    sizes.set(name, size);
  }

  const remove = (name: string): void => {
    bytes -= sizes.get(name) ?? 0;
    sizes.delete(name);
    rmSync(join(folder, name), { force: true });
  };

  const overBounds = (size: number): string | null => {
    if (size > bounds.fileBytesMax) return `its ${size} bytes are over the ${bounds.fileBytesMax} of one file`;
    if (bytes + size > bounds.bytesMax) return `the copies of this workspace are over ${bounds.bytesMax} bytes`;
    return sizes.size >= bounds.filesMax ? `the copies of this workspace are over ${bounds.filesMax} files` : null;
  };

  return {
    keep(path, stamp) {
      const name = copyNameOf(path, stamp);
      if (sizes.has(name)) return null;
      const { type, size } = partsOf(stamp);
      if (type !== "f" && type !== "l") return "it is not a regular file";
      const over = overBounds(size) ?? (isUtf8(path) ? null : "its name is not UTF-8");
      if (over !== null) return over;
      const failure = copyEntry({ root, workspace, hasSecret }, shownPath(path), stamp, join(folder, name));
      if (failure === null) note(name, size);
      else rmSync(join(folder, name), { force: true });
      return failure;
    },
    read(path, stamp) {
      const name = copyNameOf(path, stamp);
      return sizes.has(name) ? readOrNull(join(folder, name)) : null;
    },
    drop: (path, stamp) => remove(copyNameOf(path, stamp)),
    dropOthers(saved) {
      const names = new Set([...saved].map(([path, stamp]) => copyNameOf(path, stamp)));
      for (const name of sizes.keys()) if (!names.has(name)) remove(name);
    },
  };
}

const copyName = /^[0-9a-f]{40}$/;

function copyNameOf(path: string, stamp: Stamp): string {
  return createHash("sha256").update(`${path}\0${stamp}`, "latin1").digest("hex").slice(0, 40);
}

interface Workspace {
  root: HeldFolder;
  workspace: string;
}

/**
 * Copies the entry at a path through held folders. Its stamp is checked before and after: a file that changes meanwhile,
 * or a link on the way, is not copied. Returns why it was not copied.
 */
function copyEntry(
  { root, workspace, hasSecret }: Workspace & Required<Pick<SavedContentsOptions, "hasSecret">>,
  path: string,
  stamp: Stamp,
  to: string,
): string | null {
  if (secretAt(workspace, path)) return "it is a secret of this user's home";
  try {
    const parent = holdParent(root, path);
    if (parent === null) return changedReason;
    using folder = parent.folder;
    using entry = holdEntry(folder, parent.name);
    if (entry === null || stampOf(entry.stats) !== stamp) return changedReason;
    if (entry.stats.nlink > 1n && secretWithIdentity(workspace, identityOf(entry.stats)))
      return "it is a secret of this user's home";
    if (entry.kind === "link") writeFileSync(to, readlinkSync(folder.at(parent.name), "buffer"), { mode: 0o600 });
    else if (hasSecret(readHeld(entry, partsOf(stamp).size) ?? Buffer.alloc(0))) return "it contains a known secret";
    else copyFileSync(entry.path, to, constants.COPYFILE_FICLONE);
    const now =
      entry.descriptor === null || entry.kind === "link"
        ? lstatSync(folder.at(parent.name), { bigint: true })
        : fstatSync(entry.descriptor, { bigint: true });
    return stampOf(now) === stamp ? null : changedReason;
  } catch (error) {
    return `it could not be read: ${error instanceof Error && "code" in error ? error.code : error}`;
  }
}

const changedReason = "it changed while it was copied";

/** The content of an entry that still has a stamp; null if it changed meanwhile, is too large or cannot be read. */
export function readEntry({ root, workspace }: Workspace, path: string, stamp: Stamp, bytesMax: number): Buffer | null {
  if (!isUtf8(path) || secretAt(workspace, shownPath(path))) return null;
  try {
    const parent = holdParent(root, shownPath(path));
    if (parent === null) return null;
    using folder = parent.folder;
    using entry = holdEntry(folder, parent.name);
    if (entry === null || stampOf(entry.stats) !== stamp) return null;
    if (entry.stats.nlink > 1n && secretWithIdentity(workspace, identityOf(entry.stats))) return null;
    return entry.kind === "link" ? readlinkSync(folder.at(parent.name), "buffer") : readHeld(entry, bytesMax);
  } catch {
    return null;
  }
}

function readOrNull(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

function sizeOf(file: string): number {
  return lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
