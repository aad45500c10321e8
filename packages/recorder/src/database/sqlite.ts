import type { DatabaseSync } from "node:sqlite";

/** A connection to a SQLite file, by the SQLite of Node. See docs/adr/0029-sqlite-of-node.md. */
export interface Database {
  /** Runs SQL without parameters. It can have several statements. */
  exec(sql: string): void;
  /** Runs a pragma, like `user_version` or `user_version = 3`, and returns its first value. */
  pragma(text: string): SqlValue | undefined;
  prepare<Params extends readonly SqlParameter[] = [], Row = unknown>(sql: string): Statement<Params, Row>;
  /** Prepares a query of one column. Its statement returns values, not rows. */
  prepareValue<Params extends readonly SqlParameter[], Value>(sql: string): Statement<Params, Value>;
  /**
   * Makes a function that runs `act` in one transaction. The transaction takes the write lock at its start, because a
   * later upgrade of a read lock can fail. An error undoes everything. Transactions do not nest.
   */
  transaction<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result;
  /** Defines an SQL function. */
  function(name: string, act: () => SqlValue): void;
  /** Frees the file. A second call does nothing. */
  close(): void;
}

/**
 * A prepared statement. Rows have no prototype. An integer above 2^53 in a row throws. A number is bound as REAL: a column
 * of type INTEGER stores it as an integer; elsewhere write `CAST(? AS INTEGER)`.
 */
export interface Statement<Params extends readonly unknown[], Row> {
  /** Returns the first row. */
  get(...params: Params): Row | undefined;
  all(...params: Params): Row[];
  /** Reads row by row. Do not write to the same tables meanwhile. */
  iterate(...params: Params): Iterable<Row>;
  run(...params: Params): { changes: number | bigint; lastInsertRowid: number | bigint };
}

export type SqlValue = string | number | null;
export type SqlParameter = SqlValue | Uint8Array | Record<string, SqlValue>;

export interface OpenSqliteOptions {
  /** Opens an existing file, and never changes it. Default: false. */
  readOnly?: boolean;
  /** How long a statement waits for the lock of another connection. Default: 5000. */
  busyTimeoutMs?: number;
}

/**
 * Opens a SQLite file, and creates it if it does not exist. Errors of SQLite have a code: see `sqliteCodeOf`.
 *
 * @example
 * const database = openSqlite("/tmp/notes.db");
 * database.exec("CREATE TABLE notes (text TEXT)");
 * database.prepare<[string], never>("INSERT INTO notes VALUES (?)").run("hello");
 * database.prepareValue<[], string>("SELECT text FROM notes").all(); // ["hello"]
 * database.close();
 */
export function openSqlite(
  file: string,
  { readOnly = false, busyTimeoutMs = 5_000 }: OpenSqliteOptions = {},
): Database {
  const database = new (loadSqlite().DatabaseSync)(file, { readOnly });
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  let isOpen = true;
  return {
    exec: (sql) => database.exec(sql),
    pragma: (text) => firstValue<SqlValue>(database.prepare(`PRAGMA ${text}`).get()),
    // The only place that gives rows a type: the caller knows the columns of its query.
    prepare: <Params extends readonly SqlParameter[], Row>(sql: string) =>
      database.prepare(sql) as unknown as Statement<Params, Row>,
    prepareValue: (sql) => valueStatement(database, sql),
    transaction: (act) => transactional(database, act),
    function: (name, act) => database.function(name, act),
    close() {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
}

function valueStatement<Params extends readonly SqlParameter[], Value>(
  database: DatabaseSync,
  sql: string,
): Statement<Params, Value> {
  const statement = database.prepare(sql) as unknown as Statement<Params, Record<string, unknown>>;
  return {
    get: (...params) => firstValue<Value>(statement.get(...params)),
    all: (...params) => statement.all(...params).map((row) => firstValue<Value>(row) as Value),
    *iterate(...params) {
      for (const row of statement.iterate(...params)) yield firstValue<Value>(row) as Value;
    },
    run: statement.run.bind(statement),
  };
}

function firstValue<Value>(row: Record<string, unknown> | undefined): Value | undefined {
  for (const column in row) return row[column] as Value;
  return undefined;
}

function transactional<Args extends unknown[], Result>(
  database: DatabaseSync,
  act: (...args: Args) => Result,
): (...args: Args) => Result {
  const [begin, commit, rollback] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => database.prepare(sql));
  return (...args) => {
    begin?.run();
    try {
      const result = act(...args);
      commit?.run();
      return result;
    } catch (thrown) {
      try {
        rollback?.run();
      } catch {
        // After some errors, like a full disk, SQLite has rolled back by itself.
      }
      throw thrown;
    }
  };
}

/** The primary result codes of SQLite. The index is the number. */
const codeNames = (
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY " +
  "SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB"
).split(" ");

/**
 * The code of an error of SQLite, like `SQLITE_BUSY`, with the number of an extended code: `SQLITE_IOERR 1034`. Null for
 * any other error.
 */
export function sqliteCodeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number")) return null;
  const { errcode } = thrown;
  const name = `SQLITE_${codeNames[errcode & 0xff] ?? "ERROR"}`;
  return errcode > 0xff ? `${name} ${errcode}` : name;
}

export function isBusy(thrown: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCodeOf(thrown) ?? "");
}

/** Loads SQLite without the warning that it is experimental, which Node before 24.15 prints. An older Node has no SQLite. */
function loadSqlite(): typeof import("node:sqlite") {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const sqlite: typeof import("node:sqlite") | undefined = process.getBuiltinModule("node:sqlite");
    if (sqlite) return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
  const reason = `troupe needs the SQLite of Node 22.13 or later; this is Node ${process.versions.node}`;
  throw Object.assign(new Error(reason), { code: "UNSUPPORTED_NODE" });
}
