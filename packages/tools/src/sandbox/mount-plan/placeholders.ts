import { lstatSync, lutimesSync, mkdirSync, rmdirSync, type Stats, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type HeldFolder, holdFolder, holdParent } from "../../workspace/held-folder.ts";
import { isProcessAlive } from "../processes/process-table.ts";
import type { HeldWorkspace } from "./held-workspace.ts";

/**
 * Empty files and folders that exist while a command runs, because a mount needs an existing path. They are counted:
 * commands that run side by side share them. Only paths that were made here are removed, and only while they are empty.
 * Each one carries the id of the process that made it in its modification time, so that the placeholders of a killed
 * process can be recognised and removed.
 *
 * Every name is used in a held folder: a command that exchanges a folder meanwhile leads none of this elsewhere.
 */
const placeholders = new Map<string, Placeholder>();

interface Placeholder {
  type: "folder" | "file";
  uses: number;
  /** Parent folders that were made for it, relative to the workspace. */
  parents: string[];
  /** The process that made it, if it was taken over while that process used it; null for one that was made here. */
  takenOverFrom: number | null;
}

/** A name in a held folder. */
interface HeldName {
  folder: HeldFolder;
  name: string;
}

/** @param path absolute */
export function isPlaceholder(path: string): boolean {
  return placeholders.has(path);
}

/** Returns true if the path is a placeholder now; false if another file or folder exists there. */
export function acquirePlaceholder(workspace: HeldWorkspace, path: string, type: "folder" | "file"): boolean {
  const key = join(workspace.path, path);
  const known = placeholders.get(key);
  if (known) {
    if (!atHeld(workspace, path, exists)) makePlaceholder(workspace, path, known);
    known.uses += 1;
    return true;
  }
  if (isOwnedByOtherProcess(workspace, path)) {
    // Taking it over makes its creator leave it in place: removing it would end the protection of this command.
    const takenOverFrom = atHeld(workspace, path, creatorOf);
    placeholders.set(key, { type, uses: 1, parents: [], takenOverFrom });
    atHeld(workspace, path, markAsOwn);
    return true;
  }
  if (atHeld(workspace, path, exists) && !removeAbandonedPlaceholder(workspace, path)) return false;
  const made: Placeholder = { type, uses: 1, parents: [], takenOverFrom: null };
  makePlaceholder(workspace, path, made);
  placeholders.set(key, made);
  return true;
}

/** Removes a placeholder of a process that has ended, with the parent folders made for it. Returns whether it did. */
export function removeAbandonedPlaceholder(workspace: HeldWorkspace, path: string): boolean {
  if (placeholders.has(join(workspace.path, path)) || !atHeld(workspace, path, isAbandoned)) return false;
  const parent = dirname(path);
  // Checked before the removal, which changes the parent's modification time.
  const isParentAbandoned = parent !== "." && atHeld(workspace, parent, isAbandoned);
  if (!atHeld(workspace, path, removeEmpty)) return false;
  if (!isParentAbandoned) return true;
  atHeld(workspace, parent, markAsOwn);
  removeAbandonedPlaceholder(workspace, parent);
  return true;
}

/** Gives back one use. The last one removes the placeholder, or leaves it to the process that still uses it. */
export function releasePlaceholder(workspace: HeldWorkspace, path: string): void {
  const key = join(workspace.path, path);
  const known = placeholders.get(key);
  if (!known) return;
  known.uses -= 1;
  if (known.uses > 0) return;
  placeholders.delete(key);
  if (isOwnedByOtherProcess(workspace, path)) {
    atHeld(workspace, path, markAsReleased);
    return;
  }
  const { takenOverFrom } = known;
  if (takenOverFrom !== null && isProcessAlive(takenOverFrom) && !atHeld(workspace, path, isReleased)) {
    atHeld(workspace, path, (held) => markAsOwn(held, takenOverFrom));
    return;
  }
  for (const made of [path, ...known.parents]) atHeld(workspace, made, removeEmpty);
}

