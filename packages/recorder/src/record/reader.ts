import type { RecordReader, RunResponse } from "@troupe/core";
import { openEntry, type RecordChange, type RecordQueries } from "@troupe/core/internal";
import type { Database, SqlValue } from "../database/sqlite.ts";
import { createAgentStats } from "./agent-stats.ts";
import { approvalQuery, toApprovalRow } from "./approvals.ts";
import { toChangeRow } from "./changes.ts";
import { createIntegrityLog } from "./integrity.ts";
import { createRunRows, runQuery } from "./run-table.ts";
import { sessionQuery, toSessionRow } from "./sessions.ts";
import { createTimeline } from "./timeline.ts";
import { createUndoLog } from "./undos.ts";
import type { Written } from "./writer.ts";

type SqlRow = Record<string, SqlValue>;

/** With more changed rows, a client loads the page again instead. */
const changedRowsMax = 500;

export interface Reader extends RecordReader {
  /** Notifies the listeners of the changes of a batch. `onError` receives the errors that they throw. */
  announce(written: Written, onError: (thrown: unknown) => void): void;
}

export function createReader(database: Database, queries: RecordQueries): Reader {
  const listeners = new Set<(change: RecordChange) => void>();
  const position = database.prepareValue<[], number>("SELECT position FROM cursor");
  const newest = database.prepare<[number], SqlRow>(
    `${sessionQuery} WHERE s.root_run IS NOT NULL ORDER BY s.turn_started_at DESC, s.session_id DESC LIMIT ?`,
  );
  const oneSession = database.prepare<[string], SqlRow>(
    `${sessionQuery} WHERE s.session_id = ? AND s.root_run IS NOT NULL`,
  );
  const changedSessions = database.prepare<[number, number], SqlRow>(
    `${sessionQuery} WHERE s.position > ? AND s.root_run IS NOT NULL ORDER BY s.position LIMIT ?`,
  );
  const runsOf = database.prepare<[string], SqlRow>(`${runQuery} WHERE r.session_id = ? ORDER BY r.seen`);
  const oneRun = database.prepare<[string], SqlRow>(`${runQuery} WHERE r.run_id = ?`);
  const changedRuns = database.prepare<[number, number], SqlRow>(
    `${runQuery} WHERE r.position > ? ORDER BY r.position LIMIT ?`,
  );
  const waitingApprovals = database.prepare<[number], SqlRow>(
    `${approvalQuery} WHERE state = 'waiting' ORDER BY requested_at, rowid LIMIT ?`,
  );
  const newestApprovals = database.prepare<[number], SqlRow>(
    `${approvalQuery} ORDER BY requested_at DESC, rowid DESC LIMIT ?`,
  );
  const approvalsOf = database.prepare<[string], SqlRow>(
    `${approvalQuery} WHERE session_id = ? ORDER BY requested_at, rowid`,
  );
  const oneApproval = database.prepare<[string], SqlRow>(`${approvalQuery} WHERE id = ?`);
  const changedApprovals = database.prepare<[number, number], SqlRow>(
    `${approvalQuery} WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const changesWhere = (key: "run_id" | "session_id") =>
    database.prepare<[string, number, number], SqlRow>(
      `SELECT * FROM changes WHERE ${key} = ? AND id > ? ORDER BY id LIMIT ?`,
    );
  const changesOfRun = changesWhere("run_id");
  const changesOfSession = changesWhere("session_id");
  const entries = database.prepareValue<[string, number, number], string>(
    "SELECT text FROM entries WHERE run_id = ? AND idx >= ? ORDER BY idx, position LIMIT ?",
  );
  const findingsOf = createIntegrityLog(database);
  const undosOf = createUndoLog(database);
  const lastEntryOfRoot = database.prepareValue<[string], string>(
    `SELECT e.text FROM sessions s JOIN runs r ON r.run_id = s.root_run
       JOIN entries e ON e.run_id = r.run_id AND e.idx = r.head_index AND e.hash = r.head_hash
       WHERE s.session_id = ? AND s.completed_at IS NOT NULL`,
  );
  const statsSince = createAgentStats(database);
  const timelineOf = createTimeline(database);
  const toRunRows = createRunRows(database);
  const now = (): number => position.get() ?? 0;

  return {
    queries,
    position: now,
    async sessions({ limit }) {
      return newest.all(limit).map(toSessionRow);
    },
    async session(session) {
      const row = oneSession.get(session);
      if (!row) return null;
      const findings = findingsOf(session);
      const undos = undosOf(session);
      return {
        position: now(),
        session: toSessionRow(row),
        runs: toRunRows(runsOf.all(session)),
        approvals: approvalsOf.all(session).map(toApprovalRow),
        ...(findings.length > 0 ? { flaws: findings } : {}),
        ...(undos.length > 0 ? { undos } : {}),
      };
    },
    async response(session): Promise<RunResponse | null> {
      const text = lastEntryOfRoot.get(session);
      const entry = text === undefined ? null : openEntry(text);
      return entry?.kind === "run.settled" ? entry.response : null;
    },
    async run(run) {
      return toRunRows(oneRun.all(run))[0] ?? null;
    },
    async approvals({ waiting, limit }) {
      // The limit keeps the newest of all approvals, but the oldest of the waiting ones.
      const rows = waiting ? waitingApprovals.all(limit) : newestApprovals.all(limit).reverse();
      return rows.map(toApprovalRow);
    },
    async approval(id) {
      const row = oneApproval.get(id);
      return row ? toApprovalRow(row) : null;
    },
    async changes(scope, { after, limit }) {
      const rows =
        "run" in scope ? changesOfRun.all(scope.run, after, limit) : changesOfSession.all(scope.session, after, limit);
      return rows.map(toChangeRow);
    },
    async undos(session) {
      return undosOf(session);
    },
    async agentStats({ sinceMs }) {
      return statsSince(sinceMs);
    },
    async timeline(session, { after, limit }) {
      return timelineOf(session, after, limit);
    },
    async entries(run, { from, limit }) {
      return entries.all(run, from, limit);
    },
    async changesSince(after) {
      // A position that this record has not reached belongs to a record that was deleted.
      if (after > now()) return null;
      const sessions = changedSessions.all(after, changedRowsMax + 1);
      const runs = changedRuns.all(after, changedRowsMax + 1);
      const approvals = changedApprovals.all(after, changedRowsMax + 1);
      if (sessions.length + runs.length + approvals.length > changedRowsMax) return null;
      return {
        position: now(),
        sessions: sessions.map(toSessionRow),
        runs: toRunRows(runs),
        approvals: approvals.map(toApprovalRow),
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce({ sessions, runs, approvals }, onError) {
      if (listeners.size === 0 || sessions.size === 0) return;
      const change = {
        position: now(),
        sessions: [...sessions].flatMap((id) => oneSession.all(id)).map(toSessionRow),
        runs: toRunRows([...runs].flatMap((id) => oneRun.all(id))),
        approvals: [...approvals].flatMap((id) => oneApproval.all(id)).map(toApprovalRow),
      };
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (thrown) {
          onError(thrown);
        }
      }
    },
  };
}
