import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { DatabaseError, toDatabaseProblem } from "./problem.ts";

export interface DatabaseSpec {
  file: string;
  /** Marks the file as ours (SQLite's `application_id`), so that no other database is written to by mistake. */
  applicationId: number;
  /** SQL that leads from version n to n + 1. Forward only: a released one never changes. */
  migrations: readonly string[];
  /**
   * Set at every open, because better-sqlite3 opens WAL databases at NORMAL whatever they were before. FULL: a commit
   * survives a power cut. NORMAL: it survives a kill of the process.
   */
  synchronous: "FULL" | "NORMAL";
  /** The step that helps when the file is damaged. */
  whenDamaged: string;
}

/**
 * Opens a database at the newest version. A file that a newer troupe wrote, or that is not ours, is left as it is.
 * Imports nothing of core: the journal's thread starts the faster for it.
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

/** Opens a database that others may be writing to, without changing a byte of it. */
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

/** For this user only, and with it what SQLite puts beside it. `wx`: one that is there keeps its mode and its locks. */
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
    const message = `${file} is a database of something else`;
    throw new DatabaseError({ code: "DATABASE_DAMAGED", message, fix: whenDamaged, fatal: true });
  }
  if (version > migrations.length) {
    const message = `${file} has version ${version}, and this troupe knows versions up to ${migrations.length}`;
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
