import { randomBytes } from "node:crypto";
import { readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { finishRestore } from "./finish-restore.ts";
import { type Home, homeFiles, homeUnwritable, prepareHome, writePrivateFile } from "./home.ts";
import { tryLock } from "./lock.ts";
import { findOwner, OwnerInfo } from "./owner.ts";

/** A home whose lock this process holds. */
export interface OwnedHome extends Home {
  /** Token of the HTTP API. It stays the same across restarts, so that a browser stays logged in. */
  readonly token: string;
  /** Writes the owner's address for other commands. */
  announce(owner: OwnerInfo): Promise<void>;
  /** Gives the home to other processes. Close its stores first. */
  release(): Promise<void>;
}

/** `isLocked` of another process holds the lock for a moment, so one failed try does not mean that the home has an owner. */
const tries = 6;
const betweenTriesMs = 25;

/** Takes the home, or returns null if another process owns it. */
export async function tryAcquireHome(home: Home): Promise<OwnedHome | null> {
  await prepareHome(home);
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const lock = tryLock(homeFiles(home).lock);
    if (lock) return openOwnedHome(home, () => lock.release());
    if (attempt < tries) await delay(betweenTriesMs);
  }
  return null;
}

/**
 * Takes the home until `release`. Throws `HOME_OWNED` with the owner's pid and address if another process owns it.
 *
 * @example
 * const home = await acquireHome(locateHome({ env: process.env, cwd: process.cwd() }));
 * await home.release();
 */
export async function acquireHome(home: Home): Promise<OwnedHome> {
  const owned = await tryAcquireHome(home);
  if (owned) return owned;
  const owner = await findOwner(home, { patienceMs: 2_000 });
  // The owner has exited since the first try.
  if (!owner) return acquireHome(home);
  throw homeOwned(home, owner);
}

const ownerNames = { daemon: "a troupe daemon", run: "a `troupe run`", program: "a program" } as const;

function homeOwned(home: Home, owner: OwnerInfo): TroupeError {
  const at = owner.url === null ? "" : ` at ${owner.url}`;
  return new TroupeError(
    "HOME_OWNED",
    `the home ${home.path} is owned by ${ownerNames[owner.kind]} (pid ${owner.pid})${at}, version ${owner.version}`,
    { fix: owner.kind === "program" && owner.pid === process.pid ? closeFirst : `kill -INT ${owner.pid}` },
  );
}

const closeFirst =
  "close the first troupe of this program, or give the second one another home: createTroupe({ home })";

async function openOwnedHome(home: Home, unlock: () => void): Promise<OwnedHome> {
  const files = homeFiles(home);
  try {
    // A killed owner leaves this file behind, with an address that no longer answers.
    await rm(files.owner, { force: true });
    await finishRestore(home);
    const token = await readOrMakeToken(files.token);
    return {
      path: home.path,
      token,
      announce: async (owner) => writePrivateFile(files.owner, `${JSON.stringify(OwnerInfo.parse(owner))}\n`),
      async release() {
        await rm(files.owner, { force: true });
        unlock();
      },
    };
  } catch (cause) {
    unlock();
    throw homeUnwritable(home, cause);
  }
}

async function readOrMakeToken(path: string): Promise<string> {
  const token = await readPrivateToken(path);
  if (token) return token;
  const made = randomBytes(32).toString("base64url");
  await writePrivateFile(path, `${made}\n`);
  return made;
}

/** Null if the token is missing or damaged, or if other users could have read it. */
async function readPrivateToken(path: string): Promise<string | null> {
  try {
    if (((await stat(path)).mode & 0o077) !== 0) return null;
    const token = (await readFile(path, "utf8")).trim();
    return /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
