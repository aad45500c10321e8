import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface AtomicWriteOptions {
  /**
   * Makes the name of the temporary file. The same name for each try of one write lets a later try clean up what a
   * killed one left.
   * @default a random one
   */
  temporaryName?: string;
  /** Permission bits of the file. @default those of the process's umask */
  mode?: number;
}

/**
 * Replaces a file as a whole: whoever reads it, even after a power cut, finds the old bytes or the new ones.
 *
 * The temporary file lies in the same folder, since a rename is atomic within one file system only.
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

/** Flag `wx`: a file or link that somebody put at this name meanwhile is refused, not followed. */
async function writeSynced(path: string, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  await using file = await open(path, "wx", mode);
  if (mode !== undefined) await file.chmod(mode);
  await file.writeFile(bytes);
  await file.sync();
}

/** Makes names in a folder durable. Windows cannot open folders, and needs no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(path, "r");
  await folder.sync();
}
