import type { Database } from "../database/sqlite.ts";
import { itemHash } from "./classify-entry.ts";

/** A session that the journal has removed, with the position of its last item. */
export interface RemovedSession {
  session: string;
  lastPosition: number;
}

/**
 * Deletes the rows of sessions from every table with a column `session_id`, in one transaction.
 *
 * @param tail position of the journal's newest item. A recorded position after it belongs to a removed session, and moves
 *   back to the newest item that both have. Absent: the recorder runs, and keeps its position.
 */
export function removeSessions(database: Database, sessions: readonly RemovedSession[], tail?: number): void {
  database.pragma("secure_delete = ON");
  const remove = database.transaction(() => {
    const known = tablesOf(database);
    // Rows of runs and messages refer to their session.
    database.pragma("defer_foreign_keys = ON");
    for (const { session } of sessions) {
      for (const table of known) database.prepare<[string]>(`DELETE FROM "${table}" WHERE session_id = ?`).run(session);
    }
    if (tail !== undefined) moveCursorBack(database, sessions, tail);
  });
  remove();
}

/** Virtual tables keep their rows in tables of their own, and follow by triggers. */
function tablesOf(database: Database): string[] {
  return database
    .prepareValue<[], string>(
      `SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'session_id' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`,
    )
    .all();
}

function moveCursorBack(database: Database, sessions: readonly RemovedSession[], tail: number): void {
  const position = database.prepareValue<[], number>("SELECT position FROM cursor").get() ?? 0;
  if (position <= tail || !sessions.some(({ lastPosition }) => lastPosition >= position)) return;
  const last = database
    .prepare<[], { position: number; text: string }>(
      `SELECT position, text FROM (SELECT position, text FROM entries UNION ALL SELECT position, text FROM inbox_items
       UNION ALL SELECT position, text FROM quarantine) ORDER BY position DESC LIMIT 1`,
    )
    .get();
  database
    .prepare<[number, string | null]>("UPDATE cursor SET position = ?, mark = ?")
    .run(last?.position ?? 0, last ? itemHash(last) : null);
}
