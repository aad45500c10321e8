import { RunRow } from "@troupe/core";
import type { Database, SqlValue } from "../database/sqlite.ts";
import {
  decodeFields,
  decodeRunRecord,
  type RunField,
  type RunRecord,
  type RunTableName,
  runFieldEntries,
} from "./run-columns.ts";
import { createToolCallInsert, type ToolCallMessage } from "./tool-call-messages.ts";

/** Settled runs leave the cache at once. Of open runs it keeps this many and loads the others again when needed. */
const cachedMax = 20_000;

/** The runs of the record, written as rows of `messages` and `runs`. Changes stay in memory until `flush`. */
export interface RunTable {
  get(run: string): RunRecord | null;
  /** The session's row must exist before `flush`. */
  set(record: RunRecord): void;
  /** The run must have been set before. */
  addToolCall(message: ToolCallMessage): void;
  /** Writes and returns the records that were set since the last flush, in the order of their first `set`. */
  flush(): RunRecord[];
  /** Drops the cache. Call it after a failed transaction: records in memory may never have been stored. */
  forget(): void;
}

export function createRunTable(database: Database): RunTable {
  const statements = createStatements(database);
  const cached = new Map<string, RunRecord>();
  const insertToolCall = createToolCallInsert(database);
  /** Ids of runs, and tool calls. Their order does not depend on the size of a batch, and so neither do the row ids. */
  const changed = new Set<string | ToolCallMessage>();

  const trim = (): void => {
    for (const [run, record] of cached) {
      if (cached.size <= cachedMax) return;
      if (!changed.has(record.run)) cached.delete(run);
    }
  };

  return {
    get(run) {
      const known = cached.get(run) ?? statements.load(run);
      if (known) cached.set(run, known);
      return known;
    },
    set(record) {
      cached.delete(record.run);
      cached.set(record.run, record);
      changed.add(record.run);
    },
    addToolCall: (message) => void changed.add(message),
    flush() {
      const records: RunRecord[] = [];
      for (const change of changed) {
        if (typeof change !== "string") {
          insertToolCall(change);
          continue;
        }
        const record = cached.get(change);
        if (!record) continue;
        statements.save(record);
        records.push(record);
      }
      changed.clear();
      for (const { run, completedAt } of records) if (completedAt !== null) cached.delete(run);
      trim();
      return records;
    },
    forget() {
      cached.clear();
      changed.clear();
    },
  };
}

interface WrittenColumn {
  table: RunTableName;
  column: string;
  encodeFrom(record: RunRecord): SqlValue;
}

/** Columns whose values follow from the fields. Those of `messages` are for readers of the SQL file. */
const derivedColumns: readonly WrittenColumn[] = [
  { table: "messages", column: "bailout_reason", encodeFrom: bailoutWord },
  // Null until the first usage is known.
  {
    table: "messages",
    column: "total_tokens",
    encodeFrom: ({ inputTokens, totalTokens }) => (inputTokens === null ? null : totalTokens),
  },
  { table: "runs", column: "status", encodeFrom: ({ status }) => status },
];

const writtenColumns: readonly WrittenColumn[] = [
  ...runFieldEntries
    .filter(([, { isKey }]) => !isKey)
    .map(([name, field]) => ({ ...field, encodeFrom: (record: RunRecord) => field.encode(record[name]) })),
  ...derivedColumns,
];

/** A value of the column `bailout_reason`. The exact reason is in `metadata_json`. */
export function bailoutWord(record: Pick<RunRecord, "exactStatus" | "bailoutReason">): string | null {
  if (record.exactStatus === "timeout") return "timeout";
  if (record.bailoutReason === null) return record.exactStatus === "bailed_out" ? "error" : null;
  return ["timeout", "max_iterations"].includes(record.bailoutReason) ? record.bailoutReason : "error";
}

