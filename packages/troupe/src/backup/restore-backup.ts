import { copyFile, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { TroupeError } from "@troupe/core";
import { inspectJournal } from "@troupe/recorder";
import { databaseError, journalSpec, openSqlite, toDatabaseProblem } from "@troupe/recorder/internal";
import { finishRestore, restoreFiles } from "../home/finish-restore.ts";
import { type Home, homeFiles, writePrivateFile } from "../home/home.ts";
import type { OwnedHome } from "../home/owned-home.ts";
import {
  type BackupFacts,
  damagedBackup,
  describeDamage,
  readParts,
  storedFiles,
  verifyBackup,
  withBackup,
} from "./backup-file.ts";
import { configurationPath, syncPath } from "./create-backup.ts";

export interface RestoreOptions {
  home: OwnedHome;
  file: string;
  /** Replaces the data of a home. They are moved aside, not deleted. */
  force: boolean;
  /** Where the user's configuration goes, if there is none. */
  configuration: string;
}

export interface RestoredBackup extends BackupFacts {
  home: string;
  /** The folder with the replaced data; null if the home was empty. */
  replaced: string | null;
  /** Whether the user's configuration was written. */
  configuration: boolean;
}

/**
 * Restores a backup into a home that no process runs. Everything is prepared and verified beside the data first. The last
 * step moves files only, and the next owner of the home completes it after a crash.
 *
 * @example
 * await restoreBackup({ home: await acquireHome(home), file: "/backups/troupe.backup", force: false, configuration });
 */
export async function restoreBackup({ home, file, force, configuration }: RestoreOptions): Promise<RestoredBackup> {
  const facts = await verifyBackup(file);
  const data = await dataOf(home);
  if (data.length > 0 && !force) throw hasData(home, file);
  const { staging } = restoreFiles(home);
  await rm(staging, { recursive: true, force: true });
  try {
    await mkdir(staging, { recursive: true, mode: 0o700 });
    await stageJournal(file, join(staging, "journal.db"));
    await stageFiles(file, staging);
    await checkStaged(file, join(staging, "journal.db"));
  } catch (thrown) {
    await rm(staging, { recursive: true, force: true });
    if (TroupeError.is(thrown)) throw thrown;
    throw databaseError(toDatabaseProblem(thrown, home.path, "restore into a home on another disk"), thrown);
  }
  const isWritten = await placeConfiguration(join(staging, configurationPath), configuration);
  const replaced = data.length > 0 ? join(home.path, `replaced-${Date.now()}`) : null;
  await writePrivateFile(restoreFiles(home).marker, JSON.stringify({ replaced, staged: await readdir(staging) }));
  await finishRestore(home);
  return { home: home.path, replaced, configuration: isWritten, ...facts };
}

/** The stores of the home that a restore would replace. */
async function dataOf(home: Home): Promise<string[]> {
  const { journal, record } = homeFiles(home);
  const sizes = await Promise.all(
    [journal, record].map(async (path) => ({ path, size: (await stat(path).catch(() => null))?.size ?? 0 })),
  );
  const blobs = await readdir(homeFiles(home).blobs).catch(() => []);
  return [...sizes.filter(({ size }) => size > 0).map(({ path }) => path), ...blobs];
}

/** The backup without its own tables is the journal. */
async function stageJournal(file: string, journal: string): Promise<void> {
  await copyFile(file, journal);
  const database = openSqlite(journal);
  try {
    database.exec("DROP TABLE backup_files; DROP TABLE backup_parts;");
    database.pragma(`application_id = ${journalSpec(journal).applicationId}`);
    database.exec("VACUUM");
  } finally {
    database.close();
  }
  await syncPath(journal);
}

async function stageFiles(file: string, staging: string): Promise<void> {
  const stored = withBackup(file, storedFiles);
  for (const { path, mode } of stored) {
    const target = join(staging, checkPath(path, file));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const handle = await open(target, "wx", mode & 0o700);
    try {
      for (const part of withBackup(file, (database) => [...readParts(database, path)])) await handle.write(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

const placed = /^(troupe\.db|record\.store|rules\.json|policy\.yaml|config\.yaml|(blobs|agents|teams|memory)\/.+)$/;

/** A backup can come from someone else: its paths must stay in the home, at their own places. */
function checkPath(path: string, file: string): string {
  if (placed.test(path) && !isAbsolute(path) && normalize(path) === path && !path.includes("..")) return path;
  throw damagedBackup(file, `it has a file at ${JSON.stringify(path)}`);
}

async function checkStaged(file: string, journal: string): Promise<void> {
  const [worst] = (await inspectJournal({ file: journal })).damage;
  if (worst) throw damagedBackup(file, describeDamage(worst));
}

/** Never overwrites the user's configuration. */
async function placeConfiguration(staged: string, target: string): Promise<boolean> {
  try {
    await mkdir(dirname(target), { recursive: true });
    await copyFile(staged, target, 1);
    return true;
  } catch {
    return false;
  } finally {
    await rm(staged, { force: true });
  }
}

function hasData(home: Home, file: string): TroupeError {
  return new TroupeError("CONFLICT", `the home ${home.path} has sessions already`, {
    fix: `restore into an empty home: TROUPE_HOME=FOLDER troupe restore ${file}; --force replaces these and keeps them aside`,
  });
}
