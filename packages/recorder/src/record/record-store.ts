import type { FeedItem, RecordReader } from "@troupe/core";
import { guarded, toDatabaseProblem } from "../database/database-error.ts";
import { openDatabase, openToRead, refuseReadOnly } from "../database/open-database.ts";
import { toTroupeError, withFileErrors, withTroupeErrors } from "../database/troupe-error.ts";
import { createJournalCopy, type JournalCopy } from "./journal-copy.ts";
import { createLogMover } from "./log-mover.ts";
import { createLazyQueries } from "./queries/index.ts";
import { createReader } from "./reader.ts";
import { type RecordProblem, recorderProblem } from "./record-problem.ts";
import { type RemovedSession, removeSessions } from "./remove-sessions.ts";
import { recordSpec } from "./table-migrations.ts";
import { type Cursor, createWriter, type RecordOrigin } from "./writer.ts";

/** The recorded sessions and runs, as rows made only from the journal's entries. */
export interface RecordStore {
  readonly reader: RecordReader;
  /** The journal's items as they were recorded. A lost journal is restored from them. */
  readonly copy: JournalCopy;
  /** Number of items in quarantine, because they are damaged or do not fit. */
  quarantined(): number;
  /** Number of runs with two branches. */
  forked(): number;
  /** The journal that this record follows. */
  origin(): RecordOrigin;
  /** Makes the recorder read the journal again from the beginning. Known items change nothing. */
  rewind(): void;
  /**
   * Deletes sessions that their journal has removed. The recorded position stays on an item that the journal still has.
   *
   * @param tail position of the journal's newest item, if this is before the recorder has started
   */
  remove(sessions: readonly RemovedSession[], tail?: number): void;
  close(): void;
  /** @internal Only for the recorder. */
  cursor(): Cursor;
  /** @internal Makes this record follow the journal with that id. */
  adopt(journal: string): void;
  /** @internal Writes one transaction, notifies the listeners, and returns the problems with the items. */
  write(items: readonly FeedItem[]): RecordProblem[];
  /** @internal Sums the costs of some sessions of a record of an older version. Returns false if none is left. */
  fillCosts(): boolean;
  /** @internal Throws `HOME_UNWRITABLE` if the file cannot be written, and `HOME_OWNED` if another process has locked it. */
  checkWritable(): void;
  /** @internal Moves a long write-ahead log into the file, on another thread. Nothing may be written meanwhile. */
  moveLog(): Promise<void>;
}

/**
 * How long a statement waits for the lock of another process, which holds up the event loop. The recorder writes again later;
 * a removal is not repeated.
 */
const lockWaitMs = { write: 100, remove: 5_000 };

/**
 * Opens `troupe.db` and migrates it to the newest version. Rejects with `DATABASE_TOO_NEW`, `DATABASE_DAMAGED` or
 * `HOME_UNWRITABLE`.
 *
 * @example
 * const record = await openRecord({ file: "/tmp/troupe/troupe.db" });
 * await record.reader.sessions({ limit: 20 }); // []
 * record.close();
 */
export async function openRecord({ file }: { file: string }): Promise<RecordStore> {
  const spec = recordSpec(file);
  const database = withTroupeErrors(() => openDatabase(spec));
  database.pragma(`busy_timeout = ${lockWaitMs.write}`);
  // A connection of its own that can only read: a question never waits for a batch of the recorder, and changes nothing.
  const asked = createLazyQueries(() => withTroupeErrors(() => openToRead(spec)));
  const reader = withFileErrors(createReader(database, withFileErrors(asked.queries, spec)), spec);
  const writer = createWriter(database);
  const logMover = createLogMover(database, spec);
  const quarantined = database.prepareValue<[], number>("SELECT count(*) FROM quarantine");
  const forked = database.prepareValue<[], number>("SELECT count(*) FROM forks");

  return {
    reader,
    copy: createJournalCopy(database),
    quarantined: () => quarantined.get() ?? 0,
    forked: () => forked.get() ?? 0,
    origin: writer.origin,
    rewind: writer.rewind,
    fillCosts: () => withTroupeErrors(() => guarded(spec, writer.fillCosts)),
    checkWritable: () => withTroupeErrors(() => refuseReadOnly(database, spec)),
    moveLog: logMover.move,
    close() {
      logMover.close();
      asked.close();
      database.close();
    },
    remove(sessions, tail) {
      database.pragma(`busy_timeout = ${lockWaitMs.remove}`);
      try {
        withTroupeErrors(() => guarded(spec, () => removeSessions(database, sessions, tail)));
      } finally {
        database.pragma(`busy_timeout = ${lockWaitMs.write}`);
        writer.forget();
      }
    },
    cursor: writer.cursor,
    adopt: writer.adopt,
    write(items) {
      try {
        const written = writer.write(items);
        reader.announce(written, (thrown) => written.problems.push(recorderProblem("listener", thrown)));
        return written.problems;
      } catch (thrown) {
        throw toTroupeError(toDatabaseProblem(thrown, file, spec.whenDamaged), thrown);
      }
    },
  };
}
