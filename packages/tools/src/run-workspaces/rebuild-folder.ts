import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { lstat, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type Blobs, RunFailure } from "@troupe/core";
import type { FolderFile, FolderFiles } from "@troupe/core/internal";
import { type HeldFolder, holdFolder, holdRoot } from "../workspace/held-folder.ts";
import { removeFolder } from "../workspace/remove-entry.ts";
import { readWorkspaceFile, resolvePath } from "../workspace/resolve-path.ts";
import { splitPath } from "../workspace/workspace-path.ts";
import { getVerified, isSameList } from "./file-list.ts";
import { createFolderScan, folderBounds } from "./scan-folder.ts";

/**
 * Rebuilds a run's own folder from a list: matching files stay, all others come from the blob store. Throws a
 * `RunFailure` that names the first missing file.
 */
export async function rebuildFolder(folder: string, wanted: FolderFiles, blobs: Blobs): Promise<void> {
  const isThere = (await lstat(folder).catch(() => null))?.isDirectory() === true;
  if (isThere) {
    const now = await createFolderScan(folder, blobs).list({ keeps: false });
    // Unlisted files exist only on this disk.
    if (wanted.unlisted > 0 || isSameList(now, asScanned(wanted))) return;
  }
  if (wanted.unlisted > 0)
    throw workspaceLost(`${wanted.unlisted} files`, "were too many to be kept, and are on another machine");
  const fresh = `${folder}.new`;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await removeFolder(fresh);
  await mkdir(fresh, { mode: 0o700 });
  using held = holdRoot(fresh);
  for (const file of wanted.files) await placeFile(file, { fresh: held, old: isThere ? folder : null, blobs });
  await removeFolder(folder);
  await rename(fresh, folder);
}

/** A scan that does not save cannot detect that a file contains a secret. */
function asScanned(list: FolderFiles): FolderFiles {
  const files = list.files.map(({ unkept, ...file }) =>
    unkept === undefined || file.version !== "" ? file : { ...file, unkept },
  );
  return { ...list, files };
}

interface RebuildSources {
  fresh: HeldFolder;
  /** The previous folder; null if there was none. */
  old: string | null;
  blobs: Blobs;
}

async function placeFile(file: FolderFile, { fresh, old, blobs }: RebuildSources): Promise<void> {
  const { path, executable, link, unkept } = file;
  if (path !== splitPath(path).join("/") || splitPath(path).includes(".."))
    throw workspaceLost(path, "is not a relative path");
  // A list of another machine may name a file below a link, which would lead out of the folder.
  using parent = makeWay(fresh, dirname(path));
  if (parent === null) throw workspaceLost(path, "is below something that is not a folder");
  const target = parent.at(basename(path));
  if (link !== undefined) return await symlink(link, target);
  if (unkept !== undefined) return await moveUnsaved(file, old, target);
  const bytes = (await readOld(old, file)) ?? (await getVerified(blobs, file.version));
  if (bytes === null)
    throw workspaceLost(
      path,
      `cannot be had: its content ${file.version.slice(0, 12)} is not in the store, or is damaged`,
    );
  await writeFile(target, bytes, { flag: "wx", mode: executable ? 0o755 : 0o644 });
}

/** Makes the missing folders of a relative path. Null if a part of it is something else. */
function makeWay(fresh: HeldFolder, path: string): HeldFolder | null {
  let at = holdFolder(fresh, ".");
  for (const name of splitPath(path)) {
    if (at === null) return null;
    using here: HeldFolder = at;
    at = holdFolder(here, name) ?? makeFolderIn(here, name);
  }
  return at;
}

function makeFolderIn(folder: HeldFolder, name: string): HeldFolder | null {
  try {
    mkdirSync(folder.at(name), { mode: 0o700 });
  } catch {
    return null;
  }
  return holdFolder(folder, name);
}

/** A file that was not saved is on this disk, or lost. */
async function moveUnsaved({ path, version, unkept }: FolderFile, old: string | null, target: string): Promise<void> {
  if (old === null) throw workspaceLost(path, `was not kept (${unkept}), and is on another machine`);
  await using resolved = await resolvePath(old, path);
  const isSame = resolved.found.kind === "file" && !resolved.isLink;
  if (!isSame || (version !== "" && version !== (await versionIn(old, path)))) {
    throw workspaceLost(path, `was not kept (${unkept}), and is not as it was`);
  }
  await rename(resolved.folder.at(resolved.name), target);
}

/** The existing content, if its version matches. */
async function readOld(old: string | null, { path, version }: FolderFile): Promise<Buffer | null> {
  if (old === null) return null;
  const content = await readWorkspaceFile(old, path, { bytesMax: folderBounds.fileBytesMax }).catch(() => null);
  return content?.version === version ? content.bytes : null;
}

async function versionIn(folder: string, path: string): Promise<string> {
  const { bytes } = await readWorkspaceFile(folder, path, { bytesMax: folderBounds.fileBytesMax });
  return createHash("sha256").update(bytes).digest("hex");
}

export function workspaceLost(what: string, why: string): RunFailure {
  return new RunFailure({ type: "workspace_lost", message: `${what} ${why}`, recoverable: true });
}
