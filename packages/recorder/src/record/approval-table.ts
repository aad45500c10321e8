import type { InboxItem } from "@troupe/core";
import type { Approval } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import type { RunDraft } from "./draft.ts";
import { toIso } from "./time.ts";

type Answer = Extract<InboxItem, { kind: "approval.answered" }>;

/** Keeps what people are asked. Each returns whose rows changed: a question is open once, and its first answer holds. */
export interface ApprovalTable {
  ask(of: RunDraft, approval: Approval, atMs: number, position: number): string[];
  answer(answer: Answer, position: number): string[];
  /** Its run went on or ended without an answer. */
  withdraw(id: string, position: number): string[];
}

type Values = Record<string, string | number | null>;

export function createApprovalTable(database: Database.Database): ApprovalTable {
  const insert = database.prepare<[Values]>(
    `INSERT OR IGNORE INTO approvals
       (id, session_id, run_id, agent, path_json, tool, args_json, risk, reason, state, requested_at, position)
     VALUES (@id, @session, @run, @agent, @path, @tool, @args, @risk, @reason, 'waiting', @requestedAt, @position)`,
  );
  const close = (which: string): Database.Statement<[Values], string> =>
    database
      .prepare<[Values], string>(
        `UPDATE approvals SET state = @state, answered_at = @answeredAt, scope = @scope, by_whom = @by,
           answer_reason = @reason, position = @position
         WHERE session_id = @session AND run_id = @run AND state = 'waiting' AND ${which} RETURNING id`,
      )
      .pluck();
  const closeOne = close("id = @id");
  const closeSame = close("tool = (SELECT tool FROM approvals WHERE id = @id)");
  const withdraw = database.prepare<[number, string]>(
    "UPDATE approvals SET state = 'withdrawn', position = ? WHERE id = ? AND state = 'waiting'",
  );

  return {
    ask({ session, run, agent }, { id, path, tool, args, risk, reason }, atMs, position) {
      const texts = { path: JSON.stringify(path), args: JSON.stringify(args), requestedAt: toIso(atMs) };
      const { changes } = insert.run({ id, session, run, agent, tool, risk, reason, position, ...texts });
      return changes > 0 ? [id] : [];
    },
    answer({ session, run, approval: id, approved, scope, reason, by, at }, position) {
      const state = approved ? "approved" : "denied";
      const values = { id, session, run, state, scope, reason, by, position, answeredAt: toIso(at) };
      const closed = closeOne.all(values);
      // Said for the rest of the run, it is the answer to what is asked about that tool already.
      return closed.length > 0 && approved && scope === "run" ? [...closed, ...closeSame.all(values)] : closed;
    },
    withdraw: (id, position) => (withdraw.run(position, id).changes > 0 ? [id] : []),
  };
}
