import { Budget, type RunRow } from "@troupe/core";
import { ContextMode, isDelegate, RecordStatus, RunAllowance } from "@troupe/core/internal";
import { z } from "zod";
import type { SqlValue } from "../database/sqlite.ts";

const CallOutcome = z.object({
  ok: z.boolean(),
  output: z.string(),
  error: z.string().nullable(),
  in_doubt: z.boolean(),
});
export type CallOutcome = z.infer<typeof CallOutcome>;

/** One child of a delegate call. A call can ask for several children at once. */
const ChildRecord = z.object({
  item: z.int(),
  /** The model's name for the child within its batch. */
  name: z.string(),
  agent: z.string(),
  /** Run id of the newest attempt. */
  run_id: z.string(),
  outcome: CallOutcome.nullable(),
  duration_ms: z.number().nullable(),
});
export type ChildRecord = z.infer<typeof ChildRecord>;

/** One tool call in `tool_calls_json`. Long texts are cut in this column; the table `entries` has them in full. */
const ToolCallRecord = z.object({
  step: z.int(),
  call: z.int(),
  name: z.string(),
  args: z.json(),
  /**
   * Null while the call runs, and for good if the run ends before the call. A call with several children has an outcome
   * once all of them have settled.
   */
  outcome: CallOutcome.nullable(),
  /** Also null for a call with several children: each child has its own duration. */
  duration_ms: z.number().nullable(),
  children: z.array(ChildRecord).exactOptional(),
});
export type ToolCallRecord = z.infer<typeof ToolCallRecord>;

