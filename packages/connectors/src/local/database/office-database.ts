import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createPrivateFile } from "../../files/private-file.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { tables } from "./tables.ts";

/** A value of a parameter. A row id must be a bigint: FTS5 ignores a limit on its row id that is bound as REAL. */
export type Bound = string | number | bigint | null | Uint8Array;

/** The SQLite file of a local office. Each statement is prepared once. */
export interface OfficeDatabase {
  all<Row>(sql: string, ...values: Bound[]): Row[];
  get<Row>(sql: string, ...values: Bound[]): Row | undefined;
  /** Returns the number of changed rows. */
  run(sql: string, ...values: Bound[]): number;
  /** Everything within `act` happens, or nothing. Within another transaction it is a part of that one. */
  transaction<Result>(act: () => Result): Result;
  close(): void;
}

/** "OFIC": prevents writes to the database of another program. */
const applicationId = 0x4f464943;
const busyTimeoutMs = 10_000;

/** Opens `office.db` in a folder, and creates both if they do not exist. */
export function openOfficeDatabase(folder: string): OfficeDatabase {
  const file = join(folder, "office.db");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    createPrivateFile(file);
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    return wrap(prepared(new DatabaseSync(file), file));
  } catch (cause) {
    if (cause instanceof ConnectorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectorError("tool_error", `cannot open ${file}: ${reason}`, {
      fix: "use a folder that you can write to, and whose office.db no other program made",
      cause,
    });
  }
}

/** An office in memory, for the copy of a remote account. */
export function openMemoryOffice(): OfficeDatabase {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return wrap(prepared(new DatabaseSync(":memory:"), "the memory"));
}

function prepared(database: DatabaseSync, file: string): DatabaseSync {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -32000",
  );
  database.exec("BEGIN IMMEDIATE");
  try {
    migrate(database, file);
    database.exec("COMMIT");
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function migrate(database: DatabaseSync, file: string): void {
  const owner = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  if (owner !== applicationId && (owner !== 0 || version !== 0)) {
    throw new ConnectorError("tool_error", `${file} is the database of another program`, { fix: "use another folder" });
  }
  if (version > tables.length) {
    const message = `${file} has version ${version}, but this troupe supports only versions up to ${tables.length}`;
    throw new ConnectorError("tool_error", message, { fix: "npm install -g @troupe/cli@latest" });
  }
  for (const sql of tables.slice(version)) database.exec(sql);
  if (version === tables.length) return;
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${tables.length}`);
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

function wrap(database: DatabaseSync): OfficeDatabase {
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    // The only place that gives rows a type: the caller knows the columns of its query.
    all: <Row>(sql: string, ...values: Bound[]) => statement(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: Bound[]) => statement(sql).get(...values) as Row | undefined,
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
    transaction: (act) => (database.isTransaction ? act() : inTransaction(database, act)),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

function inTransaction<Result>(database: DatabaseSync, act: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = act();
    database.exec("COMMIT");
    return result;
  } catch (thrown) {
    // After some errors, like a full disk, SQLite has rolled back by itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}
