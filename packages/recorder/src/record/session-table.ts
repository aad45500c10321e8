import type { RunRequest, SessionOrigin } from "@troupe/core";
import type Database from "better-sqlite3";
import type { RunDraft } from "./draft.ts";

/** Keeps the rows of `sessions`. Whatever is heard of a session first makes its row. */
export interface SessionTable {
  touch(session: string, position: number): void;
  /** What the root's request says of the session, by whichever way it came first. */
  keepRoot(request: RunRequest, position: number): void;
  keepOrigin(session: string, origin: SessionOrigin, demo: boolean): void;
  /** A session stands where its root stands. */
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
  const keepOrigin = database.prepare<[string, number, string]>(
    "UPDATE sessions SET origin = ?, demo = ? WHERE session_id = ?",
  );
  const keepProgress = database.prepare<
    [string, string, string | null, number | null, string | null, string | null, string, string]
  >(
    `UPDATE sessions SET status = ?, started_at = ?, completed_at = ?, duration_ms = ?, summary = ?, error_message = ?
     WHERE session_id = ? AND root_run = ?`,
  );

  return {
    touch: (session, position) => void touch.run(session, position),
    keepRoot({ run, agent, task, workspace, session }, position) {
      touch.run(session, position);
      keepRoot.run(run, agent, task, workspace.path, session);
    },
    keepOrigin: (session, origin, demo) => void keepOrigin.run(origin, demo ? 1 : 0, session),
    keepProgress({ status, startedAt, completedAt, durationMs, summary, error, session, run }) {
      keepProgress.run(status, startedAt, completedAt, durationMs, summary, error, session, run);
    },
  };
}
