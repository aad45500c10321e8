import { ApprovalRow, type InboxItem } from "@troupe/core";
import type { Approval } from "@troupe/core/internal";
import type { Database, SqlValue } from "../database/sqlite.ts";
import type { PendingApproval, RunRecord } from "./run-columns.ts";
import { answeredBy } from "./run-status.ts";
import { toIso } from "./time.ts";

type Answer = Extract<InboxItem, { kind: "approval.answered" }>;

/** Writes the rows of `approvals`. Each method returns the ids of the changed rows. The first answer counts. */
export interface ApprovalTable {
  request(requester: RunRecord, approval: Approval, atMs: number, position: number): string[];
  /** `pending`: the approvals that the run waits for. */
  answer(answer: Answer, pending: readonly PendingApproval[], position: number): string[];
  /** Closes an approval whose run continued or ended without an answer. */
  withdraw(id: string, position: number): string[];
}

type Values = Record<string, SqlValue>;

export function createApprovalTable(database: Database): ApprovalTable {
  const insert = database.prepare<[Values]>(
    `INSERT OR IGNORE INTO approvals
       (id, session_id, run_id, agent, path_json, tool, args_json, risk, reason, state, requested_at, position,
        losses_json, preview_json)
     VALUES (@id, @session, @run, @agent, @path, @tool, @args, @risk, @reason, 'waiting', @requestedAt, @position,
        @losses, @preview)`,
  );
  const close = database.prepareValue<[Values], string>(
    `UPDATE approvals SET state = @state, answered_at = @answeredAt, scope = @scope, by_whom = @by,
         answer_reason = @reason, position = @position
       WHERE session_id = @session AND run_id = @run AND state = 'waiting' AND id = @id RETURNING id`,
  );
  const withdraw = database.prepare<[number, string]>(
    "UPDATE approvals SET state = 'withdrawn', position = ? WHERE id = ? AND state = 'waiting'",
  );

  return {
    request({ session, run, agent }, approval, atMs, position) {
      const { id, path, tool, args, risk, reason } = approval;
      const optional = { losses: textOf(approval.losses), preview: textOf(approval.preview) };
      const texts = { ...optional, path: JSON.stringify(path), args: JSON.stringify(args), requestedAt: toIso(atMs) };
      const { changes } = insert.run({ id, session, run, agent, tool, risk, reason, position, ...texts });
      return changes > 0 ? [id] : [];
    },
    answer(answer, pending, position) {
      const { session, run, approval, approved, scope, reason, by, at } = answer;
      const state = approved ? "approved" : "denied";
      const values = { session, run, state, scope, reason, by, position, answeredAt: toIso(at) };
      const closeAll = (ids: readonly string[]): string[] => ids.flatMap((id) => close.all({ ...values, id }));
      const closed = closeAll([approval]);
      if (closed.length === 0) return closed;
      return [...closed, ...closeAll(answeredBy(pending, answer).map((each) => each.approval))];
    },
    withdraw: (id, position) => (withdraw.run(position, id).changes > 0 ? [id] : []),
  };
}

/** The JSON of an optional field; null if it is absent. */
function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** The rows of `approvals`, with the teams of their agents. */
export const approvalQuery =
  "SELECT *, (SELECT r.team FROM runs r WHERE r.run_id = approvals.run_id) AS team FROM approvals";

/** The API row of a row of `approvalQuery`. */
export function toApprovalRow(row: Values): ApprovalRow {
  return ApprovalRow.parse({
    id: row.id,
    session: row.session_id,
    run: row.run_id,
    agent: row.agent,
    team: row.team ?? null,
    path: JSON.parse(String(row.path_json)),
    tool: row.tool,
    args: JSON.parse(String(row.args_json)),
    risk: row.risk,
    reason: row.reason,
    state: row.state,
    requestedAt: row.requested_at,
    answeredAt: row.answered_at,
    scope: row.scope,
    by: row.by_whom,
    answerReason: row.answer_reason,
    ...(row.losses_json === null ? {} : { losses: JSON.parse(String(row.losses_json)) }),
    ...(row.preview_json === null ? {} : { preview: JSON.parse(String(row.preview_json)) }),
  });
}
