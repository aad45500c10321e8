import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { DatabaseError, toDatabaseProblem } from "./database-error.ts";

export interface DatabaseSpec {
  file: string;
  /** SQLite's `application_id`. It prevents writes to another program's database. */
  applicationId: number;
  /** The SQL at index n migrates version n to n + 1. A released migration never changes. */
  migrations: readonly string[];
  /**
   * FULL: a commit survives a power cut. NORMAL: it survives a kill of the process. Set at every open, because
   * better-sqlite3 opens every WAL database at NORMAL.
   */
  synchronous: "FULL" | "NORMAL";
  /** The fix for a damaged file. */
  whenDamaged: string;
}

/**
 * Opens a database and migrates it to the newest version. A file of a newer troupe or of another program is not changed.
 * This module does not import core, so that the journal's thread starts fast.
 */
export function openDatabase(spec: DatabaseSpec): Database.Database {
  let database: Database.Database | null = null;
  try {
    mkdirSync(dirname(spec.file), { recursive: true, mode: 0o700 });
    createPrivately(spec.file);
    database = new Database(spec.file);
    refuseForeign(database, spec);
    database.pragma("journal_mode = WAL");
    database.pragma(`synchronous = ${spec.synchronous}`);
    database.pragma("foreign_keys = ON");
    migrate(database, spec);
    return database;
  } catch (thrown) {
    database?.close();
    throw new DatabaseError(toDatabaseProblem(thrown, spec.file, spec.whenDamaged), { cause: thrown });
  }
}

/** Opens a database for reading, without changing it. Another process can write to it meanwhile. */
export function openToRead(spec: DatabaseSpec): Database.Database {
  let database: Database.Database | null = null;
  try {
    database = new Database(spec.file, { readonly: true, fileMustExist: true });
    refuseForeign(database, spec);
    return database;
  } catch (thrown) {
    database?.close();
    throw new DatabaseError(toDatabaseProblem(thrown, spec.file, spec.whenDamaged), { cause: thrown });
  }
}

/** Creates the file for this user only; SQLite gives its other files the same mode. `wx` keeps an existing file as it is. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
  }
}

function refuseForeign(database: Database.Database, { file, applicationId, migrations, whenDamaged }: DatabaseSpec) {
  const version = versionOf(database);
  const owner = database.pragma("application_id", { simple: true });
  const tables = database.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get() ?? 0;
  if (owner !== applicationId && (owner !== 0 || tables > 0)) {
    const message = `${file} is the database of another program`;
    throw new DatabaseError({ code: "DATABASE_DAMAGED", message, fix: whenDamaged, fatal: true });
  }
  if (version > migrations.length) {
    const message = `${file} has version ${version}, but this troupe supports only versions up to ${migrations.length}`;
    const fix = "npm install -g @troupe/cli@latest";
    throw new DatabaseError({ code: "DATABASE_TOO_NEW", message, fix, fatal: true });
  }
}

function migrate(database: Database.Database, { applicationId, migrations }: DatabaseSpec): void {
  if (versionOf(database) === migrations.length) return;
  const upgrade = database.transaction(() => {
    for (const sql of migrations.slice(versionOf(database))) database.exec(sql);
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${migrations.length}`);
  });
  upgrade.immediate();
}

function versionOf(database: Database.Database): number {
  return Number(database.pragma("user_version", { simple: true }));
}
