import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../database/open-database.ts";
import { openSqlite } from "../database/sqlite.ts";
import {
  createFeedBuilder,
  type FeedBuilder,
  largeSession,
  type RunBuilder,
  rowsOf,
} from "../feed-builder.test-helper.ts";
import { openRecord } from "./record-store.ts";
import { runFieldEntries } from "./run-columns.ts";
import { recordSpec, recordVersion, tableMigrations } from "./table-migrations.ts";

/** A file of version 1 is migrated to the same rows that this version writes. */

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-migration-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A file of version 1: its tables, with only its columns. */
async function versionOne(feed: readonly FeedItem[]): Promise<string> {
  const newer = join(folder, "newer.db");
  const record = await openRecord({ file: newer });
  record.write(feed);
  record.close();
  const file = join(folder, "troupe.db");
  const spec = recordSpec(file);
  openDatabase({ ...spec, migrations: spec.migrations.slice(0, 1) }).close();
  const database = openSqlite(file);
  database.exec(`ATTACH '${newer}' AS newer; DELETE FROM cursor`);
  for (const table of ["sessions", "messages", "runs", "entries", "inbox_items", "quarantine", "cursor"]) {
    const columns = database.prepareValue<[string], string>("SELECT name FROM pragma_table_info(?)").all(table);
    database.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM newer.${table} ORDER BY rowid`);
  }
  database.close();
  return file;
}

async function rowsOfWhole(feed: readonly FeedItem[]): Promise<Record<string, unknown[]>> {
  const file = join(folder, "whole.db");
  const record = await openRecord({ file });
  record.write(feed);
  record.close();
  return rowsOf(file);
}

const { feed } = largeSession();

it.each([1, 2, 9, 16, feed.length])("after %i items: no loss, and later items are written as usual", async (count) => {
  const file = await versionOne(feed.slice(0, count));
  const record = await openRecord({ file });
  expect(record.reader.position()).toBe(count);
  expect(record.write(feed)).toEqual([]);
  while (record.fillCosts());
  record.close();
  expect(rowsOf(file)).toEqual(await rowsOfWhole(feed));
});

it("reads the team of each run from its entries, and the session has the team of its first run", async () => {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "news_lead" }).opened({ team: "news" });
  const child = builder.run({ agent: "coder", parent: root }).opened();
  const { id } = root.asked(0, "shell", { command: "a" });
  const record = await openRecord({ file: await versionOne(builder.feed) });
  const teams = async () => {
    const { session, runs, approvals } = (await record.reader.session(builder.session)) ?? {};
    return [session?.team, runs?.map(({ team }) => team), approvals?.map((each) => [each.id, each.team])];
  };
  expect(await teams()).toEqual(["news", ["news", null], []]);
  expect(await record.reader.run(child.request.run)).toMatchObject({ agent: "coder", team: null });
  record.close();

  const whole = await openRecord({ file: join(folder, "whole.db") });
  whole.write(builder.feed);
  const rebuilt = await whole.reader.session(builder.session);
  expect([rebuilt?.session.team, rebuilt?.runs.map(({ team }) => team)]).toEqual(["news", ["news", null]]);
  expect(await whole.reader.approval(id)).toMatchObject({ agent: "news_lead", team: "news" });
  whole.close();
});

it("the versions are 1 to the newest, each once", () => {
  // A version that two migrations have would drop one of them, and a gap would shift the versions after it.
  const ofFields = runFieldEntries.flatMap(([, { addedBy }]) => addedBy?.version ?? []);
  const versions = [...Object.keys(tableMigrations).map(Number), ...ofFields].sort((a, b) => a - b);
  expect(versions).toEqual(versions.map((_, i) => i + 1));
  expect(versions.length).toBe(recordVersion);
});

it("keeps the cost of settled runs, and has an unknown cost for running ones", async () => {
  const builder: FeedBuilder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  const [cheap, dear] = [0.25, null].map((costUsd): RunBuilder => {
    const child = builder.run({ agent: "coder", parent: root });
    const { metrics } = child.response();
    return child.opened().settled({ metrics: { ...metrics, costUsd } });
  });
  root.opened().replied([], [10, 1], 0.5);
  const waiting = createFeedBuilder({ next: () => "00000000-0000-7000-8000-00000000eeee" });
  waiting.requested(waiting.run({ agent: "main" }));
  const all = [...builder.feed, ...waiting.feed].map((item, i) => ({ ...item, position: i + 1 }));

  const record = await openRecord({ file: await versionOne(all) });
  const costOf = async (run: string | undefined) => (await record.reader.run(run ?? ""))?.costUsd;
  expect(await costOf(cheap?.request.run)).toBe(0.25);
  expect(await costOf(dear?.request.run)).toBeNull();
  expect(await costOf(root.request.run)).toBeNull();
  expect((await record.reader.session(builder.session))?.session.costUsd).toBeNull();
  expect((await record.reader.session(waiting.session))?.session.costUsd).toBe(0);
  expect(await record.reader.run(root.request.run)).toMatchObject({
    maxToolCalls: 30,
    budget: { tokens: null, costUsd: null, toolCalls: null, spawns: null },
  });
  const [requested] = (await record.reader.session(waiting.session))?.runs ?? [];
  expect(requested).toMatchObject({ maxToolCalls: null, budget: null });
  record.close();
});