/** True if another living process owns this placeholder. This process may use it only after taking it over. */
export function isOwnedByOtherProcess(workspace: HeldWorkspace, path: string): boolean {
  const pid = atHeld(workspace, path, creatorOf);
  return pid !== null && pid !== process.pid && isProcessAlive(pid);
}

/** Makes the placeholder and its missing parents, the outermost first. Throws if that is not possible. */
function makePlaceholder(workspace: HeldWorkspace, path: string, known: Placeholder): void {
  const names = path.split("/");
  const made: string[] = [];
  let folder = holdFolder(workspace.folder, ".");
  for (const [i, name] of names.entries()) {
    if (folder === null) throw Object.assign(new Error(`${path}: not a folder`), { code: "ENOTDIR" });
    using here: HeldFolder = folder;
    const isLast = i === names.length - 1;
    folder = isLast ? null : holdFolder(here, name);
    if (folder) continue;
    if (isLast && known.type === "file") writeFileSync(here.at(name), "", { flag: "wx" });
    else mkdirSync(here.at(name));
    made.push(names.slice(0, i + 1).join("/"));
    folder = isLast ? null : holdFolder(here, name);
  }
  known.parents.push(...made.slice(0, -1).toReversed());
  for (const one of made.toReversed()) atHeld(workspace, one, markAsOwn);
}

/** Calls a function with the name of a path in its held folder. Null if the path leads through a link, or nowhere. */
function atHeld<T>({ folder }: HeldWorkspace, path: string, use: (held: HeldName) => T): T | null {
  const held = holdParent(folder, path);
  if (held === null) return null;
  using _folder = held.folder;
  return use(held);
}

/** The modification time is this plus the process id in seconds. No other file is from 1971, and any change resets it. */
const markedFromS = Date.UTC(1971, 0, 1) / 1000;
const pidMax = 2 ** 22;

function markAsOwn(held: HeldName, pid = process.pid): void {
  setTimes(held, Date.now() / 1000, markedFromS + pid);
}

/** Tells the process that took a placeholder over that this process needs it no more, by the file's access time. */
function markAsReleased(held: HeldName): void {
  const stats = statsOf(held);
  if (stats) setTimes(held, markedFromS, stats.mtimeMs / 1000);
}

function setTimes({ folder, name }: HeldName, accessedS: number, modifiedS: number): void {
  try {
    lutimesSync(folder.at(name), accessedS, modifiedS);
  } catch {
    // A placeholder that cannot be marked stays if this process is killed.
  }
}

function isReleased(held: HeldName): boolean {
  return statsOf(held)?.atimeMs === markedFromS * 1000;
}

/** Null for a path that is not a placeholder. */
function creatorOf(held: HeldName): number | null {
  const stats = statsOf(held);
  if (stats === null || !(stats.isDirectory() || (stats.isFile() && stats.size === 0))) return null;
  const pid = stats.mtimeMs / 1000 - markedFromS;
  return Number.isInteger(pid) && pid > 0 && pid <= pidMax ? pid : null;
}

function isAbandoned(held: HeldName): boolean {
  const pid = creatorOf(held);
  // In a container, troupe may have the same pid at every start.
  return pid !== null && (pid === process.pid || !isProcessAlive(pid));
}

/** Returns whether an empty file or folder was removed. */
function removeEmpty(held: HeldName): boolean {
  const { folder, name } = held;
  const stats = statsOf(held);
  try {
    if (stats?.isDirectory()) rmdirSync(folder.at(name));
    else if (stats?.isFile() && stats.size === 0) unlinkSync(folder.at(name));
    else return false;
    return true;
  } catch {
    return false;
  }
}

function exists(held: HeldName): boolean {
  return statsOf(held) !== null;
}

function statsOf({ folder, name }: HeldName): Stats | null {
  try {
    return lstatSync(folder.at(name));
  } catch {
    return null;
  }
}
