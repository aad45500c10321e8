import { chmod, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Home, homeFiles, isLocked, prepareHome, tryLock } from "troupe/internal";
import { attempt, fixed, type Repair, skipped } from "./repair.ts";

const othersBits = 0o077;

/** Creates a missing home, and closes it and the stored accounts to other users. */
export async function repairPermissions(home: Home): Promise<Repair[]> {
  const missing = (await modeOf(home.path)) === null;
  if (missing) {
    const fix = "export TROUPE_HOME=<a folder that you can write>";
    return await attempt("home", { before: `${home.path} does not exist`, fix }, async () => {
      await prepareHome(home);
      return fixed("home", `${home.path} does not exist`, "created, for you only");
    });
  }
  const accounts = join(home.path, "connections.db");
  const repairs = [close("home", home.path, 0o700)];
  for (const suffix of ["", "-journal", "-wal", "-shm"]) repairs.push(close("connections", accounts + suffix, 0o600));
  return (await Promise.all(repairs)).flat();
}

async function close(name: string, path: string, mode: number): Promise<Repair[]> {
  const found = await modeOf(path);
  if (found === null || (found & othersBits) === 0) return [];
  const before = `other users can use ${path} (${octal(found)})`;
  return await attempt(name, { before, fix: `chmod ${octal(mode)} ${path}` }, async () => {
    await chmod(path, mode);
    return fixed(name, before, octal(mode));
  });
}

/** The permissions of a file or folder; null if it does not exist. */
async function modeOf(path: string): Promise<number | null> {
  const stats = await stat(path).catch(() => null);
  return stats === null ? null : stats.mode & 0o777;
}

const octal = (mode: number): string => mode.toString(8);

/** Removes what killed processes left in the home. Only without an owner: the lock keeps new processes out meanwhile. */
export async function repairLeftovers(home: Home): Promise<Repair[]> {
  const found = await leftoversIn(home);
  if (found.length === 0) return [];
  const fix = "troupe down, then troupe doctor --fix";
  const lock = tryLock(homeFiles(home).lock);
  try {
    const repairs = found.map(({ name, path, before, after }) => {
      if (!lock) return [skipped(name, before, { after: "a process uses the home, so it stays", fix })];
      return attempt(name, { before, fix: `rm ${path}` }, async () => {
        await rm(path, { force: true });
        return fixed(name, before, after);
      });
    });
    return (await Promise.all(repairs)).flat();
  } finally {
    lock?.release();
  }
}

interface Leftover {
  name: string;
  path: string;
  before: string;
  after: string;
}

/** A running `record verify` has copies that are younger. */
const copyAgeMs = 3_600_000;

/** Copies of databases, and drafts of files that are written atomically. */
const leftoverNames = /^((troupe|journal)\.db\.(rebuilt|verified)(-wal|-shm|-journal)?|.+\.\d+\.[0-9a-f]{8}\.tmp)$/;

async function leftoversIn(home: Home): Promise<Leftover[]> {
  const { lock, owner, token } = homeFiles(home);
  const isOwned = isLocked(lock);
  const tokenMode = await modeOf(token);
  const ofOwner: Leftover = {
    name: "owner",
    path: owner,
    before: `${basename(owner)} names a process that was killed`,
    after: "removed",
  };
  const ofToken: Leftover = {
    name: "token",
    path: token,
    before: `other users could read ${token} (${octal(tokenMode ?? 0)})`,
    after: "removed; the next start makes a new one",
  };
  const names = (await readdir(home.path)).filter((name) => leftoverNames.test(name));
  const copies = await Promise.all(
    names.map(async (name): Promise<Leftover[]> => {
      const path = join(home.path, name);
      const stats = await stat(path).catch(() => null);
      if (!stats?.isFile() || Date.now() - stats.mtimeMs < copyAgeMs) return [];
      return [{ name: "leftover", path, before: `${name} of a killed command`, after: "removed" }];
    }),
  );
  return [
    // A running owner needs its file.
    ...(!isOwned && (await modeOf(owner)) !== null ? [ofOwner] : []),
    ...(tokenMode !== null && (tokenMode & othersBits) !== 0 ? [ofToken] : []),
    ...copies.flat(),
  ];
}
