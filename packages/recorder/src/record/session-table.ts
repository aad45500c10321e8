import type { RunRequest } from "@troupe/core";
import type { SessionOrigin } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import type { RunDraft } from "./draft.ts";

/** Keeps the rows of `sessions`. Whatever is heard of a session first makes its row. */
export interface SessionTable {
  touch(session: string, position: number): void;
  /** What the request of a turn's root says of the session, by whichever way it came first. */
  keepRoot(request: RunRequest, position: number): void;
  /** Where it came from is said by its first turn, whether it is a demo by its newest. */
  keepOrigin(request: RunRequest, origin: SessionOrigin, demo: boolean): void;
  /** A session stands where the root of its newest turn stands. */
  keepProgress(root: RunDraft): void;
}

export function createSessionTable(database: Database.Database): SessionTable {
  const touch = database.prepare<[string, number]>(
    `INSERT INTO sessions (session_id, position) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET position = excluded.position`,
  );
  const keepRoot = database.prepare<[string, string, string, string, string]>(
    `UPDATE sessions SET root_run = ?, agent = ?, task = ?, workspace = ?
     WHERE session_id = ? AND root_run IS NULL`,
  );
  const keepTurn = database.prepare<[string, string, string]>(
    "UPDATE sessions SET root_run = ? WHERE session_id = ? AND root_run = ?",
  );
  const keepOrigin = database.prepare<[string | null, number, string]>(
    "UPDATE sessions SET origin = coalesce(?, origin), demo = ? WHERE session_id = ?",
  );
  // What covers all turns is reckoned from them, so that it makes no difference how many of them one batch brings.
  const keepProgress = database.prepare<
    [string, string, string | null, string | null, string | null, string | null, string, string]
  >(
    `UPDATE sessions SET status = ?, turn_started_at = ?, completed_at = ?, summary = ?, error_message = ?,
       (started_at, turns, duration_ms) = (
         SELECT min(m.started_at), count(*), CASE WHEN ? IS NOT NULL THEN sum(m.duration_ms) END
         FROM runs r JOIN messages m ON m.id = r.message_id
         WHERE r.session_id = sessions.session_id AND r.parent_run IS NULL
       )
     WHERE session_id = ? AND root_run = ?`,
  );

  return {
    touch: (session, position) => void touch.run(session, position),
    keepRoot({ run, agent, task, workspace, session, continues }, position) {
      touch.run(session, position);
      keepRoot.run(run, agent, task, workspace.path, session);
      if (continues !== null) keepTurn.run(run, session, continues);
    },
    keepOrigin({ session, continues }, origin, demo) {
      keepOrigin.run(continues === null ? origin : null, demo ? 1 : 0, session);
    },
    keepProgress({ status, startedAt, completedAt, summary, error, session, run }) {
      keepProgress.run(status, startedAt, completedAt, summary, error, completedAt, session, run);
    },
  };
}
