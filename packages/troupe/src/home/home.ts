import { randomBytes } from "node:crypto";
import { access, constants, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { TroupeError } from "@troupe/core";

/** The folder with all state. */
export interface Home {
  readonly path: string;
}

/** Paths in a home. */
export function homeFiles(home: Home) {
  return {
    lock: join(home.path, "lock.db"),
    owner: join(home.path, "owner.json"),
    token: join(home.path, "token"),
    journal: join(home.path, "journal.db"),
    record: join(home.path, "troupe.db"),
    blobs: join(home.path, "blobs"),
    memory: join(home.path, "memory"),
    workspaces: join(home.path, "workspaces"),
    runs: join(home.path, "runs"),
    logs: join(home.path, "logs"),
    workers: join(home.path, "workers"),
    policy: join(home.path, "policy.yaml"),
    rules: join(home.path, "rules.json"),
    trust: join(home.path, "trust.json"),
    diskUsage: join(home.path, "disk-usage.json"),
    diskReserve: join(home.path, "disk-reserve"),
    webhooks: join(home.path, "webhooks.db"),
    removed: join(home.path, "removed"),
    office: join(home.path, "office"),
  };
}

/**
 * Path of the home: `TROUPE_HOME`, else `troupe` in the XDG data folder. Creates nothing.
 *
 * @example
 * locateHome({ env: { TROUPE_HOME: "/srv/troupe" }, cwd: "/" }).path; // "/srv/troupe"
 */
export function locateHome(options: { env: NodeJS.ProcessEnv; cwd: string }): Home {
  const { env, cwd } = options;
  if (env.TROUPE_HOME) return { path: resolve(cwd, env.TROUPE_HOME) };
  const data = env.XDG_DATA_HOME;
  // The XDG specification says to ignore relative paths.
  if (data && isAbsolute(data)) return { path: join(data, "troupe") };
  return { path: join(env.HOME || homedir(), ".local", "share", "troupe") };
}

/** Creates the folder for this user only if it is missing, and checks that it is writable. */
export async function prepareHome(home: Home): Promise<void> {
  await checkIsFolder(home);
  try {
    await makeFolder(home.path);
    await access(home.path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw homeUnwritable(home, cause);
  }
}

/** Throws `HOME_UNWRITABLE` if the home is a file. A missing home is fine: the first start creates it. */
export async function checkIsFolder(home: Home): Promise<void> {
  const stats = await stat(home.path).catch(() => null);
  if (stats === null || stats.isDirectory()) return;
  throw new TroupeError("HOME_UNWRITABLE", `the home ${home.path} is not a folder`, { fix: homeFix });
}

/**
 * Creates a folder and its parents. `mkdir` with `recursive` never returns for a folder that cannot have children, such
 * as `/proc`.
 */
async function makeFolder(path: string): Promise<void> {
  if (await stat(path).catch(() => null)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // Another process can create it at the same time.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** The error for a home that cannot be used, with its path and cause. */
export function homeUnwritable(home: Home, cause: unknown): TroupeError {
  return new TroupeError("HOME_UNWRITABLE", `the home ${home.path} is not writable`, { cause, fix: homeFix });
}

const homeFix = "export TROUPE_HOME=<a folder that you can write>";

/** Writes a file that only this user can read. The write is atomic: after a kill the old content remains. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
