import { execFile } from "node:child_process";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { cleanUpAtExit } from "./cleanup-at-exit.ts";
import type { Scope } from "./scope.ts";

const run = promisify(execFile);

export interface SmallDisk {
  folder: string;
  /** Leaves not a block for anybody else. */
  fill(): Promise<void>;
  /** Gives back what `fill` took. */
  free(): Promise<void>;
}

/** A disk of so many megabytes, in memory. Root can make one. */
export async function mountSmallDisk(folder: string, megabytes: number, scope: Scope): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  // Lazy unmount: other cleanup steps kill the processes with open files there, and some may still be ending.
  cleanUpAtExit(scope, "umount", "--lazy", folder);
  const ballast = path.join(folder, "ballast");
  return {
    folder,
    async fill() {
      const file = await open(ballast, "a");
      const block = Buffer.alloc(64 * 1024, 1);
      try {
        for (let size = block.byteLength; size >= 1; ) {
          try {
            const { bytesWritten } = await file.write(block.subarray(0, size));
            if (bytesWritten < size) throw new Error("full");
          } catch {
            size = Math.floor(size / 2);
          }
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
  };
}
