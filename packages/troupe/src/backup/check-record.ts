import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { type Journal, type SessionRow, TroupeError } from "@troupe/core";
import {
  type CopyInspection,
  type Damage,
  inspectJournal,
  openRecord,
  openSqliteJournal,
  type RecordPosition,
  type RecordStore,
  readRecordOrigin,
  startRecorder,
} from "@troupe/recorder";
import {
  type DatabaseSpec,
  foreignJournalFileError,
  guarded,
  journalSpec,
  openToRead,
  recordSpec,
  withTroupeErrors,
} from "@troupe/recorder/internal";
import { type Home, homeFiles } from "../home/home.ts";
import type { OwnedHome } from "../home/owned-home.ts";
import { embeddedStore, recordStoreOf } from "../home/record.ts";

export interface RecordVerified extends Omit<CopyInspection, "damage"> {
  /** Damage in the journal, or in the record's copy of it. */
  damage: (Damage & { store: "journal" | "record" })[];
  /** Sessions whose rows differ from their journal. */
  differing: string[];
  /** Items of the journal that the record has not read. A daemon reads them at its start. */
  behind: number;
}

const suffixes = ["", "-wal", "-shm"];
const sessionsMax = 1_000_000;

/**
 * Makes the record again from the journal, beside the old one, and then replaces it. An interruption leaves the old one.
 * Rejects with `DATABASE_DAMAGED` if the record has sessions that the journal has lost: no other copy of them exists.
 *
 * @example
 * await rebuildRecord(await acquireHome(home));
 */
export async function rebuildRecord(home: OwnedHome): Promise<{ sessions: number; items: number }> {
  const { journal: file, record } = homeFiles(home);
  if ((await recordStoreOf(home)) !== embeddedStore) throw journalOnServer(home);
  if (!existsSync(file)) throw noJournal(home);
  const { damage, items } = await inspectJournal({ file });
  const [worst] = damage;
  if (worst) throw damagedJournal(file, worst);
  const fresh = `${record}.rebuilt`;
  try {
    const sessions = await buildRecord(file, fresh, async (store, journal) => {
      await refuseLoss(journal, record);
      return await store.reader.sessions({ limit: sessionsMax });
    });
    for (const suffix of suffixes.slice(1)) await rm(record + suffix, { force: true });
    await rename(fresh, record);
    return { sessions: sessions.length, items };
  } finally {
    for (const suffix of suffixes) await rm(fresh + suffix, { force: true });
  }
}

/**
 * Checks the hash chains of the journal and of the record's copy, and compares the rows of each session with rows that are
 * made from the journal again. The owner of the home can work meanwhile: sessions that changed since are left out.
 *
 * @example
 * (await verifyRecord({ home })).damage; // []
 */
export async function verifyRecord({ home }: { home: Home }): Promise<RecordVerified> {
  const { journal: file, record } = homeFiles(home);
  if (!existsSync(file) && !existsSync(record)) throw noJournal(home);
  const snapshots = { record: `${record}.verified`, rebuilt: `${record}.rebuilt`, journal: `${file}.verified` };
  const clean = async (): Promise<void> => {
    for (const path of Object.values(snapshots))
      for (const suffix of suffixes) await rm(path + suffix, { force: true });
  };
  await clean();
  try {
    if (existsSync(record)) snapshot(recordSpec(record), snapshots.record);
    if (existsSync(file)) snapshot(journalSpec(file), snapshots.journal);
    const own = existsSync(file) ? await inspectJournal({ file: snapshots.journal }) : null;
    const copy = existsSync(record) ? await withRecord(snapshots.record, ({ copy }) => copy.inspect()) : null;
    const isComparable = own !== null && copy !== null && own.damage.length === 0;
    const differing = isComparable ? await compare(snapshots) : [];
    const of = (store: "journal" | "record", found: CopyInspection | null) =>
      (found?.damage ?? []).map((each) => ({ ...each, store }));
    const behind = own !== null && copy !== null ? Math.max(0, own.items - copy.items) : 0;
    const { damage: _, ...counts } = own ?? copy ?? { sessions: 0, runs: 0, open: 0, items: 0, damage: [] };
    return { ...counts, damage: [...of("journal", own), ...of("record", copy)], differing, behind };
  } finally {
    await clean();
  }
}

