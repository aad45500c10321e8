import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, isBusy, openSqlite, sqliteCodeOf } from "./sqlite.ts";

/** Features of this Node's SQLite that the journal, the record and the lock of a home need. */

let folder: string;
let file: string;
let database: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-sqlite-"));
  file = join(folder, "notes.db");
  database = openSqlite(file);
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, size INTEGER)");
});
afterEach(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

const add = (text: string, size = text.length) =>
  database.prepare<[string, number]>("INSERT INTO notes (text, size) VALUES (?, ?)").run(text, size);
const texts = () => database.prepareValue<[], string>("SELECT text FROM notes ORDER BY id").all();

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

describe("statements", () => {
  it("bind by position and by name, and return rows, values and row ids", () => {
    expect(add("one")).toEqual({ changes: 1, lastInsertRowid: 1 });
    expect(add("two")).toEqual({ changes: 1, lastInsertRowid: 2 });
    const bySize = database.prepare<[{ size: number }], { text: string }>("SELECT text FROM notes WHERE size = :size");
    expect(bySize.all({ size: 3 })).toEqual([{ text: "one" }, { text: "two" }]);
    expect(bySize.get({ size: 9 })).toBeUndefined();
    const byId = database.prepareValue<[number], string>("SELECT text FROM notes WHERE id >= ? ORDER BY id");
    expect(byId.get(2)).toBe("two");
    expect(byId.get(3)).toBeUndefined();
    expect([...byId.iterate(1)]).toEqual(["one", "two"]);
  });

  it("store whole numbers as integers in an INTEGER column, also large ones", () => {
    add("large", Number.MAX_SAFE_INTEGER);
    expect(database.prepare("SELECT size, typeof(size) AS type FROM notes").get()).toEqual({
      size: Number.MAX_SAFE_INTEGER,
      type: "integer",
    });
  });

  it("free the file when a reader stops in the middle", () => {
    for (const text of ["one", "two", "three"]) add(text);
    for (const _row of database.prepare("SELECT * FROM notes").iterate()) break;
    const other = openSqlite(file, { busyTimeoutMs: 0 });
    other.exec("BEGIN EXCLUSIVE; DELETE FROM notes; COMMIT");
    other.close();
    expect(texts()).toEqual([]);
  });
});

describe("a transaction", () => {
  it("returns the value of its function", () => {
    expect(database.transaction((a: number, b: number) => a + b)(1, 2)).toBe(3);
  });

  it("undoes everything after an error, passes the error on, and can be repeated", () => {
    const addAll = database.transaction((all: readonly string[]) => {
      for (const text of all) add(text);
    });
    expect(sqliteCodeOf(thrownBy(() => addAll(["one", "one"])))).toMatch(/^SQLITE_CONSTRAINT \d+$/);
    expect(texts()).toEqual([]);
    addAll(["one"]);
    expect(texts()).toEqual(["one"]);
  });

  it("passes on the error of a full disk, after which SQLite has rolled back by itself", () => {
    database.pragma(`max_page_count = ${Number(database.pragma("page_count")) + 1}`);
    const addLarge = database.transaction(() => add("large".repeat(10_000)));
    expect(sqliteCodeOf(thrownBy(addLarge))).toBe("SQLITE_FULL");
    expect(database.transaction(() => texts())()).toEqual([]);
  });

  it("takes the write lock at its start", () => {
    const other = openSqlite(file, { busyTimeoutMs: 0 });
    const nothing = other.transaction(() => {});
    database.transaction(() => expect(isBusy(thrownBy(nothing))).toBe(true))();
    nothing();
    other.close();
  });
});

describe("opening", () => {
  it("waits for locks for five seconds, or for as long as it is told", () => {
    expect(database.pragma("busy_timeout")).toBe(5_000);
    const other = openSqlite(file, { busyTimeoutMs: 7 });
    expect(other.pragma("busy_timeout")).toBe(7);
    other.close();
  });

  it("for reading creates nothing and changes nothing", () => {
    const missing = join(folder, "missing.db");
    expect(sqliteCodeOf(thrownBy(() => openSqlite(missing, { readOnly: true })))).toBe("SQLITE_CANTOPEN");
    expect(existsSync(missing)).toBe(false);
    const reader = openSqlite(file, { readOnly: true });
    expect(sqliteCodeOf(thrownBy(() => reader.exec("DELETE FROM notes")))).toBe("SQLITE_READONLY");
    reader.close();
  });

  it("names the code of a file that is not a database, and none for other errors", () => {
    const noDatabase = join(folder, "text.db");
    writeFileSync(noDatabase, "to be or not to be".repeat(500));
    const other = openSqlite(noDatabase);
    expect(sqliteCodeOf(thrownBy(() => other.pragma("user_version")))).toBe("SQLITE_NOTADB");
    other.close();
    expect(sqliteCodeOf(Object.assign(new Error("no"), { code: "ENOENT" }))).toBeNull();
  });

  it("leaves the warnings of the process alone", () => {
    const { emitWarning } = process;
    openSqlite(file).close();
    expect(process.emitWarning).toBe(emitWarning);
  });

  it("closes a second time without an error", () => {
    database.close();
    expect(() => database.close()).not.toThrow();
    expect(() => database.pragma("user_version")).toThrow("not open");
  });
});
