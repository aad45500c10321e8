import { RunRow, SessionRow } from "@troupe/core";
import { z } from "zod";

/** What the queries give, parsed into what the protocol speaks. */

const Texts = z.array(z.string());
const Sums = z.tuple([z.int(), z.int(), z.int()]);
const Stored = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export type Stored = z.infer<typeof Stored>;

/** Sums are made of `runs` alone, which is narrow, and in one pass. */
export const sessionQuery = `
  SELECT s.*, (
    SELECT json_array(count(*), coalesce(sum(r.status IN ('pending', 'running')), 0), coalesce(sum(r.total_tokens), 0))
    FROM runs r WHERE r.session_id = s.session_id
  ) AS sums
  FROM sessions s`;

export const runQuery = `
  SELECT r.*, m.started_at, m.completed_at, m.duration_ms, m.agent_role, m.agent_depth, m.model_id,
    m.request_content, m.iteration_count, m.max_iterations, m.files_modified_json, m.response_summary, m.error_message
  FROM runs r JOIN messages m ON m.id = r.message_id`;

export function toSessionRow(row: Stored): SessionRow {
  const [runs, runsActive, totalTokens] = Sums.parse(JSON.parse(String(row.sums)));
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
    runs,
    runsActive,
    totalTokens,
  });
}

export function toRunRow(row: Stored): RunRow {
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
    model: row.model_id,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    durationMs: row.duration_ms,
    iterations: row.iteration_count,
    maxIterations: row.max_iterations,
    toolCalls: row.tool_calls,
    totalTokens: row.total_tokens,
    filesModified: listOf(row.files_modified_json),
    activity: row.activity,
    summary: row.response_summary,
    error: row.error_message,
    bailoutReason: row.exact_bailout,
    warnings: listOf(row.warnings_json),
    lastEventAt: row.last_event_at,
  });
}

function listOf(json: Stored[string] | undefined): string[] {
  return Texts.parse(JSON.parse(String(json)));
}
