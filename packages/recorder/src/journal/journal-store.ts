import { dirname } from "node:path";
import { DatabaseError, type DatabaseProblem, toDatabaseProblem } from "../database/database-error.ts";
import type { FeedRow } from "../database/feed-row.ts";
import { type DatabaseSpec, openDatabase, refuseReadOnly } from "../database/open-database.ts";
import type { Database } from "../database/sqlite.ts";
import { createSessionWriter } from "./session-writer.ts";
import type { OpenRun, Read, ReadResults, Write, WriteResult } from "./thread-messages.ts";

const pageRowsMax = 500;
const pageCharsMax = 4 * 1024 * 1024;

/** The journal's file. Only one thread uses it. */
export interface JournalStore {
  /** For tests of the durability settings. */
  readonly database: Database;
  tail(): number;
  /** A unique id. */
  journalId(): string;
  /** Writes in one transaction. On return everything is on disk; after an error nothing is. */
  write(writes: readonly Write[]): WriteResult[];
  read(read: Read): ReadResults[Read["kind"]];
  close(): void;
}

const migrations = [
  `
  -- One row per item, in the order of the feed. AUTOINCREMENT: a position is never used twice.
  CREATE TABLE feed (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    run TEXT,
    idx INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE UNIQUE INDEX feed_by_run ON feed (run, idx) WHERE run IS NOT NULL;
  CREATE UNIQUE INDEX feed_by_inbox ON feed (session, idx) WHERE run IS NULL;

  -- The head of each run. The rows are in the order in which the runs became known.
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL UNIQUE,
    last_index INTEGER NOT NULL,
    terminal INTEGER NOT NULL
  );
  CREATE INDEX runs_open ON runs (id) WHERE terminal = 0;
  `,
  `
  -- The id of this journal. It stays the same when the file is moved.
  CREATE TABLE origin (id INTEGER PRIMARY KEY CHECK (id = 1), journal TEXT NOT NULL);
  INSERT INTO origin (id, journal) VALUES (1, lower(hex(randomblob(16))));
  `,
  `
  -- Sessions that a person or the retention removed. A record that has one of them removes it too.
  CREATE TABLE removed (session TEXT PRIMARY KEY, last_position INTEGER NOT NULL);
  CREATE INDEX runs_by_session ON runs (session);
  `,
];

/** The newest version of `journal.db` that this package reads. */
export const journalVersion: number = migrations.length;

/** The journal's file. Its contents exist nowhere else. */
export function journalSpec(file: string): DatabaseSpec {
  return {
    file,
    applicationId: 0x74_72_70_6a,
    migrations,
    synchronous: "FULL",
    whenDamaged: `restore a backup: troupe restore FILE   # or start anew: mv ${dirname(file)} ${dirname(file)}.damaged`,
  };
}

/** The id and start position of a new file that replaces a lost journal. */
export interface RestoredJournalFile {
  journalId: string;
  /** The newest position of the lost journal that a follower can have read. */
  after: number;
}

