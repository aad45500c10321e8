import { closeSync, existsSync, openSync } from "node:fs";
import { TroupeError } from "@troupe/core";
import { type Database, isBusy, openSqlite } from "@troupe/recorder/internal";

/**
 * An exclusive lock on a file. The kernel frees it when its process ends, even after `kill -9`.
 *
 * Node has no file locks, so this is SQLite's lock on an empty database. It also refuses a second open in the same
 * process. Two dangers: POSIX drops all locks of a process on a file when the process closes *any* descriptor of it, so no
 * other code may open that file; and some network file systems do not lock at all.
 */
export interface Lock {
  release(): void;
}

/** References to the open connections: garbage collection of a connection would free its lock. */
const openLocks = new Set<Database>();

/** Takes the lock, or returns null if another process has it. `isLocked` of another process can make one try fail: try again. */
export function tryLock(path: string): Lock | null {
  createPrivateFile(path);
  const database = openLockFile(path, { readOnly: false });
  try {
    // No journal file on disk, because a killed process would leave it behind.
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw cannotLock(path, error);
  }
  openLocks.add(database);
  return {
    release() {
      if (openLocks.delete(database)) database.close();
    },
  };
}

/** Creates the file for this user only. Never opens an existing file: see the first danger above. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw cannotLock(path, error);
  }
}

/** True if a process holds the lock. Creates nothing, and takes a shared lock for less than a millisecond. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = openLockFile(path, { readOnly: true });
  try {
    database.prepare("SELECT count(*) FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw cannotLock(path, error);
  } finally {
    database.close();
  }
}

function openLockFile(path: string, { readOnly }: { readOnly: boolean }): Database {
  try {
    return openSqlite(path, { busyTimeoutMs: 0, readOnly });
  } catch (error) {
    throw cannotLock(path, error);
  }
}

function cannotLock(path: string, cause: unknown): TroupeError {
  return new TroupeError("HOME_UNWRITABLE", `the lock ${path} cannot be used`, {
    cause,
    fix: "export TROUPE_HOME=<a folder of yours on a local disk>",
  });
}
