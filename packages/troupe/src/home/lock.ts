import { closeSync, existsSync, openSync } from "node:fs";
import { TroupeError } from "@troupe/core";
import Database from "better-sqlite3";

/**
 * An exclusive lock on a file that dies with its process, however it dies.
 *
 * It is SQLite's own lock on an otherwise empty database, because Node has none: the kernel frees it on `kill -9`, and
 * a second opening in the same process is refused as well. Two dangers: POSIX drops a process's locks on a file when it
 * closes *any* descriptor of it, so nothing else may ever open that file; and network file systems may lock in name only.
 */
export interface Lock {
  release(): void;
}

/** Keeps the connections alive: one that is collected as garbage would free its lock in silence. */
const openLocks = new Set<Database.Database>();

/** The lock, or null while somebody else has it. Probes of others can make one try fail: ask more than once. */
export function tryLock(path: string): Lock | null {
  createPrivateFile(path);
  const database = openLockFile(path, { readonly: false });
  try {
    // No journal file: a killed process would leave it behind.
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

/** For this user only. Never opens a file that is there: see the first danger above. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw cannotLock(path, error);
  }
}

/** Whether somebody holds the lock. Creates nothing, and takes a shared lock for well under a millisecond. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = openLockFile(path, { readonly: true });
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

function openLockFile(path: string, options: { readonly: boolean }): Database.Database {
  try {
    return new Database(path, { timeout: 0, readonly: options.readonly, fileMustExist: options.readonly });
  } catch (error) {
    throw cannotLock(path, error);
  }
}

function cannotLock(path: string, cause: unknown): TroupeError {
  return new TroupeError("HOME_UNWRITABLE", `the lock ${path} cannot be used`, {
    cause,
    fix: "set TROUPE_HOME to a folder of your own on a local disk",
  });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^SQLITE_(BUSY|LOCKED)/.test(String(error.code));
}
