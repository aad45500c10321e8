import { type Database, openSqlite } from "../database/sqlite.ts";

/** Garbage collection of a connection would end its lock. */
const held = new Set<Database>();

/**
 * Keeps a reading connection to a broken journal until the process ends. The last connection that closes syncs and moves the
 * log into the database: after a failed sync that could destroy stored entries. A connection that only reads cannot do it,
 * and no other one is the last.
 */
export function preventCheckpoint(file: string): void {
  try {
    const database = openSqlite(file, { readOnly: true, busyTimeoutMs: 0 });
    held.add(database);
    database.exec("BEGIN");
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch {
    // A file that cannot be read cannot be moved into either.
  }
}
