import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunRow } from "@troupe/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../database/open-database.ts";
import type { Database } from "../database/sqlite.ts";
import { sessionFixtures } from "../feed-builder.test-helper.ts";
import { type RunRecord, runFieldEntries } from "./run-columns.ts";
import { recordAfter } from "./run-record.test-helper.ts";
import { createRunTable } from "./run-table.ts";
import { createSessionTable } from "./sessions.ts";
import { recordSpec } from "./table-migrations.ts";
import { createWriter } from "./writer.ts";

/** The field table agrees with the SQL schema and with the API row, and loses nothing on the way to SQL and back. */

let folder: string;
let database: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-fields-"));
  database = openDatabase(recordSpec(join(folder, "troupe.db")));
});
afterEach(async () => {
  database.close();
  await rm(folder, { recursive: true });
});

it("every field has a column of its type", () => {
  const typesOf = (table: string) => {
    const columns = database.prepare<[string], { name: string; type: string }>("SELECT * FROM pragma_table_info(?)");
    return new Map(columns.all(table).map(({ name, type }) => [name, type]));
  };
  const types = { messages: typesOf("messages"), runs: typesOf("runs") };
  const declared = runFieldEntries.map(([name, { table, column, type }]) => [name, table, column, type]);
  expect(declared).toEqual(
    declared.map(([name, table, column]) => [name, table, column, types[table as "runs"].get(`${column}`)]),
  );
});

it("every field of the API row is a field of the table or computed", () => {
  const names = new Set<string>(runFieldEntries.map(([name]) => name));
  expect(Object.keys(RunRow.shape).filter((name) => !names.has(name))).toEqual(["order", "queuePosition", "isCut"]);
});

it.each(sessionFixtures)("$name: a record that is stored and loaded is the same", ({ write }) => {
  const { feed } = write();
  createWriter(database).write(feed);
  const runs = database.prepareValue<[], string>("SELECT run_id FROM runs").all();
  const loaded = runs.map((run) => createRunTable(database).get(run));
  const table = createRunTable(database);
  for (const record of loaded as RunRecord[]) table.set({ ...record, paused: true, position: record.position + 1 });
  table.flush();
  const again = runs.map((run) => createRunTable(database).get(run));
  expect(again).toEqual(loaded.map((record) => record && { ...record, paused: true, position: record.position + 1 }));
});

it("a run without usage has no token counts in messages, and counts as 0 in sums", () => {
  const record = recordAfter((root) => root.opened());
  createSessionTable(database).touch(record.session, 1);
  const table = createRunTable(database);
  table.set(record);
  table.flush();
  expect(database.prepare("SELECT prompt_tokens, completion_tokens, total_tokens FROM messages").get()).toEqual({
    prompt_tokens: null,
    completion_tokens: null,
    total_tokens: null,
  });
  expect(database.prepare("SELECT total_tokens FROM runs").get()).toEqual({ total_tokens: 0 });
});
