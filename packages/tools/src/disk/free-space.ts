import { statfs } from "node:fs/promises";
import type { DiskShortage, DiskSpace, Logger } from "@troupe/core";
import { formatBytes } from "@troupe/core/texts";

export interface DiskSpaceOptions {
  /** The folder with journal, record and blobs. */
  home: string;
  /** Free space that has to stay, in MB. 0: no limit. @default 512 MB, or a twentieth of a smaller volume */
  freeMb?: number | null;
  logger: Pick<Logger, "warn" | "info">;
  /** Tells the user once that a volume is full, and once that it is not. */
  notice?: ((text: string) => void) | undefined;
}

/** The numbers of a volume that matter here. */
export interface VolumeSpace {
  freeBytes: number;
  totalBytes: number;
}

const megabyte = 1024 ** 2;
const freeBytesDefault = 512 * megabyte;
/** Of a volume so small that the default would be most of it. */
const freeShareDefault = 1 / 20;

/** The free space of the volume of a folder for this user. Null for a folder that does not exist. */
export async function readVolumeSpace(folder: string): Promise<VolumeSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** The free space below which no call that may write starts on a volume. */
export function freeLimitOf({ totalBytes }: VolumeSpace, freeMb: number | null): number {
  return freeMb === null ? Math.min(freeBytesDefault, totalBytes * freeShareDefault) : freeMb * megabyte;
}

/** The shortage on the volume of a folder, or null. A file system without a size has none. */
export async function findShortage(folder: string, freeMb: number | null): Promise<DiskShortage | null> {
  const space = await readVolumeSpace(folder);
  if (space === null || space.totalBytes === 0) return null;
  const { freeBytes } = space;
  const limitBytes = freeLimitOf(space, freeMb);
  if (freeBytes >= limitBytes) return null;
  const message =
    `the volume of ${folder} has ${formatBytes(freeBytes)} free, and calls that may write need ${formatBytes(limitBytes)} ` +
    `(disk.freeMb of policy.yaml); free some space: df -h ${folder}`;
  return { folder, freeBytes, limitBytes, message };
}

/**
 * Watches the free space of the home and of workspaces. Each shortage, and its end, is reported once.
 *
 * @example
 * const space = createDiskSpace({ home: "/home/me/.local/share/troupe", logger });
 * await space.shortageAt(workspace); // null if there is enough space
 */
export function createDiskSpace({ home, freeMb = null, logger, notice = () => {} }: DiskSpaceOptions): DiskSpace {
  const found = new Map<string, DiskShortage>();
  const report = (folder: string, shortage: DiskShortage | null): void => {
    const before = found.get(folder);
    if (shortage === null) found.delete(folder);
    else found.set(folder, shortage);
    if (shortage !== null && before === undefined) {
      const { freeBytes, limitBytes } = shortage;
      logger.warn({ folder, freeBytes, limitBytes }, `calls that may write wait: ${shortage.message}`);
      notice(`calls that may write wait: ${shortage.message}`);
    }
    if (shortage === null && before !== undefined) {
      logger.info({ folder }, "the disk has enough free space again");
      notice(`the volume of ${folder} has enough free space again`);
    }
  };
  const check = async (folder: string): Promise<DiskShortage | null> => {
    const shortage = await findShortage(folder, freeMb);
    report(folder, shortage);
    return shortage;
  };
  return {
    shortageAt: async (workspace) => (await check(home)) ?? (workspace === home ? null : await check(workspace)),
    current() {
      for (const folder of new Set([home, ...found.keys()])) void check(folder);
      return [...found.values()];
    },
  };
}
