import type { IdMatch } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";

/** Finds sessions, then runs, whose id begins with a prefix. */
export function createIdSearch(database: Database): (prefix: string, limit: number) => IdMatch[] {
  // "g" is after every character of an id, so the range is read from the index of the keys.
  const sessions = database.prepare<[string, string, number], IdMatch>(
    `SELECT 'session' AS kind, session_id AS id, session_id AS session FROM sessions
     WHERE session_id >= ? AND session_id < ? AND root_run IS NOT NULL ORDER BY session_id LIMIT CAST(? AS INTEGER)`,
  );
  const runs = database.prepare<[string, string, number], IdMatch>(
    `SELECT 'run' AS kind, run_id AS id, session_id AS session FROM runs
     WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT CAST(? AS INTEGER)`,
  );
  return (given, limit) => {
    const prefix = given.toLowerCase();
    if (!/^[0-9a-f-]{1,36}$/.test(prefix)) return [];
    const found = sessions.all(prefix, `${prefix}g`, limit);
    return [...found, ...runs.all(prefix, `${prefix}g`, limit - found.length)].map((row) => ({ ...row }));
  };
}
