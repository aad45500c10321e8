import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

const waitMs = 10 * 60_000;

/**
 * Holds a file's lock until the returned function is called, or this process ends, however it ends: SQLite takes the
 * operating system's own file lock, on every platform, so none is ever left behind. Waits for another holder.
 */
export function takeLock(file: string, onWait: () => void): () => void {
  mkdirSync(dirname(file), { recursive: true });
  const held = tryLock(file, 0);
  if (held) return held;
  onWait();
  const later = tryLock(file, waitMs);
  if (later) return later;
  throw new Error(`${file} was held by another process for ${waitMs / 60_000} minutes`);
}

function tryLock(file: string, timeoutMs: number): (() => void) | undefined {
  const database = new DatabaseSync(file, { timeout: timeoutMs });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === sqliteBusy) return undefined;
    throw error;
  }
}

const sqliteBusy = 5;
