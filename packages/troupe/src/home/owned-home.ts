import { randomBytes } from "node:crypto";
import { readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TroupeError } from "@troupe/core";
import { type Home, homeFiles, homeUnwritable, prepareHome, writePrivateFile } from "./home.ts";
import { tryLock } from "./lock.ts";
import { findOwner, OwnerInfo } from "./owner.ts";

/** A home whose lock this process holds. */
export interface OwnedHome extends Home {
  /** Opens every route of the HTTP API. Stable across restarts, so that a browser stays logged in. */
  readonly token: string;
  /** Tells others where to find the owner. */
  announce(owner: OwnerInfo): Promise<void>;
  /** Others may own the home from now on: close what is in it first. */
  release(): Promise<void>;
}

/** A probe of somebody else holds the lock for a moment: only a lock that stays taken has an owner. */
const tries = 6;
const betweenTriesMs = 25;

/** Takes the home, or returns null when another living process owns it. */
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
 * Takes the home for as long as this process lives. Fails with `HOME_OWNED`, naming the owner, when somebody has it.
 *
 * @example
 * const home = await acquireHome(locateHome({ env: process.env, cwd: process.cwd() }));
 * await home.release();
 */
export async function acquireHome(home: Home): Promise<OwnedHome> {
  const owned = await tryAcquireHome(home);
  if (owned) return owned;
  const owner = await findOwner(home, { patienceMs: 2_000 });
  // Whoever had it is gone by now.
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
    // Left behind by an owner that was killed: it would send others to a dead address.
    await rm(files.owner, { force: true });
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

/** Null for a token that is missing, damaged, or that others could have read. */
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
