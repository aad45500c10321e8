import type { Entry, ToolOutcome } from "@troupe/core";
import { filesOf } from "@troupe/core/internal";
import type { Database, SqlValue } from "../database/sqlite.ts";
import type { RunRecord, ToolCallRecord } from "./run-columns.ts";
import { toIso } from "./time.ts";

/** The row of `messages` for a finished tool call. Its parent is the row of the run that made the call. */
export interface ToolCallMessage {
  run: string;
  /** In the order of `columns`. */
  values: readonly SqlValue[];
}

type ToolFinished = Entry & { kind: "tool.finished" };

const columns: Readonly<Record<string, (run: RunRecord, call: ToolCallRecord, entry: ToolFinished) => SqlValue>> = {
  session_id: ({ session }) => session,
  started_at: (_run, _call, { at, outcome }) => toIso(at - outcome.durationMs),
  completed_at: (_run, _call, { at }) => toIso(at),
  duration_ms: (_run, _call, { outcome }) => outcome.durationMs,
  agent_role: ({ agent }) => agent,
  agent_depth: ({ depth }) => depth,
  model_id: ({ model }) => model,
  request_type: () => "tool_call",
  request_content: (_run, { name, args }) => JSON.stringify({ tool: name, args }),
  response_content: (_run, { outcome }) => outcome?.output ?? null,
  files_modified_json: (_run, _call, { outcome }) => JSON.stringify(changedFiles(outcome)),
  status: (_run, _call, { outcome }) => (outcome.error === null ? "completed" : "failed"),
  error_message: (_run, _call, { outcome }) => outcome.error?.message ?? null,
  metadata_json: ({ run }, { step, call }, { outcome }) =>
    JSON.stringify({ run_id: run, step, call, error_type: outcome.error?.type ?? null }),
};

/** Null for a call that no reply of the run asked for. A delegation has no such row: the row of the child stands for it. */
export function toolCallMessage(run: RunRecord, entry: ToolFinished): ToolCallMessage | null {
  const call = run.calls.find(({ step, call }) => step === entry.step && call === entry.call);
  return call ? { run: run.run, values: Object.values(columns).map((read) => read(run, call, entry)) } : null;
}

/** Inserts a row. The row of the run must exist. */
export function createToolCallInsert(database: Database): (message: ToolCallMessage) => void {
  const names = Object.keys(columns);
  const insert = database.prepare<SqlValue[]>(
    `INSERT INTO messages (parent_message_id, ${names.join(", ")})
     VALUES ((SELECT message_id FROM runs WHERE run_id = ?), ${names.map(() => "?").join(", ")})`,
  );
  return ({ run, values }) => void insert.run(run, ...values);
}

function changedFiles(outcome: ToolOutcome): string[] {
  const { filesCreated, filesModified, filesDeleted } = filesOf(outcome);
  return [...new Set([...filesCreated, ...filesModified, ...filesDeleted])];
}
