import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface AtomicWriteOptions {
  /**
   * Name of the temporary file. With the same name at each try, a later try removes the file of a killed one.
   * @default a random name
   */
  temporaryName?: string;
  /** Permission bits of the file. @default by the umask of the process */
  mode?: number;
}

/**
 * Replaces a whole file. A reader finds the old bytes or the new ones, even after a power failure. The temporary file is
 * in the same folder, because a rename is only atomic within one file system.
 */
export async function writeFileAtomic(
  path: string,
  bytes: Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, options.temporaryName ?? `.troupe-${randomUUID()}.tmp`);
  await rm(temporary, { force: true });
  try {
    await writeSynced(temporary, bytes, options.mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The flag `wx` fails if another process created a file or link with this name. It follows no link. */
async function writeSynced(path: string, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  await using file = await open(path, "wx", mode);
  if (mode !== undefined) await file.chmod(mode);
  await file.writeFile(bytes);
  await file.sync();
}

/** Makes the names in a folder durable. Windows cannot open folders and does not need it. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}
