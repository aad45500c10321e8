import { randomBytes } from "node:crypto";
import { constants, copyFile, link, lstat, mkdir, open, rename, rm, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { TroupeError } from "@troupe/core";
import { errorCodeOf, hashBytes } from "@troupe/core/internal";
import { fileBytesMax, readRegularFile } from "./agent-folder.ts";

/** An agent file that may be changed. */
export interface FilePlace {
  path: string;
  /** The home or the project. Below it, no symbolic link is followed. */
  base: string;
}

export interface StoredFile {
  text: string;
  /** Hash of the bytes. */
  version: string;
}

/** Reads a file without following a link. Null: no such file. */
export async function readAgentFile(path: string): Promise<StoredFile | null> {
  try {
    const read = await readRegularFile(path);
    if (read === null) throw refused(path, "it is not a regular file");
    if (read.size > fileBytesMax) throw refused(path, `it has more than ${fileBytesMax} bytes`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read.bytes);
    return { text, version: hashBytes(read.bytes) };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === "ENOENT") return null;
    if (code === "ELOOP") throw refused(path, "it is a symbolic link");
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") throw refused(path, "it is not UTF-8");
    throw error;
  }
}

/** Creates a file, and its folders. Fails with `CONFLICT` if the file exists. */
export async function createAgentFile(place: FilePlace, text: string): Promise<void> {
  await checkFolders(place, true);
  await withTemporary(place.path, { text, mode: 0o644 }, async (temporary) => {
    try {
      await link(temporary, place.path);
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") throw exists(place.path);
      // Some file systems have no hard links.
      await copyFile(temporary, place.path, constants.COPYFILE_EXCL).catch((cause: unknown) => {
        throw errorCodeOf(cause) === "EEXIST" ? exists(place.path) : cause;
      });
    }
  });
}

/** Replaces a file in one step, if it still has the version. Fails with `CONFLICT` if not. */
export async function replaceAgentFile(place: FilePlace, version: string, text: string): Promise<void> {
  await checkVersion(place, version);
  const { mode } = await stat(place.path);
  await withTemporary(place.path, { text, mode: mode & 0o777 }, async (temporary) => {
    await checkVersion(place, version);
    await rename(temporary, place.path);
  });
}

/** Deletes a file, if it still has the version. Fails with `CONFLICT` if not. */
export async function removeAgentFile(place: FilePlace, version: string): Promise<void> {
  await checkVersion(place, version);
  await unlink(place.path);
}

/** Throws `CONFLICT` if the file has another version than the caller has read. */
async function checkVersion(place: FilePlace, version: string): Promise<void> {
  await checkFolders(place, false);
  const stored = await readAgentFile(place.path);
  if (stored?.version !== version) throw changed(place.path, stored);
}

/** The error for a file that changed since the caller read it. */
export function changed(path: string, stored: StoredFile | null): TroupeError {
  const what = stored === null ? "was deleted" : "changed on the disk";
  return new TroupeError("CONFLICT", `${path} ${what} since it was opened; nothing was written`, {
    fix: "load it again, then repeat the change",
  });
}

/** The error for a new file whose name is taken. */
export function exists(path: string): TroupeError {
  return new TroupeError("CONFLICT", `${path} exists already; nothing was written`, {
    fix: "choose another name, or edit the existing agent",
  });
}

/** Checks that no folder between the base and the file is a link. Creates missing folders if asked to. */
async function checkFolders({ path, base }: FilePlace, creates: boolean): Promise<void> {
  const parts = relative(base, dirname(path)).split(sep);
  if (parts.includes("..")) throw refused(path, `it is outside of ${base}`);
  let folder = base;
  for (const part of parts) {
    folder = join(folder, part);
    if (creates) await mkdir(folder, { mode: 0o755 }).catch(ignoreExisting);
    const stats = await lstat(folder).catch(() => null);
    if (stats?.isSymbolicLink()) throw refused(path, `${folder} is a symbolic link`);
    if (!stats?.isDirectory()) throw refused(path, `${folder} is not a folder`);
  }
}

function ignoreExisting(error: unknown): void {
  if (errorCodeOf(error) !== "EEXIST") throw error;
}

/** A reader sees the old file or the new one, and never a part. */
async function withTemporary(
  path: string,
  { text, mode }: { text: string; mode: number },
  use: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await use(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}

function refused(path: string, reason: string): TroupeError {
  return new TroupeError("FORBIDDEN", `${path} cannot be edited here: ${reason}`, {
    fix: "edit the file with another program",
  });
}
