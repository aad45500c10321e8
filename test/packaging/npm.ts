/** npm as a user has it on a new machine: an empty home, and only the settings of this machine (its registry). */
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type CommandResult, run } from "../../scripts/lib/command.ts";
import { cleanEnvironment } from "../../scripts/lib/environment.ts";
import { cacheFolder } from "../../scripts/lib/project.ts";

/** The environment of a user's commands. */
export function userEnvironment(home: string): NodeJS.ProcessEnv {
  const env = cleanEnvironment();
  for (const variable of Object.keys(env)) if (variable.startsWith("XDG_")) delete env[variable];
  return {
    ...env,
    HOME: home,
    npm_config_userconfig: env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_loglevel: "error",
    npm_config_update_notifier: "false",
  };
}

export interface NpmInstall {
  folder: string;
  home: string;
  /** Tarballs, names of packages, and options of npm. */
  words: readonly string[];
}

export async function npmInstall({ folder, home, words }: NpmInstall): Promise<void> {
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--cache", join(cacheFolder(), "npm")];
  // With more threads npm needs twice the processor time: they write into the same folders, and wait for each other.
  const env = { ...userEnvironment(home), UV_THREADPOOL_SIZE: "1" };
  await succeed(run(["npm", "install", ...options, ...words], { cwd: folder, env, output: "capture" }));
}

/** Fails unless all packages below a project's `node_modules` have the dependencies that their manifests demand. */
export async function npmCheckTree({ folder, home }: Pick<NpmInstall, "folder" | "home">): Promise<void> {
  await succeed(run(["npm", "ls", "--all"], { cwd: folder, env: userEnvironment(home), output: "capture" }));
}

export async function succeed(running: Promise<CommandResult>): Promise<void> {
  const { code, output } = await running;
  expect(code, output).toBe(0);
}

const memory = "/dev/shm";
const memoryBytesMin = 4e9;

/**
 * A temporary folder for thousands of files: in memory, where the machine has enough of it. On a disk with ext4 the kernel
 * passes over each recently deleted file when it creates one, and tests beside this one delete many.
 */
export function largeTempFolder(prefix: string): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize >= memoryBytesMin) return programFolder(mkdtempSync(join(memory, prefix)));
  } catch {
    // No such file system, or one that runs no programs.
  }
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Throws, and removes the folder, if its file system runs no programs. */
function programFolder(folder: string): string {
  const program = join(folder, "program");
  try {
    writeFileSync(program, "", { mode: 0o755 });
    accessSync(program, constants.X_OK);
    rmSync(program);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}
