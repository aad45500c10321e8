import { RecordStatus } from "@troupe/core/internal";
import type Database from "better-sqlite3";
import { z } from "zod";
import { Ask, DraftBudget, RequestType, type RunDraft, ToolCallNote } from "./draft.ts";
import { recordBailout } from "./projection.ts";

/** Keeps drafts as rows of `messages` and `runs`, and makes drafts of them again. */
export interface DraftTable {
  load(run: string): RunDraft | null;
  /** The session's row has to be there. */
  save(draft: RunDraft): void;
}

type Value = string | number | null;
type MessageValues = Record<(typeof messageColumns)[number], Value>;
type RunValues = Record<(typeof runColumns)[number], Value>;

interface StoredRow extends MessageColumns {
  message_id: number;
  session_id: string;
  run_id: string;
  parent_run: string | null;
  attempt: number;
  max_attempts: number;
  exact_status: string;
  tool_calls: number;
  activity: string | null;
  warnings_json: string;
  exact_bailout: string | null;
  cost_usd: number | null;
  max_tool_calls: number | null;
  budget_json: string | null;
  asks_json: string;
  paused: number;
  host: string | null;
  last_event_at: string;
  head_index: number;
  head_hash: string | null;
  position: number;
}

interface MessageColumns {
  started_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  agent_role: string;
  agent_depth: number;
  model_id: string | null;
  system_prompt_id: string | null;
  request_type: string;
  request_content: string;
  context_mode: string;
  context_token_count: number | null;
  response_content: string | null;
  response_summary: string | null;
  tool_calls_json: string;
  files_modified_json: string;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  iteration_count: number;
  max_iterations: number | null;
  max_duration_ms: number | null;
  status: string;
  error_message: string | null;
  metadata_json: string;
}

const messageColumns = [
  "started_at",
  "completed_at",
  "duration_ms",
  "agent_role",
  "agent_depth",
  "model_id",
  "system_prompt_id",
  "request_type",
  "request_content",
  "context_mode",
  "context_token_count",
  "response_content",
  "response_summary",
  "tool_calls_json",
  "files_modified_json",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "iteration_count",
  "max_iterations",
  "max_duration_ms",
  "bailout_reason",
  "status",
  "error_message",
  "metadata_json",
] as const;

const runColumns = [
  "attempt",
  "max_attempts",
  "status",
  "exact_status",
  "total_tokens",
  "tool_calls",
  "activity",
  "warnings_json",
  "exact_bailout",
  "cost_usd",
  "max_tool_calls",
  "budget_json",
  "asks_json",
  "paused",
  "host",
  "last_event_at",
  "head_index",
  "head_hash",
  "position",
] as const;

/** Values go by their places: to find them by name costs more than to store them. */
export function createDraftTable(database: Database.Database): DraftTable {
  const marks = (names: readonly string[]): string => names.map(() => "?").join(", ");
  const pairs = (names: readonly string[]): string => names.map((name) => `${name} = ?`).join(", ");
  const messageRow = (draft: RunDraft): Value[] => inOrder(messageColumns, messageValues(draft));
  const runRow = (draft: RunDraft): Value[] => inOrder(runColumns, runValues(draft));

  const select = database.prepare<[string], StoredRow>(
    `SELECT r.*, ${messageColumns.map((name) => `m.${name}`).join(", ")}
     FROM runs r JOIN messages m ON m.id = r.message_id WHERE r.run_id = ?`,
  );
  const messageOf = database.prepare<[string | null], number>("SELECT message_id FROM runs WHERE run_id = ?").pluck();
  const insertMessage = database.prepare<Value[]>(
    `INSERT INTO messages (session_id, parent_message_id, ${messageColumns.join(", ")})
     VALUES (?, ?, ${marks(messageColumns)})`,
  );
  const updateMessage = database.prepare<Value[]>(`UPDATE messages SET ${pairs(messageColumns)} WHERE id = ?`);
  const insertRun = database.prepare<Value[]>(
    `INSERT INTO runs (run_id, session_id, message_id, parent_run, seen, ${runColumns.join(", ")})
     VALUES (?, ?, ?, ?,
       (SELECT coalesce(max(seen), -1) + 1 FROM runs WHERE session_id = ?), ${marks(runColumns)})`,
  );
  const updateRun = database.prepare<Value[]>(`UPDATE runs SET ${pairs(runColumns)} WHERE run_id = ?`);
  const adopt = database.prepare<[number, string]>(
    "UPDATE messages SET parent_message_id = ? WHERE id IN (SELECT message_id FROM runs WHERE parent_run = ?)",
  );

  const insert = (draft: RunDraft): void => {
    const { session, run, parentRun } = draft;
    const parentMessage = messageOf.get(parentRun) ?? null;
    const { lastInsertRowid } = insertMessage.run(session, parentMessage, ...messageRow(draft));
    const messageId = Number(lastInsertRowid);
    insertRun.run(run, session, messageId, parentRun, session, ...runRow(draft));
    // Children that were heard of before their parent.
    adopt.run(messageId, run);
  };

  return {
    load(run) {
      // Asked first, because most that are looked for are new: a wide query costs much even where it finds nothing.
      if (messageOf.get(run) === undefined) return null;
      const row = select.get(run);
      return row ? fromRow(row) : null;
    },
    save(draft) {
      const messageId = messageOf.get(draft.run);
      if (messageId === undefined) return insert(draft);
      updateMessage.run(...messageRow(draft), messageId);
      updateRun.run(...runRow(draft), draft.run);
    },
  };
}

