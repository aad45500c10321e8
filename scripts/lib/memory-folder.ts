import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

export interface MemoryFolder {
  path: string;
  remove(): void;
}

export interface MemoryFolderOptions {
  /** A file system in memory. @default "/dev/shm", on Linux */
  base?: string;
  env?: NodeJS.ProcessEnv;
  /** Space in the file system, and free memory of the machine. The tests use about one GiB. @default 4 GiB and 8 GiB */
  spaceBytesMin?: number;
  memoryBytesMin?: number;
}

const prefix = "troupe-";
const gib = 2 ** 30;

/**
 * Makes a folder in memory for the temporary files of tests. They sync thousands of small databases, and on a disk that costs
 * a tenth of the run. Null if the machine has too little memory, if programs cannot be started there, or if `TMPDIR` names
 * another place. A folder of a run that was killed is removed.
 */
export function makeMemoryFolder(options: MemoryFolderOptions = {}): MemoryFolder | null {
  const { base = "/dev/shm", env = process.env, spaceBytesMin = 4 * gib, memoryBytesMin = 8 * gib } = options;
  if (env.TMPDIR || process.platform !== "linux") return null;
  const path = join(base, `${prefix}${process.pid}`);
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  try {
    removeAbandoned(base);
    const { bavail, bsize } = statfsSync(base);
    if (bavail * bsize < spaceBytesMin || freemem() < memoryBytesMin) return null;
    mkdirSync(path, { recursive: true });
    // As /tmp is: some tests have processes of other users.
    chmodSync(path, 0o1777);
    if (startsPrograms(path)) return { path, remove };
  } catch {
    // The tests use the usual folder then.
  }
  remove();
  return null;
}

/** Containers often forbid it in their shared memory. */
function startsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

function removeAbandoned(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(name.slice(prefix.length));
    if (!name.startsWith(prefix) || !(pid > 0) || isAlive(pid)) continue;
    rmSync(join(base, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
