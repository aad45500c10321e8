import { createHash } from "node:crypto";
import { TroupeError } from "@troupe/core";
import { type CopyInspection, inspectJournal } from "@troupe/recorder";
import { type Database, databaseError, openSqlite, toDatabaseProblem } from "@troupe/recorder/internal";

/** SQLite's `application_id` of a backup. No store opens such a file by mistake. */
export const backupApplicationId = 0x74_72_70_62;

/** One part of a file in a backup: a row of SQLite is in memory as a whole. */
const partBytes = 4 * 1024 * 1024;

const anotherBackup = "use another backup; to list its sessions first: troupe restore FILE into an empty TROUPE_HOME";

export interface BackupFacts extends Pick<CopyInspection, "sessions" | "runs" | "items"> {
  /** Blobs, the record, rules and settings. */
  files: number;
}

/** A file in a backup, relative to the home. */
export interface StoredFile {
  path: string;
  mode: number;
  sha256: string;
}

/** The tables that a backup has beside those of the journal. */
export function addFileTables(database: Database): void {
  database.exec(`
    CREATE TABLE backup_files (path TEXT PRIMARY KEY, mode INTEGER NOT NULL, sha256 TEXT NOT NULL);
    CREATE TABLE backup_parts (path TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (path, part));
  `);
}

export function storeFile(
  database: Database,
  { path, mode }: Omit<StoredFile, "sha256">,
  bytes: Iterable<Uint8Array>,
): void {
  const insert = database.prepare<[string, number, Uint8Array]>(
    "INSERT INTO backup_parts (path, part, data) VALUES (?, ?, ?)",
  );
  const hash = createHash("sha256");
  let part = 0;
  for (const chunk of bytes) {
    hash.update(chunk);
    insert.run(path, part, chunk);
    part += 1;
  }
  database
    .prepare<[string, number, string]>("INSERT INTO backup_files (path, mode, sha256) VALUES (?, ?, ?)")
    .run(path, mode, hash.digest("hex"));
}

export function partsOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.byteLength / partBytes);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * partBytes, (i + 1) * partBytes));
}

export function storedFiles(database: Database): StoredFile[] {
  return database.prepare<[], StoredFile>("SELECT path, mode, sha256 FROM backup_files ORDER BY path").all();
}

export function readParts(database: Database, path: string): Iterable<Uint8Array> {
  return database
    .prepareValue<[string], Uint8Array>("SELECT data FROM backup_parts WHERE path = ? ORDER BY part")
    .iterate(path);
}

/**
 * Verifies a backup: the structure of the file, the hash chain of each run, and the hash of each stored file. Throws
 * `DATABASE_DAMAGED` with the first damaged part.
 */
export async function verifyBackup(file: string): Promise<BackupFacts> {
  const files = withBackup(file, (database) => {
    const problem = database.prepareValue<[], string>("PRAGMA quick_check(1)").get();
    if (problem !== "ok") throw damagedBackup(file, String(problem));
    const stored = storedFiles(database);
    for (const { path, sha256 } of stored) {
      const hash = createHash("sha256");
      for (const part of readParts(database, path)) hash.update(part);
      if (hash.digest("hex") !== sha256) throw damagedBackup(file, `${path} does not match its hash`);
    }
    return stored.length;
  });
  const { damage, sessions, runs, items } = await inspectJournal({ file, applicationId: backupApplicationId });
  const [worst] = damage;
  if (worst) throw damagedBackup(file, describeDamage(worst));
  return { sessions, runs, items, files };
}

export function describeDamage({ run, index, session, reason }: CopyInspection["damage"][number]): string {
  const what = run === null ? `item ${index} of the inbox of session ${session}` : `entry ${index} of run ${run}`;
  return `${what} ${reason}`;
}

export function damagedBackup(file: string, why: string): TroupeError {
  return new TroupeError("DATABASE_DAMAGED", `the backup ${file} is damaged: ${why}`, { fix: anotherBackup });
}

/** Opens a backup for reading. Throws `USAGE` for another kind of file. */
export function withBackup<T>(file: string, use: (database: Database) => T): T {
  let database: Database | null = null;
  try {
    database = openSqlite(file, { readOnly: true });
    if (database.pragma("application_id") !== backupApplicationId) throw notABackup(file);
    return use(database);
  } catch (thrown) {
    if (TroupeError.is(thrown)) throw thrown;
    throw databaseError(toDatabaseProblem(thrown, file, anotherBackup), thrown);
  } finally {
    database?.close();
  }
}

function notABackup(file: string): TroupeError {
  return new TroupeError("USAGE", `${file} is not a backup of troupe`, {
    fix: "name a file that troupe backup has written",
  });
}
