import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseError, type DatabaseProblem, guarded, toDatabaseProblem } from "./database-error.ts";
import { type Database, openSqlite } from "./sqlite.ts";

export interface DatabaseSpec {
  file: string;
  /** SQLite's `application_id`. It prevents writes to another program's database. */
  applicationId: number;
  /** The SQL at index n migrates version n to n + 1. A released migration never changes. */
  migrations: readonly string[];
  /**
   * FULL: a commit survives a power cut. NORMAL: it survives a kill of the process. SQLite does not store it in the
   * file, so it is set at every open.
   */
  synchronous: "FULL" | "NORMAL";
  /** The fix for a damaged file. */
  whenDamaged: string;
}

/** A negative number is a size in KiB. SQLite's default of 2 MiB is small for the indexes of a record. */
const cacheKiB = -16_000;

/**
 * Opens a database and migrates it to the newest version. A file of a newer troupe or of another program is not changed.
 * This module does not import core, so that the journal's thread starts fast.
 */
export function openDatabase(spec: DatabaseSpec): Database {
  let database: Database | null = null;
  try {
    mkdirSync(dirname(spec.file), { recursive: true, mode: 0o700 });
    createPrivately(spec.file);
    database = openSqlite(spec.file);
    refuseForeign(database, spec);
    database.pragma("journal_mode = WAL");
    database.pragma(`synchronous = ${spec.synchronous}`);
    database.pragma(`cache_size = ${cacheKiB}`);
    database.pragma("foreign_keys = ON");
    migrate(database, spec);
    return database;
  } catch (thrown) {
    database?.close();
    throw new DatabaseError(toDatabaseProblem(thrown, spec.file, spec.whenDamaged), { cause: thrown });
  }
}

/** Opens a database for reading, without changing it. Another process can write to it meanwhile. */
export function openToRead(spec: DatabaseSpec): Database {
  let database: Database | null = null;
  try {
    database = openSqlite(spec.file, { readOnly: true });
    refuseForeign(database, spec);
    if (versionOf(database) === 0) throw new DatabaseError(emptyFile(spec));
    database.pragma(`cache_size = ${cacheKiB}`);
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

/**
 * Throws a `DatabaseError` if the file cannot be written. SQLite opens such a file for reading, and fails only at the first
 * write. Nothing is changed: the write is undone.
 */
export function refuseReadOnly(database: Database, spec: DatabaseSpec): void {
  guarded(spec, () => {
    database.exec("BEGIN IMMEDIATE");
    try {
      database.exec("UPDATE origin SET journal = journal");
    } finally {
      database.exec("ROLLBACK");
    }
  });
}

function refuseForeign(database: Database, { file, applicationId, migrations, whenDamaged }: DatabaseSpec) {
  const version = versionOf(database);
  const owner = database.pragma("application_id");
  const tables = database.prepareValue<[], number>("SELECT count(*) FROM sqlite_schema").get() ?? 0;
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

/** The first process that opens a file for writing creates its tables at once. A later cut leaves an empty file. */
function emptyFile({ file, whenDamaged }: DatabaseSpec): DatabaseProblem {
  return { code: "DATABASE_DAMAGED", message: `${file} is damaged: it is empty`, fix: whenDamaged, fatal: true };
}

function migrate(database: Database, { applicationId, migrations }: DatabaseSpec): void {
  if (versionOf(database) === migrations.length) return;
  const upgrade = database.transaction(() => {
    for (const sql of migrations.slice(versionOf(database))) database.exec(sql);
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${migrations.length}`);
  });
  upgrade();
}

function versionOf(database: Database): number {
  return Number(database.pragma("user_version"));
}
