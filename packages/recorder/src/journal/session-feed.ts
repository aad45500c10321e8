import type { FeedItem } from "@troupe/core";
import { openToRead } from "../database/open.ts";
import { inTroupeWords } from "../database/troupe-error.ts";
import type { FeedRow } from "./messages.ts";
import { toFeedItem } from "./sqlite-journal.ts";
import { journalSpec } from "./store.ts";

/**
 * All that a journal's file says of one session, in order; nothing for a session that it does not know. Whoever owns
 * the file may go on writing meanwhile. Rejects with `DATABASE_TOO_NEW` or `DATABASE_DAMAGED`.
 *
 * @example
 * const feed = await readSessionFeed({ file: "/tmp/troupe/journal.db", session });
 */
export async function readSessionFeed({ file, session }: { file: string; session: string }): Promise<FeedItem[]> {
  return inTroupeWords(() => {
    const database = openToRead(journalSpec(file));
    try {
      return database
        .prepare<[string, string], FeedRow>(
          `SELECT position, session, run, idx, text FROM feed WHERE run IN (SELECT run FROM runs WHERE session = ?)
           UNION ALL
           SELECT position, session, run, idx, text FROM feed WHERE run IS NULL AND session = ?
           ORDER BY position`,
        )
        .all(session, session)
        .map(toFeedItem);
    } finally {
      database.close();
    }
  });
}