function inOrder<K extends string>(columns: readonly K[], values: Record<K, Value>): Value[] {
  return columns.map((column) => values[column]);
}

function messageValues(draft: RunDraft): MessageValues {
  return {
    started_at: draft.startedAt,
    completed_at: draft.completedAt,
    duration_ms: draft.durationMs,
    agent_role: draft.agent,
    agent_depth: draft.depth,
    model_id: draft.model,
    system_prompt_id: draft.systemPrompt,
    request_type: draft.requestType,
    request_content: draft.task,
    context_mode: draft.contextMode,
    context_token_count: draft.contextTokens,
    response_content: draft.details,
    response_summary: draft.summary,
    tool_calls_json: JSON.stringify(draft.toolCalls),
    files_modified_json: JSON.stringify(draft.files),
    prompt_tokens: draft.inputTokens,
    completion_tokens: draft.outputTokens,
    total_tokens: draft.totalTokens,
    iteration_count: draft.iterations,
    max_iterations: draft.maxIterations,
    max_duration_ms: draft.maxDurationMs,
    bailout_reason: recordBailout(draft),
    status: draft.status,
    error_message: draft.error,
    metadata_json: JSON.stringify(draft.metadata),
  };
}

function runValues(draft: RunDraft): RunValues {
  return {
    attempt: draft.attempt,
    max_attempts: draft.maxAttempts,
    status: draft.status,
    exact_status: draft.exactStatus,
    total_tokens: draft.totalTokens ?? 0,
    tool_calls: draft.toolCallCount,
    activity: draft.activity,
    warnings_json: JSON.stringify(draft.warnings),
    exact_bailout: draft.exactBailout,
    cost_usd: draft.costUsd,
    max_tool_calls: draft.maxToolCalls,
    budget_json: draft.budget && JSON.stringify(draft.budget),
    asks_json: JSON.stringify(draft.asks),
    paused: draft.paused ? 1 : 0,
    host: draft.host,
    last_event_at: draft.lastEventAt,
    head_index: draft.headIndex,
    head_hash: draft.headHash,
    position: draft.position,
  };
}

const Metadata = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

function fromRow(row: StoredRow): RunDraft {
  return {
    session: row.session_id,
    run: row.run_id,
    parentRun: row.parent_run,
    requestType: RequestType.parse(row.request_type),
    agent: row.agent_role,
    depth: row.agent_depth,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    task: row.request_content,
    contextMode: row.context_mode,
    contextTokens: row.context_token_count,
    model: row.model_id,
    systemPrompt: row.system_prompt_id,
    status: RecordStatus.parse(row.status),
    exactStatus: row.exact_status,
    asks: z.array(Ask).parse(JSON.parse(row.asks_json)),
    paused: row.paused === 1,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    durationMs: row.duration_ms,
    iterations: row.iteration_count,
    maxIterations: row.max_iterations,
    maxDurationMs: row.max_duration_ms,
    maxToolCalls: row.max_tool_calls,
    budget: row.budget_json === null ? null : DraftBudget.parse(JSON.parse(row.budget_json)),
    toolCalls: z.array(ToolCallNote).parse(JSON.parse(row.tool_calls_json)),
    toolCallCount: row.tool_calls,
    inputTokens: row.prompt_tokens,
    outputTokens: row.completion_tokens,
    totalTokens: row.total_tokens,
    costUsd: row.cost_usd,
    files: z.array(z.string()).parse(JSON.parse(row.files_modified_json)),
    activity: row.activity,
    details: row.response_content,
    summary: row.response_summary,
    error: row.error_message,
    exactBailout: row.exact_bailout,
    warnings: z.array(z.string()).parse(JSON.parse(row.warnings_json)),
    metadata: Metadata.parse(JSON.parse(row.metadata_json)),
    host: row.host,
    lastEventAt: row.last_event_at,
    headIndex: row.head_index,
    headHash: row.head_hash,
    position: row.position,
  };
}
