import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type Redactor, TroupeError } from "@troupe/core";
import { inspectJournal, openSqliteJournal } from "@troupe/recorder";
import { type Database, databaseError, openSqlite, toDatabaseProblem } from "@troupe/recorder/internal";
import { type Home, homeFiles } from "../home/home.ts";
import {
  addFileTables,
  type BackupFacts,
  backupApplicationId,
  describeDamage,
  partsOf,
  storeFile,
  verifyBackup,
} from "./backup-file.ts";

export interface BackupOptions {
  home: Home;
  /** The file to write. */
  file: string;
  /** The user's configuration; null for none. */
  configuration: string | null;
  /** Settings with a known secret are stored without it. */
  redact: Redactor;
}

/** Path of the user's configuration in a backup. */
export const configurationPath = "config.yaml";
/** Folders and files of a home that a backup has. It never has the token, the lock, logs or workspaces. */
const settingsFiles = ["rules.json", "policy.yaml", "record.store"];
const settingsFolders = ["agents", "teams", "memory"];

/**
 * Writes a backup of a home while its owner works: the journal, the record, blobs, rules and settings in one SQLite file.
 * Verifies the hash chains before and after. An interrupted backup leaves no file.
 *
 * @example
 * await createBackup({ home, file: "/backups/troupe.backup", configuration: null, redact });
 */
export async function createBackup(options: BackupOptions): Promise<BackupFacts> {
  const { home, file } = options;
  const files = homeFiles(home);
  if (!existsSync(files.journal) && !existsSync(files.record)) throw nothingToSave(home);
  const temporary = `${file}.${process.pid}.tmp`;
  await mkdir(dirname(file), { recursive: true });
  try {
    // The record first: it must never be ahead of its journal.
    const record = `${temporary}.record`;
    if (existsSync(files.record)) copyDatabase(files.record, record);
    await copyJournal(files.journal, temporary);
    await checkJournal(temporary, files.journal);
    await addFiles(temporary, options, existsSync(record) ? record : null);
    await syncPath(temporary);
    const facts = await verifyBackup(temporary);
    await rename(temporary, file);
    await syncPath(dirname(file));
    return facts;
  } catch (thrown) {
    if (TroupeError.is(thrown)) throw thrown;
    throw databaseError(toDatabaseProblem(thrown, file, "write the backup to another disk"), thrown);
  } finally {
    for (const suffix of ["", ".record", "-journal", "-wal", "-shm"]) await rm(temporary + suffix, { force: true });
  }
}

/** A consistent copy of a database that another process can write to. */
function copyDatabase(from: string, to: string): void {
  let database: Database | null = null;
  try {
    // Sessions are private: only this user can read the copy.
    closeSync(openSync(to, "wx", 0o600));
    database = openSqlite(from, { readOnly: true });
    database.prepare<[string]>("VACUUM INTO ?").run(to);
  } catch (thrown) {
    throw databaseError(toDatabaseProblem(thrown, from, "troupe record verify"), thrown);
  } finally {
    database?.close();
  }
}

/** A home on a NATS server has no journal of its own. Its backup has an empty one. */
async function copyJournal(from: string, to: string): Promise<void> {
  if (existsSync(from)) return copyDatabase(from, to);
  await (await openSqliteJournal({ file: to })).close();
}

async function checkJournal(copy: string, journal: string): Promise<void> {
  const { damage } = await inspectJournal({ file: copy });
  const [worst] = damage;
  if (!worst) return;
  throw new TroupeError("DATABASE_DAMAGED", `${journal} is damaged, and was not backed up: ${describeDamage(worst)}`, {
    fix: "troupe record verify",
  });
}

async function addFiles(temporary: string, { home, configuration, redact }: BackupOptions, record: string | null) {
  const database = openSqlite(temporary);
  try {
    database.pragma("journal_mode = DELETE");
    // A transaction for each file would wait for the disk once per file. An error leaves no backup in any case.
    database.exec("BEGIN");
    addFileTables(database);
    database.pragma(`application_id = ${backupApplicationId}`);
    const add = async (path: string, from: string, isText: boolean): Promise<void> => {
      const { mode } = await stat(from);
      const bytes = isText ? Buffer.from(redact.text(await readFile(from, "utf8"))) : await readFile(from);
      storeFile(database, { path, mode: mode & 0o777 }, partsOf(bytes));
    };
    if (record !== null) await addLarge(database, "troupe.db", record);
    for (const name of settingsFiles)
      if (existsSync(join(home.path, name))) await add(name, join(home.path, name), true);
    if (configuration !== null && existsSync(configuration)) await add(configurationPath, configuration, true);
    for (const name of settingsFolders) {
      for (const path of await filesBelow(join(home.path, name))) await add(relative(home.path, path), path, true);
    }
    for (const path of await filesBelow(homeFiles(home).blobs)) await add(relative(home.path, path), path, false);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}

/** Reads a file in parts: a record can be larger than memory. */
async function addLarge(database: Database, path: string, from: string): Promise<void> {
  const handle = await open(from);
  try {
    const parts: Uint8Array[] = [];
    for await (const chunk of handle.createReadStream({ highWaterMark: 4 * 1024 * 1024, autoClose: false }))
      parts.push(chunk);
    storeFile(database, { path, mode: 0o600 }, parts);
  } finally {
    await handle.close();
  }
}

/** Regular files only. A temporary file of a running write has a dot before its suffix, and is left out. */
async function filesBelow(folder: string): Promise<string[]> {
  const items = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return items
    .filter((item) => item.isFile() && !item.name.endsWith(".tmp"))
    .map((item) => join(item.parentPath, item.name));
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function nothingToSave(home: Home): TroupeError {
  return new TroupeError("USAGE", `the home ${home.path} has no sessions to back up`, {
    fix: "name the home: TROUPE_HOME=FOLDER troupe backup FILE",
  });
}
