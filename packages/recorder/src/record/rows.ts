import { ApprovalRow, ChangeRow, RunRow, SessionRow } from "@troupe/core";
import { z } from "zod";

/** What the queries give, parsed into what the protocol speaks. */

const Texts = z.array(z.string());
const Sums = z.tuple([z.int(), z.int(), z.int(), z.number().nullable()]);
const Stored = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export type Stored = z.infer<typeof Stored>;

/** Sums are made of `runs` alone, which is narrow, and in one pass. One unknown cost makes their sum unknown. */
export const sessionQuery = `
  SELECT s.*, (
    SELECT json_array(count(*), coalesce(sum(r.status IN ('pending', 'running')), 0), coalesce(sum(r.total_tokens), 0),
      CASE WHEN count(r.cost_usd) = count(*) THEN total(r.cost_usd) END)
    FROM runs r WHERE r.session_id = s.session_id
  ) AS sums, (
    SELECT count(*) FROM approvals a WHERE a.session_id = s.session_id AND a.state = 'waiting'
  ) AS approvals_waiting
  FROM sessions s`;

export const runQuery = `
  SELECT r.*, m.started_at, m.completed_at, m.duration_ms, m.agent_role, m.agent_depth, m.model_id,
    m.request_content, m.context_mode, m.iteration_count, m.max_iterations, m.max_duration_ms, m.files_modified_json,
    m.response_summary, m.error_message
  FROM runs r JOIN messages m ON m.id = r.message_id`;

export function toSessionRow(row: Stored): SessionRow {
  const [runs, runsActive, totalTokens, costUsd] = Sums.parse(JSON.parse(String(row.sums)));
  return SessionRow.parse({
    session: row.session_id,
    rootRun: row.root_run,
    agent: row.agent,
    task: row.task,
    status: row.status,
    origin: row.origin,
    demo: row.demo === 1,
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
    approvalsWaiting: row.approvals_waiting,
  });
}

export function toRunRow(row: Stored, queuePosition: number | null): RunRow {
  return RunRow.parse({
    run: row.run_id,
    session: row.session_id,
    parentRun: row.parent_run,
    order: row.seen,
    agent: row.agent_role,
    depth: row.agent_depth,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    task: row.request_content,
    status: row.status,
    exactStatus: row.exact_status,
    queuePosition,
    contextMode: row.context_mode,
    model: row.model_id,
    host: row.host,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    durationMs: row.duration_ms,
    iterations: row.iteration_count,
    maxIterations: row.max_iterations,
    toolCalls: row.tool_calls,
    totalTokens: row.total_tokens,
    costUsd: row.cost_usd,
    maxToolCalls: row.max_tool_calls,
    maxDurationMs: row.max_duration_ms,
    budget: typeof row.budget_json === "string" ? JSON.parse(row.budget_json) : null,
    filesModified: listOf(row.files_modified_json),
    activity: row.activity,
    summary: row.response_summary,
    error: row.error_message,
    bailoutReason: row.exact_bailout,
    warnings: listOf(row.warnings_json),
    lastEventAt: row.last_event_at,
  });
}

export function toApprovalRow(row: Stored): ApprovalRow {
  return ApprovalRow.parse({
    id: row.id,
    session: row.session_id,
    run: row.run_id,
    agent: row.agent,
    path: listOf(row.path_json),
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
  });
}

export function toChangeRow(row: Stored): ChangeRow {
  return ChangeRow.parse({
    id: row.id,
    session: row.session_id,
    run: row.run_id,
    agent: row.agent,
    step: row.step,
    call: row.call,
    tool: row.tool,
    path: row.path,
    kind: row.kind,
    linesAdded: row.lines_added,
    linesRemoved: row.lines_removed,
    diff: row.diff,
    cut: row.cut === 1,
    at: row.at,
  });
}

function listOf(json: Stored[string] | undefined): string[] {
  return Texts.parse(JSON.parse(String(json)));
}
