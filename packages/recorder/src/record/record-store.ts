import type { FeedItem, RecordReader } from "@troupe/core";
import { openDatabase } from "../database/open.ts";
import { toDatabaseProblem } from "../database/problem.ts";
import { inTroupeWords, toTroupeError } from "../database/troupe-error.ts";
import type { RecordProblem } from "./problem.ts";
import { createReader } from "./reader.ts";
import { createRecordCopy, type RecordCopy } from "./record-copy.ts";
import { recordSpec } from "./schema.ts";
import { type Cursor, createWriter, type Origin } from "./writer.ts";

/** The recorded tree: rows for people, made of the journal's entries and of nothing else. */
export interface RecordStore {
  readonly reader: RecordReader;
  /** The journal's facts as they were recorded: what a journal that was lost is restored from. */
  readonly copy: RecordCopy;
  /** How many items were set aside because they are damaged or do not fit. */
  quarantined(): number;
  /** How many runs have two lines. */
  forked(): number;
  /** Whose copy it is. */
  origin(): Origin;
  /** The journal will be read anew from its beginning: what is known already changes nothing. */
  rewind(): void;
  close(): void;
  /** @internal The recorder's: nobody else writes. */
  cursor(): Cursor;
  /** @internal From now on a copy of that journal. */
  adopt(journal: string): void;
  /** @internal Writes one transaction, tells the listeners, and returns what was wrong with the items. */
  write(items: readonly FeedItem[]): RecordProblem[];
}

/**
 * Opens `troupe.db`, at the newest version. Rejects with `DATABASE_TOO_NEW`, `DATABASE_DAMAGED` or `HOME_UNWRITABLE`.
 *
 * @example
 * const record = await openRecord({ file: "/tmp/troupe/troupe.db" });
 * await record.reader.sessions({ limit: 20 }); // []
 * record.close();
 */
export async function openRecord({ file }: { file: string }): Promise<RecordStore> {
  const spec = recordSpec(file);
  const database = inTroupeWords(() => openDatabase(spec));
  const reader = createReader(database);
  const writer = createWriter(database);
  const quarantined = database.prepare<[], number>("SELECT count(*) FROM quarantine").pluck();
  const forked = database.prepare<[], number>("SELECT count(*) FROM forks").pluck();

  return {
    reader,
    copy: createRecordCopy(database),
    quarantined: () => quarantined.get() ?? 0,
    forked: () => forked.get() ?? 0,
    origin: writer.origin,
    rewind: writer.rewind,
    close: () => void database.close(),
    cursor: writer.cursor,
    adopt: writer.adopt,
    write(items) {
      try {
        const written = writer.write(items);
        reader.announce(written, (thrown) => written.problems.push(listenerProblem(thrown)));
        return written.problems;
      } catch (thrown) {
        throw toTroupeError(toDatabaseProblem(thrown, file, spec.whenDamaged), thrown);
      }
    },
  };
}

function listenerProblem(cause: unknown): RecordProblem {
  const message = `a listener of the record failed: ${cause instanceof Error ? cause.message : String(cause)}`;
  return { kind: "listener", message, session: null, run: null, index: null, position: null, cause };
}
