import {
  closeSync,
  constants,
  fchmodSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  entriesIn,
  type HeldEntry,
  type HeldFolder,
  holdEntry,
  holdParent,
  holdPath,
  isFolder,
  readHeld,
} from "../../workspace/held-folder.ts";
import { removeEntry } from "../../workspace/remove-entry.ts";
import type { HeldWorkspace } from "./held-workspace.ts";
import { isPlaceholder } from "./placeholders.ts";
import type { SavedFolder } from "./saved-folder.ts";
import { isInFolder, type ProtectedPath, pathIn, scanWorkspace, type WorkspaceScan } from "./scan-workspace.ts";

/**
 * The second layer of protection, after the read-only mounts. It covers protected paths that a mount cannot protect: a
 * symbolic link, a file with another name (hard link), and paths that the command itself creates. It reads, removes and
 * writes through held folders only, because other commands may exchange names of the workspace meanwhile.
 */
export interface BeforeCommand {
  scan: WorkspaceScan;
  originals: readonly Original[];
  writable: readonly string[];
}

/** A protected link or file as it was before the command. */
export type Original = { path: string; target: string } | { path: string; content: Buffer; mode: number };

/** Larger files are not settings. */
const contentBytesMax = 1024 * 1024;
const entriesMax = 200;

/** Records the protected links and hard-linked files, which a command could change behind a mount. */
export function recordOriginals({ folder }: HeldWorkspace, paths: readonly ProtectedPath[]): Original[] {
  return paths.flatMap(({ path }) => {
    const held = holdParent(folder, path);
    if (held === null) return [];
    using _folder = held.folder;
    return recordOriginal(held.folder, held.name, path);
  });
}

function recordOriginal(folder: HeldFolder, name: string, path: string): Original[] {
  using entry = holdEntry(folder, name);
  if (entry === null) return [];
  if (entry.kind === "link") {
    const target = targetOf(folder, name);
    return target === null ? [] : [{ path, target }];
  }
  if (isFolder(entry)) {
    const names = entriesIn(entry).slice(0, entriesMax);
    return names.flatMap((below) => recordOriginal(entry, below.name, `${path}/${below.name}`));
  }
  const content = entry.stats.nlink > 1n ? readHeld(entry, contentBytesMax) : null;
  return content === null ? [] : [{ path, content, mode: Number(entry.stats.mode) }];
}

/**
 * Removes protected paths that were created while the command ran, restores the originals, and resolves to all changed
 * paths. A person may have created them, or written to an original: the removed files are saved.
 */
export async function restoreProtected(
  workspace: HeldWorkspace,
  before: BeforeCommand,
  saved: SavedFolder | null,
): Promise<string[]> {
  const now = await scanWorkspace(workspace.folder);
  const madeRepositories = now.repositories.filter(
    (path) => !isGitFolder(path) && !before.scan.repositories.includes(path) && isWritable(path, before),
  );
  const changed: string[] = [];
  for (const path of createdPaths(workspace, before, now)) {
    if (!madeRepositories.includes(path.repository ?? "/") && (await removeCreated(workspace, path.path, saved))) {
      changed.push(path.path);
    }
  }
  for (const repository of madeRepositories) {
    const head = pathIn(repository, "HEAD");
    if (await removeHead(workspace, head, saved)) changed.push(head);
  }
  for (const original of before.originals) {
    if (await restoreOriginal(workspace, original, saved)) changed.push(original.path);
  }
  return changed;
}

function createdPaths({ path: root }: HeldWorkspace, before: BeforeCommand, now: WorkspaceScan): ProtectedPath[] {
  const known = new Set(before.scan.protectedPaths.map(({ path }) => path));
  return now.protectedPaths.filter(
    ({ path }) => !known.has(path) && !isPlaceholder(join(root, path)) && isWritable(path, before),
  );
}

function isWritable(path: string, { writable }: BeforeCommand): boolean {
  return writable.some((folder) => isInFolder(path, folder));
}

function isGitFolder(path: string): boolean {
  return /(?:^|\/)\.git$/i.test(path);
}

/**
 * Ends that a folder is a repository. The rest of it stays: its `config` or `hooks` may be folders of the user, which
 * were not part of a repository before the command.
 */
async function removeHead(workspace: HeldWorkspace, path: string, saved: SavedFolder | null): Promise<boolean> {
  using entry = holdPath(workspace.folder, path);
  if (entry === null || isFolder(entry)) return false;
  const content = readHeld(entry, contentBytesMax)?.toString("latin1");
  if (content !== undefined && !/^(?:ref:|[0-9a-f]{40})/i.test(content)) return false;
  return await removeCreated(workspace, path, saved);
}

/** Resolves to whether it was there and is gone. */
async function removeCreated({ folder }: HeldWorkspace, path: string, saved: SavedFolder | null): Promise<boolean> {
  const held = holdParent(folder, path);
  if (held === null) return false;
  using _folder = held.folder;
  return await takeOut(held.folder, held.name, path, saved);
}

/** Resolves to whether nothing is left at the name. */
async function takeOut(folder: HeldFolder, name: string, path: string, saved: SavedFolder | null): Promise<boolean> {
  if (saved === null) return await removeEntry(folder, name);
  if (saved.save(folder, name, path)) return await removeEntry(folder, name);
  // Too large to be copied to the disk of the home. Under another name no program reads it.
  renameSync(folder.at(name), folder.at(`${name}${asideSuffix}${Date.now()}`));
  return true;
}

const asideSuffix = ".removed-by-troupe-";

/** Resolves to whether the command had changed it. */
async function restoreOriginal(
  { folder }: HeldWorkspace,
  original: Original,
  saved: SavedFolder | null,
): Promise<boolean> {
  const held = holdParent(folder, original.path);
  if (held === null) return false;
  using _folder = held.folder;
  using entry = holdEntry(held.folder, held.name);
  if (isAsBefore(held.folder, held.name, entry, original)) return false;
  for (let tries = 0; tries < triesMax; tries += 1) {
    await takeOut(held.folder, held.name, original.path, saved);
    if (putOriginal(held.folder, held.name, original)) break;
  }
  return true;
}

/** Another command may put an entry of its own at the name. */
const triesMax = 5;

function isAsBefore(folder: HeldFolder, name: string, entry: HeldEntry | null, original: Original): boolean {
  if ("target" in original) return targetOf(folder, name) === original.target;
  return entry !== null && readHeld(entry, contentBytesMax)?.equals(original.content) === true;
}

/** Makes a new entry. A hard link's other name keeps the content that the command wrote. */
function putOriginal(folder: HeldFolder, name: string, original: Original): boolean {
  try {
    if ("target" in original) symlinkSync(original.target, folder.at(name));
    else putFile(folder.at(name), original);
    return true;
  } catch {
    return false;
  }
}

function putFile(path: string, { content, mode }: { content: Buffer; mode: number }): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, content);
    fchmodSync(descriptor, mode & 0o777);
  } finally {
    closeSync(descriptor);
  }
}

function targetOf(folder: HeldFolder, name: string): string | null {
  try {
    return readlinkSync(folder.at(name));
  } catch {
    return null;
  }
}