/** Values are bound by position: binding them by name costs more than storing them. */
function createStatements(database: Database) {
  const message = columnsOf("messages");
  const run = columnsOf("runs");
  const select = database.prepare<[string], Record<string, SqlValue>>(
    `SELECT ${selectList(runFieldEntries)} FROM runs r JOIN messages m ON m.id = r.message_id WHERE r.run_id = ?`,
  );
  const messageOf = database.prepareValue<[string | null], number>("SELECT message_id FROM runs WHERE run_id = ?");
  const insertMessage = database.prepare<SqlValue[]>(
    `INSERT INTO messages (session_id, parent_message_id, ${message.names}) VALUES (?, ?, ${message.marks})`,
  );
  const updateMessage = database.prepare<SqlValue[]>(`UPDATE messages SET ${message.pairs} WHERE id = ?`);
  const insertRun = database.prepare<SqlValue[]>(
    `INSERT INTO runs (run_id, session_id, message_id, parent_run, seen, ${run.names})
     VALUES (?, ?, ?, ?, (SELECT coalesce(max(seen), -1) + 1 FROM runs WHERE session_id = ?), ${run.marks})`,
  );
  const updateRun = database.prepare<SqlValue[]>(`UPDATE runs SET ${run.pairs} WHERE run_id = ?`);
  const linkChildren = database.prepare<[number, string]>(
    "UPDATE messages SET parent_message_id = ? WHERE id IN (SELECT message_id FROM runs WHERE parent_run = ?)",
  );

  const insert = (record: RunRecord): void => {
    const { session, parentRun } = record;
    const parentMessage = messageOf.get(parentRun) ?? null;
    const { lastInsertRowid } = insertMessage.run(session, parentMessage, ...message.encodeAll(record));
    const messageId = Number(lastInsertRowid);
    insertRun.run(record.run, session, messageId, parentRun, session, ...run.encodeAll(record));
    // Children can be recorded before their parent.
    linkChildren.run(messageId, record.run);
  };
  const update = (record: RunRecord, messageId: number): void => {
    updateMessage.run(...message.encodeAll(record), messageId);
    updateRun.run(...run.encodeAll(record), record.run);
  };

  return {
    load(id: string): RunRecord | null {
      // Most runs that are looked up are new, and the wide query is slow even if it finds no row.
      if (messageOf.get(id) === undefined) return null;
      const row = select.get(id);
      return row ? decodeRunRecord(row) : null;
    },
    save(record: RunRecord): void {
      const messageId = messageOf.get(record.run);
      if (messageId === undefined) insert(record);
      else update(record, messageId);
    },
  };
}

function columnsOf(table: RunTableName) {
  const columns = writtenColumns.filter((column) => column.table === table);
  return {
    names: columns.map(({ column }) => column).join(", "),
    marks: columns.map(() => "?").join(", "),
    pairs: columns.map(({ column }) => `${column} = ?`).join(", "),
    encodeAll: (record: RunRecord): SqlValue[] => columns.map(({ encodeFrom }) => encodeFrom(record)),
  };
}

function selectList(fields: readonly [string, Pick<RunField<unknown>, "table" | "column">][]): string {
  return fields.map(([name, { table, column }]) => `${table === "runs" ? "r" : "m"}.${column} AS "${name}"`).join(", ");
}

/** A row of `runQuery`. */
export type StoredRunRow = Record<string, SqlValue>;

/** Selects only the columns of the API row: the other columns of `messages` are large. */
export const runQuery = `
  SELECT ${selectList(runFieldEntries.filter(([name]) => Object.hasOwn(RunRow.shape, name)))}, r.seen AS "order"
  FROM runs r JOIN messages m ON m.id = r.message_id`;

/**
 * Makes API rows of the rows of `runQuery`. The queue of a parent is read once for all of its rows: counting for each row
 * would be quadratic.
 */
export function createRunRows(database: Database): (rows: readonly StoredRunRow[]) => RunRow[] {
  const queueOf = database.prepareValue<[SqlValue], string>(
    "SELECT run_id FROM runs WHERE parent_run = ? AND exact_status = 'queued' ORDER BY seen",
  );

  return (rows) => {
    const queued = rows.filter((row) => row.exactStatus === "queued");
    const parents = new Set(queued.map((row) => row.parentRun ?? null));
    const queues = [...parents].map((parent) => queueOf.all(parent));
    const positions = new Map<unknown, number>(queues.flatMap((queue) => queue.map((run, i) => [run, i + 1])));
    return rows.map((row) => RunRow.parse({ ...decodeFields(row), queuePosition: positions.get(row.run) ?? null }));
  };
}
