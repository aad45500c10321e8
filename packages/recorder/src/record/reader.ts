import type { RecordReader, RunResponse, RunRow } from "@troupe/core";
import { openEntry, type RecordChange } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import { createIntegrityLog } from "./flaws.ts";
import { createQueuePositions } from "./queue.ts";
import { runQuery, type Stored, sessionQuery, toApprovalRow, toChangeRow, toRunRow, toSessionRow } from "./rows.ts";
import type { Written } from "./writer.ts";

/** Above this a client is better off loading the page anew. */
const changedRowsMax = 500;

export interface Reader extends RecordReader {
  /** Tells the listeners what a batch changed. What they throw is handed to `onError`. */
  announce(written: Written, onError: (thrown: unknown) => void): void;
}

export function createReader(database: Database.Database): Reader {
  const listeners = new Set<(change: RecordChange) => void>();
  const position = database.prepare<[], number>("SELECT position FROM cursor").pluck();
  const newest = database.prepare<[number], Stored>(
    `${sessionQuery} WHERE s.root_run IS NOT NULL ORDER BY s.turn_started_at DESC, s.session_id DESC LIMIT ?`,
  );
  const oneSession = database.prepare<[string], Stored>(
    `${sessionQuery} WHERE s.session_id = ? AND s.root_run IS NOT NULL`,
  );
  const changedSessions = database.prepare<[number, number], Stored>(
    `${sessionQuery} WHERE s.position > ? AND s.root_run IS NOT NULL ORDER BY s.position LIMIT ?`,
  );
  const runsOf = database.prepare<[string], Stored>(`${runQuery} WHERE r.session_id = ? ORDER BY r.seen`);
  const oneRun = database.prepare<[string], Stored>(`${runQuery} WHERE r.run_id = ?`);
  const changedRuns = database.prepare<[number, number], Stored>(
    `${runQuery} WHERE r.position > ? ORDER BY r.position LIMIT ?`,
  );
  const waitingApprovals = database.prepare<[number], Stored>(
    "SELECT * FROM approvals WHERE state = 'waiting' ORDER BY requested_at, rowid LIMIT ?",
  );
  const newestApprovals = database.prepare<[number], Stored>(
    "SELECT * FROM approvals ORDER BY requested_at DESC, rowid DESC LIMIT ?",
  );
  const approvalsOf = database.prepare<[string], Stored>(
    "SELECT * FROM approvals WHERE session_id = ? ORDER BY requested_at, rowid",
  );
  const oneApproval = database.prepare<[string], Stored>("SELECT * FROM approvals WHERE id = ?");
  const changedApprovals = database.prepare<[number, number], Stored>(
    "SELECT * FROM approvals WHERE position > ? ORDER BY position LIMIT ?",
  );
  const changesWhere = (which: "run_id" | "session_id") =>
    database.prepare<[string, number, number], Stored>(
      `SELECT * FROM changes WHERE ${which} = ? AND id > ? ORDER BY id LIMIT ?`,
    );
  const changesOfRun = changesWhere("run_id");
  const changesOfSession = changesWhere("session_id");
  const entries = database
    .prepare<[string, number, number], string>(
      "SELECT text FROM entries WHERE run_id = ? AND idx >= ? ORDER BY idx, position LIMIT ?",
    )
    .pluck();
  const flawsOf = createIntegrityLog(database);
  const lastOfRoot = database
    .prepare<[string], string>(
      `SELECT e.text FROM sessions s JOIN runs r ON r.run_id = s.root_run
       JOIN entries e ON e.run_id = r.run_id AND e.idx = r.head_index AND e.hash = r.head_hash
       WHERE s.session_id = ? AND s.completed_at IS NOT NULL`,
    )
    .pluck();
  const positionsOf = createQueuePositions(database);
  const toRunRows = (rows: readonly Stored[]): RunRow[] => {
    const positions = positionsOf(rows);
    return rows.map((row) => toRunRow(row, positions.get(row.run_id ?? null) ?? null));
  };
  const now = (): number => position.get() ?? 0;

  return {
    position: now,
    async sessions({ limit }) {
      return newest.all(limit).map(toSessionRow);
    },
    async session(session) {
      const row = oneSession.get(session);
      if (!row) return null;
      const flaws = flawsOf(session);
      return {
        position: now(),
        session: toSessionRow(row),
        runs: toRunRows(runsOf.all(session)),
        approvals: approvalsOf.all(session).map(toApprovalRow),
        ...(flaws.length > 0 ? { flaws } : {}),
      };
    },
    async response(session): Promise<RunResponse | null> {
      const text = lastOfRoot.get(session);
      const entry = text === undefined ? null : openEntry(text);
      return entry?.kind === "run.settled" ? entry.response : null;
    },
    async run(run) {
      return toRunRows(oneRun.all(run))[0] ?? null;
    },
    async approvals({ waiting, limit }) {
      // Of all that there ever were the newest are told; of those that wait, whoever has waited longest.
      const rows = waiting ? waitingApprovals.all(limit) : newestApprovals.all(limit).reverse();
      return rows.map(toApprovalRow);
    },
    async approval(id) {
      const row = oneApproval.get(id);
      return row ? toApprovalRow(row) : null;
    },
    async changes(of, { after, limit }) {
      const rows =
        "run" in of ? changesOfRun.all(of.run, after, limit) : changesOfSession.all(of.session, after, limit);
      return rows.map(toChangeRow);
    },
    async entries(run, { from, limit }) {
      return entries.all(run, from, limit);
    },
    async changesSince(after) {
      // A position that the record has not reached is of a record that is gone.
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
