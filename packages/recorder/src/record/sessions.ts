import { type RunRequest, SessionRow } from "@troupe/core";
import { isReplayModel, type SessionOrigin } from "@troupe/core/internal";
import { z } from "zod";
import type { Database, SqlValue } from "../database/sqlite.ts";
import type { RunRecord } from "./run-columns.ts";

/** Writes the rows of `sessions`. The first item of a session creates its row. */
export interface SessionTable {
  touch(session: string, position: number): void;
  /** Stores the request of a turn's root run. It can come from the inbox or from the run's own entry first. */
  setRoot(request: RunRequest, position: number): void;
  /** Stores the origin of the first turn, and whether the newest turn is a demo or a replay. */
  setOrigin(request: RunRequest, origin: SessionOrigin, demo: boolean): void;
  /** Stores the status of the newest turn's root run as the status of the session. */
  setProgress(root: RunRecord): void;
}

export function createSessionTable(database: Database): SessionTable {
  const touch = database.prepare<[string, number]>(
    `INSERT INTO sessions (session_id, position) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET position = excluded.position`,
  );
  const setRoot = database.prepare<[string, string, string, string, string]>(
    `UPDATE sessions SET root_run = ?, agent = ?, task = ?, workspace = ?
     WHERE session_id = ? AND root_run IS NULL`,
  );
  const setTurn = database.prepare<[string, string, string]>(
    "UPDATE sessions SET root_run = ? WHERE session_id = ? AND root_run = ?",
  );
  const setOrigin = database.prepare<[string | null, number, number, string]>(
    "UPDATE sessions SET origin = coalesce(?, origin), demo = ?, replay = ? WHERE session_id = ?",
  );
  // Values over all turns are computed from the rows, so the number of turns in one batch makes no difference.
  const setProgress = database.prepare<
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
    setRoot({ run, agent, task, workspace, session, continues }, position) {
      touch.run(session, position);
      setRoot.run(run, agent, task, workspace.path, session);
      if (continues !== null) setTurn.run(run, session, continues);
    },
    setOrigin({ session, continues, model }, origin, demo) {
      setOrigin.run(continues === null ? origin : null, demo ? 1 : 0, isReplayModel(model) ? 1 : 0, session);
    },
    setProgress({ status, startedAt, completedAt, summary, error, session, run }) {
      setProgress.run(status, startedAt, completedAt, summary, error, completedAt, session, run);
    },
  };
}

const Sums = z.tuple([z.int(), z.int(), z.int(), z.number().nullable(), z.int(), z.number().nullable()]);

/** Sums use only the narrow table `runs`, in one pass. One unknown cost makes the sum unknown. */
export const sessionQuery = `
  SELECT s.*, (
    SELECT json_array(count(*), coalesce(sum(r.status IN ('pending', 'running')), 0), coalesce(sum(r.total_tokens), 0),
      CASE WHEN count(r.cost_usd) = count(*) THEN total(r.cost_usd) END, coalesce(sum(r.estimated_tokens), 0),
      CASE WHEN count(r.estimated_cost_usd) = count(*) THEN total(r.estimated_cost_usd) END)
    FROM runs r WHERE r.session_id = s.session_id
  ) AS sums, (
    SELECT count(*) FROM approvals a WHERE a.session_id = s.session_id AND a.state = 'waiting'
  ) AS approvals_waiting, (
    SELECT r.team FROM runs r WHERE r.session_id = s.session_id AND r.parent_run IS NULL ORDER BY r.seen LIMIT 1
  ) AS team, (
    SELECT json_extract(i.text, '$.forkedFrom') FROM inbox_items i WHERE i.session_id = s.session_id AND i.seq = 1
  ) AS forked_from
  FROM sessions s`;

/** The API row of a row of `sessionQuery`. */
export function toSessionRow(row: Record<string, SqlValue>): SessionRow {
  const [runs, runsActive, totalTokens, costUsd, estimatedTokens, estimatedCostUsd] = Sums.parse(
    JSON.parse(String(row.sums)),
  );
  return SessionRow.parse({
    session: row.session_id,
    rootRun: row.root_run,
    agent: row.agent,
    team: row.team,
    task: row.task,
    status: row.status,
    origin: row.origin,
    demo: row.demo === 1,
    replay: row.replay === 1,
    workspace: row.workspace,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    durationMs: row.duration_ms,
    summary: row.summary,
    error: row.error_message,
    turns: row.turns,
    turnStartedAt: row.turns === 1 ? null : row.turn_started_at,
    runs,
    runsActive,
    totalTokens,
    costUsd,
    estimatedTokens,
    estimatedCostUsd,
    approvalsWaiting: row.approvals_waiting,
    forkedFrom: row.forked_from === null ? null : JSON.parse(String(row.forked_from)),
  });
}