/** An approval that a call of the run waits for. */
const PendingApproval = z.object({
  approval: z.string(),
  tool: z.string().nullable(),
  step: z.int(),
  call: z.int(),
  /** The calls that an answer for the rest of the run covers. Absent: every call of the tool. */
  reach: RunAllowance.exactOptional(),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

export type RunTableName = "messages" | "runs";

/** The SQL form of one type of value. `decode` does not validate; `schema` does. */
export interface Codec<T> {
  readonly type: "TEXT" | "INTEGER" | "REAL";
  readonly schema: z.ZodType<T>;
  encode(value: T): SqlValue;
  decode(value: SqlValue): unknown;
}

/** Adds a column to existing databases. A released migration never changes. */
interface ColumnMigration {
  version: number;
  sql: string;
}

export interface RunField<T> extends Codec<T> {
  readonly table: RunTableName;
  readonly column: string;
  /** Value in a queued run. Undefined if the request gives the value. */
  readonly initial?: T | undefined;
  /** Written once, with the row itself. */
  readonly isKey: boolean;
  readonly addedBy?: ColumnMigration | undefined;
}

interface DeclareColumn {
  <T>(column: string, codec: Codec<T>): RunField<T>;
  <T>(column: string, codec: Codec<T>, initial: NoInfer<T>, addedBy?: ColumnMigration): RunField<T> & { initial: T };
}

function columnsOf(table: RunTableName): DeclareColumn {
  return <T>(column: string, codec: Codec<T>, initial?: T, addedBy?: ColumnMigration) => {
    return { ...codec, table, column, initial: initial as T, isKey: false, addedBy };
  };
}

function key<T>(column: string, codec: Codec<T>): RunField<T> {
  return { ...codec, table: "runs", column, isKey: true };
}

function plain<T extends SqlValue>(type: Codec<T>["type"], schema: z.ZodType<T>): Codec<T> {
  return { type, schema, encode: (value) => value, decode: (value) => value };
}

function json<T>(schema: z.ZodType<T>): Codec<T> {
  return {
    type: "TEXT",
    schema,
    encode: (value) => (value === null ? null : JSON.stringify(value)),
    decode: (value) => (value === null ? null : JSON.parse(String(value))),
  };
}

const text = plain("TEXT", z.string());
const textOrNull = plain("TEXT", z.string().nullable());
const number = plain("INTEGER", z.number());
const numberOrNull = plain("INTEGER", z.number().nullable());
const texts = json(z.array(z.string()));
const flag: Codec<boolean> = {
  type: "INTEGER",
  schema: z.boolean(),
  encode: (value) => (value ? 1 : 0),
  decode: (value) => value === 1,
};

const inMessages = columnsOf("messages");
const inRuns = columnsOf("runs");

type ApiField = Exclude<keyof RunRow, "order" | "queuePosition" | "isCut">;

/**
 * Everything that the record keeps about one run: the column of each field, its SQL type, and its value in a queued run.
 * The statements, the loader and the API row are derived from this table.
 *
 * A field whose name is in core's `RunRow` is part of the API row. Only `order` and `queuePosition` are computed.
 *
 * To add a column: add a line here with its migration, set the value in `projection.ts`, and add it to `RunRow`. The
 * migration's version is `recordVersion` + 1: `table-migrations.ts` and this table share one sequence of versions.
 */
export const runFields = {
  session: key("session_id", text),
  run: key("run_id", text),
  parentRun: key("parent_run", textOrNull),
  /** The requester: a user, a parent run, or a user in a later turn. */
  requestType: inMessages("request_type", plain("TEXT", z.enum(["prompt", "delegation", "continuation"]))),
  agent: inMessages("agent_role", text),
  /** NULL for an agent without a team, and until the run is open. */
  team: inRuns("team", textOrNull, null, {
    version: 14,
    sql: `
ALTER TABLE runs ADD COLUMN team TEXT;
UPDATE runs SET team = (
  SELECT json_extract(e.text, '$.pin.definition.team') FROM entries e WHERE e.run_id = runs.run_id AND e.idx = 0
  ORDER BY e.position LIMIT 1
);
`,
  }),
  depth: inMessages("agent_depth", number),
  attempt: inRuns("attempt", number),
  maxAttempts: inRuns("max_attempts", number),
  task: inMessages("request_content", text),
  contextMode: inMessages("context_mode", plain("TEXT", ContextMode)),
  contextTokens: inMessages("context_token_count", numberOrNull, null),
  model: inMessages("model_id", textOrNull, null),
  systemPrompt: inMessages("system_prompt_id", textOrNull, null),
  status: inMessages("status", plain("TEXT", RecordStatus), "pending"),
  /** The status of the agent machine. */
  exactStatus: inRuns("exact_status", text, "queued"),
  /** Approvals without an answer. */
  pendingApprovals: inRuns("asks_json", json(z.array(PendingApproval)), []),
  paused: inRuns("paused", flag, false),
  startedAt: inMessages("started_at", text),
  completedAt: inMessages("completed_at", textOrNull, null),
  durationMs: inMessages("duration_ms", numberOrNull, null),
  iterations: inMessages("iteration_count", number, 0),
  maxIterations: inMessages("max_iterations", numberOrNull, null),
  maxDurationMs: inMessages("max_duration_ms", numberOrNull, null),
  maxToolCalls: inRuns("max_tool_calls", numberOrNull, null),
  /** Null until the run has opened. */
  budget: inRuns("budget_json", json(Budget.nullable()), null),
  calls: inMessages("tool_calls_json", json(z.array(ToolCallRecord)), []),
  /** Number of tool calls. Once the run has settled, the number in its response. */
  toolCalls: inRuns("tool_calls", number, 0),
  inputTokens: inMessages("prompt_tokens", numberOrNull, null),
  outputTokens: inMessages("completion_tokens", numberOrNull, null),
  totalTokens: inRuns("total_tokens", number, 0),
  /** Null once the price of any reply is unknown. */
  costUsd: inRuns("cost_usd", plain("REAL", z.number().nullable()), 0),
  /** The part of the tokens for calls that were stopped or lost. If it is not 0, the cost is an estimate too. */
  estimatedTokens: inRuns("estimated_tokens", number, 0, {
    version: 9,
    sql: "ALTER TABLE runs ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0;",
  }),
  /** The part of the cost that is an estimate. NULL if the price is unknown. */
  estimatedCostUsd: inRuns("estimated_cost_usd", plain("REAL", z.number().nullable()), 0, {
    version: 10,
    sql: "ALTER TABLE runs ADD COLUMN estimated_cost_usd REAL DEFAULT 0;",
  }),
  filesModified: inMessages("files_modified_json", texts, []),
  activity: inRuns("activity", textOrNull, "queued"),
  details: inMessages("response_content", textOrNull, null),
  summary: inMessages("response_summary", textOrNull, null),
  /** NULL until the run completes, and for an answer that states no confidence. */
  confidence: inRuns("confidence", plain("REAL", z.number().nullable()), null, {
    version: 7,
    sql: "ALTER TABLE runs ADD COLUMN confidence REAL;",
  }),
  error: inMessages("error_message", textOrNull, null),
  bailoutReason: inRuns("exact_bailout", textOrNull, null),
  /** The limit that left the last turn without tools. */
  answerOnly: inRuns("answer_only", textOrNull, null, {
    version: 11,
    sql: "ALTER TABLE runs ADD COLUMN answer_only TEXT;",
  }),
  warnings: inRuns("warnings_json", texts, []),
  /** The exact status, attempt, bailout and cost, for readers of the SQL file. */
  metadata: inMessages("metadata_json", json(z.record(z.string(), z.union([z.string(), z.number(), z.null()])))),
  /** The host that wrote the newest entry. */
  host: inRuns("host", textOrNull, null, {
    version: 6,
    sql: `
ALTER TABLE runs ADD COLUMN host TEXT;
UPDATE runs SET host = (
  SELECT json_extract(e.text, '$.host') FROM entries e
  WHERE e.run_id = runs.run_id AND e.idx = runs.head_index AND e.hash = runs.head_hash
);
`,
  }),
  lastEventAt: inRuns("last_event_at", text),
  headIndex: inRuns("head_index", number, -1),
  headHash: inRuns("head_hash", textOrNull, null),
  position: inRuns("position", number, 0),
} satisfies { [K in ApiField]: RunField<RunRow[K]> } & Record<string, RunField<unknown>>;

type RunFields = typeof runFields;

/**
 * The complete state of one run in the record. The next entry changes it as a function of the state and the entry alone,
 * so a recorder can stop and resume at any position of the feed.
 */
export type RunRecord = { readonly [K in keyof RunFields]: Readonly<z.infer<RunFields[K]["schema"]>> };

type FieldWithInitial = {
  [K in keyof RunFields]: RunFields[K] extends { initial: unknown } ? K : never;
}[keyof RunFields];

/** The fields that a request gives. */
export type RequestedFields = Omit<RunRecord, FieldWithInitial>;

export const runFieldEntries = Object.entries(runFields) as [keyof RunRecord, RunField<unknown>][];

const initialFields = Object.fromEntries(
  runFieldEntries.flatMap(([name, { initial }]) => (initial === undefined ? [] : [[name, initial]])),
) as Pick<RunRecord, FieldWithInitial>;

const RunRecordSchema = z.object(Object.fromEntries(runFieldEntries.map(([name, { schema }]) => [name, schema])));

/** A run that no host has opened. */
export function queuedRecord(requested: RequestedFields): RunRecord {
  return { ...initialFields, ...requested };
}

/** A record from a row that has one SQL value per field, by the names of the fields. */
export function decodeRunRecord(row: Record<string, SqlValue>): RunRecord {
  return RunRecordSchema.parse(decodeFields(row)) as RunRecord;
}

/** Decodes the fields of a row without validating them. Other values of the row stay as they are. */
export function decodeFields(row: Record<string, SqlValue>): Record<string, unknown> {
  const fields: Readonly<Record<string, RunField<unknown>>> = runFields;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, fields[name] ? fields[name].decode(value) : value]),
  );
}

/** SQL by schema version, for versions that only add columns for fields. */
export const columnMigrations: Readonly<Record<number, string>> = Object.fromEntries(
  runFieldEntries.flatMap(([, { addedBy }]) => (addedBy ? [[addedBy.version, addedBy.sql]] : [])),
);

/** Children of the newest step that have not settled. */
export function openChildren({ calls }: Pick<RunRecord, "calls">): number {
  const step = calls.at(-1)?.step;
  const open = calls.filter((call) => call.step === step && call.outcome === null && isDelegate(call.name));
  return open.reduce((sum, { children }) => sum + (children?.filter(isOpen).length ?? 1), 0);
}

export function isOpen({ outcome }: ChildRecord): boolean {
  return outcome === null;
}
