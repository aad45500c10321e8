import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import { createFeedBuilder, feedStartMs, largeSession, sessionFixtures } from "../feed-builder.test-helper.ts";
import type { CopyOptions } from "./journal-copy.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

/** The copy from which a lost journal is restored. It is complete, or names its damage. */

let folder: string;
let file: string;
let record: RecordStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-copy-"));
  file = join(folder, "troupe.db");
  record = await openRecord({ file });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

async function itemsOf(options?: CopyOptions): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const batch of record.copy.items(options)) items.push(...batch);
  return items;
}

function tamper(sql: string): void {
  const database = openSqlite(file);
  database.exec(sql);
  database.close();
}

it.each(sessionFixtures)("returns $name unchanged, item by item", async ({ write }) => {
  const { feed } = write();
  record.write(feed);
  expect(await itemsOf()).toEqual(feed);
  const runs = new Set(feed.flatMap((item) => (item.kind === "entry" ? [item.run] : [])));
  expect(await record.copy.inspect()).toMatchObject({
    sessions: 1,
    runs: runs.size,
    items: feed.length,
    damage: [],
  });
});

it("returns the recorded items page by page, in order", async () => {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened();
  for (let i = 0; i < 1_400; i += 1) root.write({ kind: "timer.fired", timer: "tick" });
  record.write(builder.feed);
  expect(await itemsOf()).toEqual(builder.feed);
});

it("counts the runs that had not settled", async () => {
  const { feed } = largeSession();
  record.write(feed.slice(0, 17));
  const { runs, open } = await record.copy.inspect();
  expect([runs, open]).toEqual([5, 2]);
});

it("leaves out sessions that settled long ago, and named sessions", async () => {
  const [old, other] = [createFeedBuilder(), createFeedBuilder({ next: () => "00000000-0000-7000-8000-00000000eeee" })];
  const root = old.run({ agent: "main" });
  old.requested(root);
  root.opened().settled();
  other.requested(other.run({ agent: "main" }));
  record.write([...old.feed, ...other.feed].map((item, i) => ({ ...item, position: i + 1 })));
  const sessionsOf = async (options: CopyOptions) => new Set((await itemsOf(options)).map(({ session }) => session));
  expect(await sessionsOf({ settledSince: new Date(feedStartMs) })).toEqual(new Set([old.session, other.session]));
  expect(await sessionsOf({ settledSince: new Date(feedStartMs + 60_000) })).toEqual(new Set([other.session]));
  expect(await sessionsOf({ without: new Set([other.session]) })).toEqual(new Set([old.session]));
});

it("returns the valid branch of a forked run, and no other", async () => {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([["read", { path: "first" }]]);
  root.write({ kind: "timer.fired", timer: "other host" }, { beside: true });
  const side = builder.feed.at(-1);
  root.settled();
  record.write(builder.feed);
  expect(record.forked()).toBe(1);
  expect(await itemsOf()).toEqual(builder.feed.filter((item) => item !== side));
  expect((await record.copy.inspect()).damage).toEqual([]);
});

describe("an incomplete copy", () => {
  const at = (index: number): string =>
    `run_id = (SELECT run_id FROM messages m JOIN runs USING (session_id) WHERE parent_run IS NULL) AND idx = ${index}`;

  it.each([
    { what: "an entry is missing", sql: `DELETE FROM entries WHERE ${at(1)}`, index: 1, reason: "is missing" },
    {
      what: "an entry is damaged",
      sql: `UPDATE entries SET text = replace(text, 'thinking', 'thinkinf') WHERE ${at(1)}`,
      index: 1,
      reason: "is damaged",
    },
    {
      what: "an entry belongs to another run",
      sql: `UPDATE entries SET text = (SELECT text FROM entries e WHERE e.run_id <> entries.run_id AND e.idx = 0)
            WHERE ${at(0)}`,
      index: 0,
      reason: "belongs to another run or index",
    },
    {
      what: "an inbox item is missing",
      sql: "UPDATE inbox_items SET seq = 7 WHERE seq = 2",
      index: 2,
      reason: "is missing",
    },
  ])("is refused if $what", async ({ sql, index, reason }) => {
    const { feed, session } = largeSession();
    record.write(feed);
    tamper(sql);
    const { damage } = await record.copy.inspect();
    expect(damage).toMatchObject([{ session, index, reason }]);
    expect(await record.copy.inspect({ without: new Set([session]) })).toMatchObject({ items: 0, damage: [] });
  });
});