async function compare(files: { journal: string; record: string; rebuilt: string }): Promise<string[]> {
  return await withRecord(files.record, async (known) => {
    return await buildRecord(files.journal, files.rebuilt, async (rebuilt) => {
      const position = known.cursor().position;
      const sessions = await known.reader.sessions({ limit: sessionsMax });
      const now = new Map((await rebuilt.reader.sessions({ limit: sessionsMax })).map((row) => [row.session, row]));
      const ids = new Set([...sessions.map(({ session }) => session), ...now.keys()]);
      const recorded = new Map(sessions.map((row) => [row.session, row]));
      const differing: string[] = [];
      for (const session of ids) {
        if (await isAhead(rebuilt, session, position)) continue;
        const rows = [await rowsOf(known, recorded.get(session)), await rowsOf(rebuilt, now.get(session))].map((each) =>
          JSON.stringify(each),
        );
        if (rows[0] !== rows[1]) differing.push(session);
      }
      return differing;
    });
  });
}

/** Whether the journal has items of the session that the record had not read yet. */
async function isAhead(rebuilt: RecordStore, session: string, position: number): Promise<boolean> {
  const change = await rebuilt.reader.changesSince(position);
  return change === null || change.sessions.some((row) => row.session === session);
}

/** All rows of a session without those numbers that depend on the order of other sessions. */
async function rowsOf({ reader }: RecordStore, row: SessionRow | undefined): Promise<unknown> {
  if (!row) return null;
  const { session } = row;
  const detail = await reader.session(session);
  const changes: unknown[] = [];
  for (let after = 0; ; ) {
    const page = await reader.changes({ session }, { after, limit: 500 });
    changes.push(...page.map(({ id: _, ...change }) => change));
    const last = page.at(-1);
    if (!last || page.length < 500) break;
    after = last.id;
  }
  return {
    session: detail?.session,
    runs: detail?.runs,
    approvals: detail?.approvals,
    changes,
    response: await reader.response(session),
  };
}

/** Throws if the record follows another journal, or a longer one. The origin of a damaged record is unknown. */
async function refuseLoss(journal: Journal, file: string): Promise<void> {
  const origin = readOrigin(file);
  if (!origin || origin.position === 0) return;
  const refuse = (why: string): never => {
    const message = `${file} was made from another journal, up to position ${origin.position}: ${why}; it was not changed`;
    throw new TroupeError("DATABASE_DAMAGED", message, { fix: foreignJournalFileError.fix });
  };
  const id = await journal.id();
  if (origin.journal !== null && origin.journal !== id)
    refuse(`its id is ${origin.journal}, the id of this journal ${id}`);
  const tail = await journal.tail();
  const removed = (await journal.archive?.removed()) ?? [];
  const isRemoved = removed.some(({ lastPosition }) => lastPosition >= origin.position);
  if (tail < origin.position && !isRemoved) refuse(`this journal ends at position ${tail}`);
}

function readOrigin(file: string): RecordPosition | null {
  try {
    return existsSync(file) ? readRecordOrigin({ file }) : null;
  } catch {
    return null;
  }
}

async function buildRecord<T>(
  journalFile: string,
  recordFile: string,
  use: (record: RecordStore, journal: Journal) => Promise<T>,
): Promise<T> {
  for (const suffix of suffixes) await rm(recordFile + suffix, { force: true });
  const journal = await openSqliteJournal({ file: journalFile });
  try {
    return await withRecord(recordFile, async (record) => {
      const recorder = startRecorder({ journal, record });
      try {
        await recorder.caughtUp();
        return await use(record, journal);
      } finally {
        await recorder.stop();
      }
    });
  } finally {
    await journal.close();
  }
}

async function withRecord<T>(file: string, use: (record: RecordStore) => Promise<T>): Promise<T> {
  const record = await openRecord({ file });
  try {
    return await use(record);
  } finally {
    record.close();
  }
}

/** Copies a database. Its errors name the database, and not the copy. */
function snapshot(spec: DatabaseSpec, to: string): void {
  withTroupeErrors(() => {
    const database = openToRead(spec);
    try {
      guarded(spec, () => database.prepare<[string]>("VACUUM INTO ?").run(to));
    } finally {
      database.close();
    }
  });
}

function damagedJournal(file: string, { run, index, session, reason }: Damage): TroupeError {
  const what = run === null ? `item ${index} of the inbox of session ${session}` : `entry ${index} of run ${run}`;
  return new TroupeError("DATABASE_DAMAGED", `${file} is damaged: ${what} ${reason}; the record was not changed`, {
    fix: "restore a backup: troupe restore FILE",
  });
}

function noJournal(home: Home): TroupeError {
  return new TroupeError("USAGE", `the home ${home.path} has no journal to read`, {
    fix: "name the home: TROUPE_HOME=FOLDER troupe record verify; a journal on a NATS server: troupe nats check",
  });
}

function journalOnServer(home: Home): TroupeError {
  const { record } = homeFiles(home);
  return new TroupeError("USAGE", `the record of ${home.path} follows a journal on a NATS server`, {
    fix: `mv ${record} ${record}.old   # the next start makes it again from the server`,
  });
}
