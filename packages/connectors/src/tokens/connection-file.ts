import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { createPrivateFile } from "../files/private-file.ts";
import { ConnectorError } from "../ports/connector-error.ts";
import type { ConnectionRow } from "./connections.ts";

/** The rows of the file, within one read or write. */
export interface ConnectionRows {
  all(): ConnectionRow[];
  get(id: string): ConnectionRow | undefined;
  put(row: ConnectionRow): void;
  remove(id: string): boolean;
}

/**
 * `connections.db` of a home. SQLite makes writes atomic, and the kernel frees its lock when a process ends, even after
 * `kill -9`. The file is opened for each use, because uses are rare.
 */
export interface ConnectionFile {
  read<Result>(act: (rows: ConnectionRows) => Result): Result;
  /** Holds the lock until `act` ends, also while it waits for a server. If it throws, the file stays as it was. */
  write<Result>(act: (rows: ConnectionRows) => Promise<Result>): Promise<Result>;
}

/** "CONN": prevents writes to the database of another program. */
const applicationId = 0x434f4e4e;
const version = 1;
/** A commit takes milliseconds. */
const readTimeoutMs = 10_000;
/** Longer than a refresh at a slow server takes. */
const lockTimeoutMs = 90_000;
const lockPollMs = 20;
const privateMode = 0o600;
const modeBits = 0o777;

export interface ConnectionFileOptions {
  /** Whether a read mends the mode of the file, and undoes the commit of a killed process. @default true */
  mends?: boolean;
}

export function openConnectionFile(folder: string, { mends = true }: ConnectionFileOptions = {}): ConnectionFile {
  const path = join(folder, "connections.db");
  return {
    read(act) {
      if (!existsSync(path)) return act(noRows);
      const database = mends ? openDatabase(path, readTimeoutMs) : openUnchanged(path);
      try {
        return act(rowsOf(database, path));
      } catch (thrown) {
        throw ownError(path, thrown);
      } finally {
        database.close();
      }
    },
    async write(act) {
      const database = openDatabase(path, 0);
      try {
        await lock(database, path);
        const result = await act(rowsOf(database, path));
        database.exec("COMMIT");
        return result;
      } catch (thrown) {
        throw ownError(path, thrown);
      } finally {
        // Without a commit, closing rolls back.
        database.close();
      }
    },
  };
}

const noRows: ConnectionRows = { all: () => [], get: () => undefined, put: () => {}, remove: () => false };

function openUnchanged(path: string): DatabaseSync {
  try {
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(path, { readOnly: true, timeout: readTimeoutMs });
    try {
      pragma(database, "user_version");
      return database;
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  } catch (cause) {
    if (sqliteCodeOf(cause) !== sqliteNeedsRollback) throw unusable(path, cause);
    throw new ConnectorError("tool_error", `a process was killed while it wrote ${path}`, {
      fix: "troupe connections ls   # undoes the unfinished change",
      cause,
    });
  }
}

function openDatabase(path: string, timeoutMs: number): DatabaseSync {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivateFile(path);
    // A restored backup can have a mode of its own.
    if ((statSync(path).mode & modeBits) !== privateMode) chmodSync(path, privateMode);
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(path, { timeout: timeoutMs });
    // The bytes of a removed or replaced token are overwritten.
    database.exec("PRAGMA secure_delete = ON");
    return database;
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** Waits without blocking this process, because the holder of the lock can be another task of it. */
async function lock(database: DatabaseSync, path: string): Promise<void> {
  const givenUpAtMs = performance.now() + lockTimeoutMs;
  while (!tryLock(database, path)) {
    if (performance.now() > givenUpAtMs) {
      throw new ConnectorError("tool_error", `another process has held the lock of ${path} for too long`, {
        fix: "end that process, then try again",
      });
    }
    await delay(lockPollMs);
  }
}

function tryLock(database: DatabaseSync, path: string): boolean {
  try {
    database.exec("BEGIN IMMEDIATE");
    migrate(database, path);
    return true;
  } catch (thrown) {
    if (sqliteCodeOf(thrown) === sqliteBusy) return false;
    throw thrown;
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const found = versionOf(database, path);
  if (found === version) return;
  database.exec(`
    CREATE TABLE connections (id TEXT PRIMARY KEY, connection TEXT NOT NULL, secrets TEXT NOT NULL) STRICT;
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${version};
  `);
}

/** 0 for a new file. */
function versionOf(database: DatabaseSync, path: string): number {
  const owner = pragma(database, "application_id");
  const found = pragma(database, "user_version");
  if (owner !== applicationId && (owner !== 0 || found !== 0)) {
    throw new ConnectorError("tool_error", `${path} is the database of another program`, { fix: "use another folder" });
  }
  if (found <= version) return found;
  throw new ConnectorError("tool_error", `${path} has version ${found}, which a newer troupe wrote`, {
    fix: "npm install -g @troupe/cli@latest",
  });
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

function rowsOf(database: DatabaseSync, path: string): ConnectionRows {
  if (versionOf(database, path) === 0) return noRows;
  const columns = "SELECT id, connection, secrets FROM connections";
  return {
    // The only place that gives rows a type.
    all: () => database.prepare(`${columns} ORDER BY id`).all() as unknown as ConnectionRow[],
    get: (id) => database.prepare(`${columns} WHERE id = ?`).get(id) as ConnectionRow | undefined,
    put({ id, connection, secrets }) {
      const sql = "INSERT OR REPLACE INTO connections (id, connection, secrets) VALUES (?, ?, ?)";
      database.prepare(sql).run(id, connection, secrets);
    },
    remove: (id) => database.prepare("DELETE FROM connections WHERE id = ?").run(id).changes > 0,
  };
}

const sqliteBusy = 5;
/** SQLITE_READONLY_ROLLBACK */
const sqliteNeedsRollback = 776;

function sqliteCodeOf(thrown: unknown): number | null {
  return thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) : null;
}

/** Only SQLite's errors are about the file. */
function ownError(path: string, thrown: unknown): unknown {
  return sqliteCodeOf(thrown) === null ? thrown : unusable(path, thrown);
}

function unusable(path: string, cause: unknown): ConnectorError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ConnectorError("tool_error", `the file of connections ${path} cannot be used: ${reason}`, {
    fix: "use a home that you can write to, or remove a damaged file and connect again",
    cause,
  });
}
