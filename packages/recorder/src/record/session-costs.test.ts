import { join } from "node:path";
import type { FeedItem } from "@troupe/core";
import { CostGrouping, type CostReport } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import { createFeedBuilder, type FeedBuilder, feedStartMs, type RunBuilder } from "../feed-builder.test-helper.ts";
import { joined, newFolder } from "./queries/record-file.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

function builderOf(session: number): FeedBuilder {
  let id = 0;
  const name = String(session).padStart(6, "0");
  return createFeedBuilder({
    next() {
      id += 1;
      return `01990000-0000-7000-8000-${name}${String(id).padStart(6, "0")}`;
    },
  });
}

function settle(run: RunBuilder, costUsd: number | null, estimatedTokens = 0): RunBuilder {
  const { metrics } = run.response();
  const estimated = estimatedTokens === 0 ? {} : { estimated: { tokens: estimatedTokens, costUsd: 0.01 } };
  return run.settled({ metrics: { ...metrics, costUsd, ...estimated } });
}

/** lead > coder > coder, lead > tester of unknown cost. It begins at 00:00:01 and its last run some seconds later. */
function tree(session: number): FeedBuilder {
  const builder = builderOf(session);
  const lead = builder.run({ agent: "news_lead" }).opened({ team: "news" });
  const coder = builder.run({ agent: "coder", parent: lead }).opened();
  const second = builder.run({ agent: "coder", parent: coder }).opened();
  const tester = builder.run({ agent: "tester", parent: lead }).opened();
  settle(second, 0.25 * session, 40);
  settle(coder, 0.5);
  settle(tester, null);
  settle(lead, 1);
  return builder;
}

function demo(session: number): FeedBuilder {
  const builder = builderOf(session);
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  settle(root.opened(), 7);
  return builder;
}

/** The feeds of three trees, a demo, and a session with an open run. */
function manySessions(): FeedItem[] {
  const open = builderOf(9);
  const root = open.run({ agent: "main" }).opened().replied([], [10, 1], 0.125);
  settle(open.run({ agent: "coder", parent: root }).opened(), 0.0625);
  return joined(tree(1).feed, tree(2).feed, demo(3).feed, tree(4).feed, open.feed);
}

async function recordIn(feed: readonly FeedItem[]): Promise<{ file: string; record: RecordStore }> {
  const file = join(await newFolder(), "troupe.db");
  const record = await openRecord({ file });
  record.write(feed);
  return { file, record };
}

function execIn(file: string, text: string): void {
  const database = openSqlite(file);
  database.exec(text);
  database.close();
}

function countSummed(file: string): number {
  const database = openSqlite(file, { readOnly: true });
  const query = "SELECT count(*) FROM summed_sessions WHERE is_summed = 1";
  const count = database.prepareValue<[], number>(query).get();
  database.close();
  return count ?? -1;
}

/** Before all, in the middle of the sessions, and after all. */
const times = [null, feedStartMs, feedStartMs + 2_500, feedStartMs + 3_600_000];

async function reportsOf({ reader: { queries } }: RecordStore): Promise<CostReport[]> {
  const reports = CostGrouping.options.flatMap((by) => times.map((sinceMs) => queries.costs({ by, sinceMs })));
  return await Promise.all(reports);
}

describe("the stored sums of sessions", () => {
  it("give the same reports as their runs, at any time and for any grouping", async () => {
    const { file, record } = await recordIn(manySessions());
    expect(countSummed(file)).toBe(4);
    const stored = await reportsOf(record);
    execIn(file, "DELETE FROM session_costs; UPDATE summed_sessions SET is_summed = 0");
    expect(await reportsOf(record)).toEqual(stored);
    expect(stored[0]).toMatchObject({
      leftOut: 1,
      isCut: false,
      total: { runs: 14, unknownRuns: 3, estimatedTokens: 120 },
    });
    expect(stored[0]?.total.knownCostUsd).toBeCloseTo(6.4375, 10);
    // In the middle of their sessions: the leads have begun before.
    expect(stored[2]?.rows.map(({ name }) => name)).not.toContain("news_lead");
    record.close();
  });

  it("are used: a report reads no run of a session that has ended", async () => {
    const { file, record } = await recordIn(manySessions());
    const before = await reportsOf(record);
    execIn(
      file,
      "UPDATE runs SET cost_usd = 100, total_tokens = 1000 WHERE exact_status = 'completed' AND session_id NOT LIKE '%9000001'",
    );
    const [all] = await reportsOf(record);
    expect(all?.total.knownCostUsd).toBe(before[0]?.total.knownCostUsd);
    record.close();
  });

  it("are dropped while a run is open, and stored again at its end", async () => {
    const builder = tree(1);
    const { file, record } = await recordIn(builder.feed);
    expect(countSummed(file)).toBe(1);
    const turn = builder.run({ agent: "main" }).opened();
    record.write(builder.feed);
    expect(countSummed(file)).toBe(0);
    settle(turn, 2);
    record.write(builder.feed);
    expect(countSummed(file)).toBe(1);
    expect((await record.reader.queries.costs({ by: "agent", sinceMs: null })).total).toMatchObject({
      runs: 5,
      knownCostUsd: 3.75,
    });
    record.close();
  });

  it("go with a removed session", async () => {
    const { file, record } = await recordIn(manySessions());
    record.remove([{ session: tree(2).session, lastPosition: 1 }]);
    expect((await record.reader.queries.costs({ by: "agent", sinceMs: null })).total.runs).toBe(10);
    const database = openSqlite(file, { readOnly: true });
    const lost = "SELECT count(*) FROM session_costs WHERE summed_id NOT IN (SELECT id FROM summed_sessions)";
    expect(database.prepareValue<[], number>(lost).get()).toBe(0);
    database.close();
    record.close();
  });

  it("of a record of version 16 are stored bit by bit, with the same reports before and after", async () => {
    const { file, record } = await recordIn(manySessions());
    const stored = await reportsOf(record);
    record.close();
    execIn(file, "DROP TABLE session_costs; DROP TABLE summed_sessions; PRAGMA user_version = 16");
    const migrated = await openRecord({ file });
    expect(countSummed(file)).toBe(0);
    expect(await reportsOf(migrated)).toEqual(stored);
    while (migrated.fillCosts());
    expect(countSummed(file)).toBe(4);
    expect(await reportsOf(migrated)).toEqual(stored);
    migrated.close();
  });
});