export function openJournalStore(file: string, restored?: RestoredJournalFile): JournalStore {
  const spec = journalSpec(file);
  const database = openDatabase(spec);
  try {
    refuseReadOnly(database, spec);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  // A removed session leaves no text in unused pages.
  database.pragma("secure_delete = ON");
  if (restored) applyRestored(restored, database);
  const writeOne = createWriter(database);
  const readOne = createReader(database);
  const checkpoint = createCheckpoints(database);
  const writeAll = database.transaction((writes: readonly Write[]) => writes.map(writeOne));
  const lastPosition = database.prepareValue<[], number>("SELECT coalesce(max(position), 0) FROM feed");
  const journalId = database.prepareValue<[], string>("SELECT journal FROM origin");
  let broken: DatabaseProblem | null = null;

  const unlessBroken = <T>(act: () => T): T => {
    if (broken) throw new DatabaseError(broken);
    try {
      return act();
    } catch (thrown) {
      const problem = toDatabaseProblem(thrown, file, spec.whenDamaged);
      // After a failed fsync the kernel may have dropped the pages, so a retry could report data that was never stored.
      if (problem.fatal) broken = problem;
      throw new DatabaseError(problem, { cause: thrown });
    }
  };

  return {
    database,
    tail: () => unlessBroken(() => lastPosition.get() ?? 0),
    journalId: () => unlessBroken(() => journalId.get() ?? ""),
    write: (writes) =>
      unlessBroken(() => {
        const results = writeAll(writes);
        checkpoint(writes);
        return results;
      }),
    read: (read) => unlessBroken(() => readOne(read)),
    close: () => database.close(),
  };
}

/** Text between two checkpoints: about the 1,000 pages of SQLite's own checkpoints. */
const checkpointChars = 4_000_000;

/**
 * Moves the log into the database from time to time. SQLite's own checkpoints hide a failed sync and repeat it; the second
 * one can succeed although the data are lost.
 */
function createCheckpoints(database: Database): (writes: readonly Write[]) => void {
  database.pragma("wal_autocheckpoint = 0");
  let chars = 0;
  return (writes) => {
    for (const write of writes) chars += charsOf(write);
    if (chars < checkpointChars) return;
    chars = 0;
    database.pragma("wal_checkpoint(PASSIVE)");
  };
}

/** Every write changes a few pages, however short its text is. */
function charsOf(write: Write): number {
  const overhead = 8_192;
  if (write.kind === "remove") return checkpointChars;
  if (write.kind === "inbox") return overhead + write.text.length;
  const texts = write.kind === "entries" ? write.texts : write.items.map(({ text }) => text);
  return texts.reduce((sum, text) => sum + text.length, overhead);
}

/** Changes only a new file, so that an interrupted restore can be repeated. */
function applyRestored({ journalId, after }: RestoredJournalFile, database: Database): void {
  const apply = database.transaction(() => {
    const isNew = database.prepareValue<[], number>("SELECT count(*) FROM sqlite_sequence").get() === 0;
    if (!isNew) return;
    database.prepare<[string]>("UPDATE origin SET journal = ?").run(journalId);
    database
      .prepare<[number]>("INSERT INTO sqlite_sequence (name, seq) VALUES ('feed', CAST(? AS INTEGER))")
      .run(after);
  });
  apply();
}

/** Every check comes before the first change, so that a refused write changes nothing. */
function createWriter(database: Database): (write: Write) => WriteResult {
  const findRun = database.prepare<[string], { last_index: number; terminal: number }>(
    "SELECT last_index, terminal FROM runs WHERE run = ?",
  );
  const setRun = database.prepare<[string, string, number, number]>(
    `INSERT INTO runs (session, run, last_index, terminal) VALUES (?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET last_index = excluded.last_index, terminal = excluded.terminal`,
  );
  const openRun = database.prepare<[string, string]>(
    "INSERT INTO runs (session, run, last_index, terminal) VALUES (?, ?, -1, 0) ON CONFLICT (run) DO NOTHING",
  );
  const insert = database.prepare<[string, string | null, number, string]>(
    "INSERT INTO feed (session, run, idx, text) VALUES (?, ?, ?, ?)",
  );
  const textAt = database.prepareValue<[string, number], string>("SELECT text FROM feed WHERE run = ? AND idx = ?");
  const lastSeq = database.prepareValue<[string], number>(
    "SELECT coalesce(max(idx), 0) FROM feed WHERE run IS NULL AND session = ?",
  );

  const isStored = (run: string, after: number, texts: readonly string[]): boolean =>
    texts.length > 0 && texts.every((text, i) => textAt.get(run, after + 1 + i) === text);

  const writeEntries = (write: Extract<Write, { kind: "entries" }>): WriteResult => {
    const { session, run, after, texts, terminal } = write;
    const state = findRun.get(run);
    const lastIndex = state?.last_index ?? -1;
    if (lastIndex > after && isStored(run, after, texts)) return { kind: "known" };
    if (lastIndex !== after || state?.terminal === 1) return { kind: "conflict", lastIndex };
    let position = 0;
    for (const [i, text] of texts.entries()) {
      const { lastInsertRowid } = insert.run(session, run, after + 1 + i, text);
      if (i === 0) position = Number(lastInsertRowid);
    }
    setRun.run(session, run, after + texts.length, terminal ? 1 : 0);
    return { kind: "stored", position, index: after + 1 };
  };

  const writeInbox = ({ session, text, opens }: Extract<Write, { kind: "inbox" }>): WriteResult => {
    const index = (lastSeq.get(session) ?? 0) + 1;
    const { lastInsertRowid } = insert.run(session, null, index, text);
    if (opens !== null) openRun.run(session, opens);
    return { kind: "stored", position: Number(lastInsertRowid), index };
  };

  const writeSession = createSessionWriter(database);
  return (write) => {
    if (write.kind === "entries") return writeEntries(write);
    return write.kind === "inbox" ? writeInbox(write) : writeSession(write);
  };
}

function createReader(database: Database): (read: Read) => ReadResults[Read["kind"]] {
  const run = database.prepareValue<[string, number], string>(
    "SELECT text FROM feed WHERE run = ? AND idx >= ? ORDER BY idx",
  );
  const last = database.prepareValue<[string], string>("SELECT text FROM feed WHERE run = ? ORDER BY idx DESC LIMIT 1");
  const inbox = database.prepare<[string, number], { seq: number; text: string }>(
    "SELECT idx AS seq, text FROM feed WHERE run IS NULL AND session = ? AND idx > ? ORDER BY idx",
  );
  const openRuns = database.prepare<[], OpenRun>(
    "SELECT session, run, last_index AS lastIndex FROM runs WHERE terminal = 0 ORDER BY id",
  );
  const openRunsOf = database.prepare<[string], OpenRun>(
    "SELECT session, run, last_index AS lastIndex FROM runs WHERE terminal = 0 AND session = ? ORDER BY id",
  );
  const feed = database.prepare<[number, number], FeedRow>(
    "SELECT position, session, run, idx, text FROM feed WHERE position > ? ORDER BY position LIMIT ?",
  );

  const removed = database.prepare<[], { session: string; lastPosition: number }>(
    "SELECT session, last_position AS lastPosition FROM removed",
  );
  const page = (after: number): FeedRow[] => {
    const rows: FeedRow[] = [];
    let chars = 0;
    for (const row of feed.iterate(after, pageRowsMax)) {
      rows.push(row);
      chars += row.text.length;
      if (chars > pageCharsMax) break;
    }
    return rows;
  };

  return (read) => {
    if (read.kind === "run") return run.all(read.run, read.from);
    if (read.kind === "last") return last.get(read.run) ?? null;
    if (read.kind === "inbox") return inbox.all(read.session, read.after);
    if (read.kind === "openRuns") return read.session === null ? openRuns.all() : openRunsOf.all(read.session);
    if (read.kind === "removed") return removed.all();
    return page(read.after);
  };
}
