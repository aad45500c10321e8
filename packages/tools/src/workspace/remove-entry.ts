import { randomUUID } from "node:crypto";
import { chmodSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errorCodeOf } from "@troupe/core/internal";
import { entriesIn, type HeldFolder, holdFolder, holdRoot, holdsByDescriptor } from "./held-folder.ts";

/**
 * Removes an entry and everything in it. Each folder is emptied through a descriptor, so nothing outside of it is
 * removed, also if another process exchanges names meanwhile.
 *
 * @returns whether nothing is left at the name
 */
export async function removeEntry(folder: HeldFolder, name: string): Promise<boolean> {
  const removal: Removal = { top: folder, tooDeep: [], sliceEndMs: performance.now() + sliceMsMax };
  const isRemoved = await removeAt(folder, name, removal, 0);
  for (let next = removal.tooDeep.pop(); next !== undefined; next = removal.tooDeep.pop()) {
    await removeAt(folder, next, removal, 0);
  }
  return isRemoved;
}

/** Removes a folder by its absolute path. A command that still runs in it cannot lead the removal elsewhere. */
export async function removeFolder(path: string): Promise<void> {
  try {
    using parent = holdRoot(dirname(path));
    await removeEntry(parent, basename(path));
  } catch (error) {
    // Without its parent, the folder is missing too.
    if (errorCodeOf(error) !== "ENOENT") throw error;
  }
}

interface Removal {
  top: HeldFolder;
  /** Names in the top folder of folders that lay too deep, to be removed later. */
  tooDeep: string[];
  sliceEndMs: number;
}

/** A removal blocks this process for no longer than this. */
const sliceMsMax = 8;

/** Each level holds a descriptor. Deeper folders are moved up first, because a command can nest without end. */
const depthMax = 100;

async function removeAt(folder: HeldFolder, name: string, removal: Removal, depth: number): Promise<boolean> {
  if (performance.now() > removal.sliceEndMs) {
    await setImmediate();
    removal.sliceEndMs = performance.now() + sliceMsMax;
  }
  try {
    unlinkSync(folder.at(name));
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return true;
  }
  try {
    if (depth === depthMax) moveUp(folder, name, removal);
    else {
      await emptyFolder(folder, name, removal, depth);
      rmdirSync(folder.at(name));
    }
    return true;
  } catch (error) {
    return errorCodeOf(error) === "ENOENT";
  }
}

async function emptyFolder(folder: HeldFolder, name: string, removal: Removal, depth: number): Promise<void> {
  const inner = holdFolder(folder, name);
  if (inner === null) return;
  using _inner = inner;
  // A command can take the rights from its own folder.
  if ((inner.stats.mode & 0o700n) !== 0o700n && holdsByDescriptor) chmodSync(inner.path, 0o700);
  for (const { name: below } of entriesIn(inner)) await removeAt(inner, below, removal, depth + 1);
}

function moveUp(folder: HeldFolder, name: string, { top, tooDeep }: Removal): void {
  const moved = `.troupe-removed-${randomUUID()}`;
  renameSync(folder.at(name), top.at(moved));
  tooDeep.push(moved);
}
