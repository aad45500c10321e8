import { parentPort, workerData } from "node:worker_threads";
import { type DatabaseProblem, toDatabaseProblem } from "../database/database-error.ts";
import { openSqlite } from "../database/sqlite.ts";

export interface LogThreadData {
  file: string;
  whenDamaged: string;
}

/** Moves the write-ahead log of the record into its file, for each message. Only this thread waits for these syncs. */

parentPort?.on("message", () => parentPort?.postMessage(moveLog(workerData as LogThreadData)));

function moveLog({ file, whenDamaged }: LogThreadData): DatabaseProblem | null {
  try {
    const database = openSqlite(file);
    try {
      database.pragma("synchronous = NORMAL");
      database.pragma("wal_autocheckpoint = 0");
      // The size of the file says how much the log has grown since.
      database.pragma("journal_size_limit = 0");
      database.pragma("wal_checkpoint(PASSIVE)");
      // The first write after a checkpoint begins the log anew, and syncs its header. SQLite leaves out a write of equal rows,
      // but not this one.
      database.pragma(`user_version = ${database.pragma("user_version")}`);
      return null;
    } finally {
      database.close();
    }
  } catch (thrown) {
    return toDatabaseProblem(thrown, file, whenDamaged);
  }
}
