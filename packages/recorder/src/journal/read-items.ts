import { setImmediate as nextTurn } from "node:timers/promises";
import type { FeedItem } from "@troupe/core";
import { guarded } from "../database/database-error.ts";
import { type FeedRow, toFeedItem } from "../database/feed-row.ts";
import { openToRead } from "../database/open-database.ts";
import type { Database } from "../database/sqlite.ts";
import { withTroupeErrors } from "../database/troupe-error.ts";
import { journalSpec } from "./journal-store.ts";

const pageRowsMax = 500;

/**
 * Reads all items of a journal's file, in order. Another process can write to the file meanwhile. Rejects with
 * `DATABASE_TOO_NEW` or `DATABASE_DAMAGED`.
 *
 * @example
 * for await (const batch of readJournalItems({ file: "/tmp/troupe/journal.db" })) console.log(batch.length);
 */
export async function* readJournalItems({
  file,
  applicationId,
}: {
  file: string;
  /** Of another kind of file with the tables of a journal, such as a backup. */
  applicationId?: number;
}): AsyncGenerator<FeedItem[], void, undefined> {
  const spec = journalSpec(file);
  const database = withTroupeErrors(() => openToRead({ ...spec, applicationId: applicationId ?? spec.applicationId }));
  try {
    yield* itemsOf(database, file);
  } finally {
    database.close();
  }
}

async function* itemsOf(database: Database, file: string): AsyncGenerator<FeedItem[], void, undefined> {
  const { whenDamaged } = journalSpec(file);
  const page = withTroupeErrors(() =>
    guarded({ file, whenDamaged }, () =>
      database.prepare<[number], FeedRow>(
        `SELECT position, session, run, idx, text FROM feed WHERE position > ? ORDER BY position LIMIT ${pageRowsMax}`,
      ),
    ),
  );
  for (let after = 0; ; ) {
    const rows = withTroupeErrors(() => guarded({ file, whenDamaged }, () => page.all(after)));
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(toFeedItem);
    after = last.position;
    // Lets the event loop run, so that the reader can stop.
    await nextTurn();
  }
}
