import {
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCodeOf } from "@troupe/core/internal";
import { entriesIn, type HeldFolder, holdEntry, isFolder } from "../../workspace/held-folder.ts";

/** Folders of earlier clean-ups that are saved; the oldest are removed. */
const foldersMax = 100;
/** More than this is not copied to another disk: a command could fill it. */
const copiedBytesMax = 64 * 1024 ** 2;
const copiedEntriesMax = 2_000;

/**
 * The place for entries that a clean-up takes out of a workspace: a person may have made them while the command ran. A
 * clean-up has one folder, which is made with its first entry.
 *
 * @example
 * const saved = createSavedFolder("/home/me/.local/share/troupe/removed");
 * saved.save(folder, "settings.json", ".vscode/settings.json"); // true: it is there now, and no longer in the workspace
 */
export interface SavedFolder {
  /** The folder of this clean-up. */
  readonly path: string;
  /** Moves an entry there, under its path in the workspace. False if it is too large to be copied to another disk. */
  save(folder: HeldFolder, name: string, path: string): boolean;
}

export function createSavedFolder(root: string): SavedFolder {
  const folderName = new Date().toISOString().replaceAll(":", "-");
  number += 1;
  const own = join(root, `${folderName}-${process.pid}-${number}`);
  let isMade = false;
  return {
    path: own,
    save(folder, name, path) {
      if (!isMade) removeOldest(root);
      isMade = true;
      const target = join(own, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      try {
        renameSync(folder.at(name), target);
        return true;
      } catch (error) {
        if (errorCodeOf(error) !== "EXDEV") return errorCodeOf(error) === "ENOENT";
        return copy(folder, name, target, { bytes: copiedBytesMax, entries: copiedEntriesMax });
      }
    },
  };
}

/** Makes the names of one process different. */
let number = 0;

function removeOldest(root: string): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const names = readdirSync(root).toSorted();
  for (const name of names.slice(0, Math.max(0, names.length - foldersMax + 1))) {
    rmSync(join(root, name), { recursive: true, force: true });
  }
}

/** Copies without following links. Returns whether all of it fits. The original stays. */
function copy(folder: HeldFolder, name: string, target: string, left: { bytes: number; entries: number }): boolean {
  using entry = holdEntry(folder, name);
  if (entry === null) return true;
  left.entries -= 1;
  left.bytes -= Number(entry.stats.size);
  if (left.entries < 0 || left.bytes < 0) return false;
  if (isFolder(entry)) {
    mkdirSync(target, { mode: 0o700 });
    return entriesIn(entry).every((below) => copy(entry, below.name, join(target, below.name), left));
  }
  if (entry.kind === "link") symlinkSync(readlinkSync(folder.at(name)), target);
  else if (entry.kind === "file") copyFileSync(entry.path, target, constants.COPYFILE_EXCL);
  return true;
}
