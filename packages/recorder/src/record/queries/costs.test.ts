import type { CostGrouping } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { createFeedBuilder, type FeedBuilder, feedStartMs, type RunBuilder } from "../../feed-builder.test-helper.ts";
import type { RecordStore } from "../record-store.ts";
import { joined, recordOf } from "./record-file.test-helper.ts";

let sessions = 0;

/** A builder whose session does not clash with those of other builders. */
function newSession(): FeedBuilder {
  sessions += 1;
  let id = 0;
  const name = String(sessions).padStart(6, "0");
  return createFeedBuilder({
    next() {
      id += 1;
      return `01990000-0000-7000-8000-${name}${String(id).padStart(6, "0")}`;
    },
  });
}

function costing(run: RunBuilder, costUsd: number | null, options: { team?: string; estimatedTokens?: number } = {}) {
  const { team, estimatedTokens } = options;
  run.opened(team === undefined ? {} : { team });
  const { metrics } = run.response();
  const estimated = estimatedTokens === undefined ? {} : { estimated: { tokens: estimatedTokens, costUsd: 0.01 } };
  run.settled({ metrics: { ...metrics, costUsd, ...estimated } });
  return run;
}

/** lead 1.00 > coder 0.50 > coder 0.25, and lead > tester of unknown cost. */
function tree(): FeedBuilder {
  const builder = newSession();
  const lead = costing(builder.run({ agent: "news_lead" }), 1, { team: "news" });
  const coder = costing(builder.run({ agent: "coder", parent: lead }), 0.5);
  costing(builder.run({ agent: "coder", parent: coder }), 0.25, { estimatedTokens: 40 });
  costing(builder.run({ agent: "tester", parent: lead }), null);
  return builder;
}

async function rowsBy(record: RecordStore, by: CostGrouping, sinceMs: number | null = null) {
  const { rows } = await record.reader.queries.costs({ by, sinceMs });
  return Object.fromEntries(rows.map(({ name, own, subtree }) => [name, [own.costUsd, subtree.costUsd, subtree.runs]]));
}

describe("costs", () => {
  it("are summed for the runs of an agent alone, and with the runs below, each once", async () => {
    const record = await recordOf(tree().feed);
    expect(await rowsBy(record, "agent")).toEqual({
      news_lead: [1, null, 4],
      coder: [0.75, 0.75, 2],
      tester: [null, null, 1],
    });
  });

  it("of an unknown price are unknown, never $0, with the known part beside", async () => {
    const { total, rows } = await (await recordOf(tree().feed)).reader.queries.costs({ by: "agent", sinceMs: null });
    expect(total).toMatchObject({ costUsd: null, knownCostUsd: 1.75, unknownRuns: 1, runs: 4 });
    expect(rows.find(({ name }) => name === "tester")?.own).toMatchObject({ costUsd: null, knownCostUsd: 0 });
  });

  it("that contain an estimate say so", async () => {
    const { rows } = await (await recordOf(tree().feed)).reader.queries.costs({ by: "agent", sinceMs: null });
    expect(rows.map(({ name, own }) => [name, own.estimatedTokens])).toEqual([
      ["news_lead", 0],
      ["coder", 40],
      ["tester", 0],
    ]);
  });

  it.each<[CostGrouping, string[]]>([
    ["role", ["lead", "coder", "tester"]],
    ["team", ["news", "null"]],
    ["model", ["demo/pinned"]],
    ["day", ["2026-01-01"]],
  ])("can be grouped by %s", async (by, names) => {
    expect(Object.keys(await rowsBy(await recordOf(tree().feed), by)).sort()).toEqual([...names].sort());
  });

  it("count runs from a time on", async () => {
    const record = await recordOf(tree().feed);
    expect(await rowsBy(record, "agent", feedStartMs + 3_600_000)).toEqual({});
    expect(Object.keys(await rowsBy(record, "agent", feedStartMs))).toHaveLength(3);
  });

  it("leave out demos and replays, and count them", async () => {
    const demo = newSession();
    demo.requested(costing(demo.run({ agent: "main" }), 7));
    const record = await recordOf(joined(demo.feed, tree().feed));
    expect(await record.reader.queries.costs({ by: "agent", sinceMs: null })).toMatchObject({
      leftOut: 1,
      isCut: false,
      total: { runs: 4, knownCostUsd: 1.75 },
    });
  });

  it("of an empty record are $0 of no run", async () => {
    const { reader } = await recordOf([]);
    expect(await reader.queries.costs({ by: "day", sinceMs: null })).toMatchObject({
      rows: [],
      total: { runs: 0, costUsd: 0, unknownRuns: 0 },
    });
  });
});

describe("totals", () => {
  const ends = ["completed", "completed", "failed", "timeout", "bailed_out", "cancelled", "rejected"] as const;

  it("count how sessions and runs ended; a cancelled or rejected run does not count as a failure", async () => {
    const feeds = ends.map((status) => {
      const builder = newSession();
      const run = builder.run({ agent: "main" }).opened();
      run.settled({ status, success: status === "completed" });
      return builder.feed;
    });
    const active = newSession();
    active.run({ agent: "coder" }).opened();
    const record = await recordOf(joined(...feeds, active.feed));
    const { runs, sessions: all, agents } = await record.reader.queries.totals({ sinceMs: null, branches: 5 });
    expect(runs).toEqual({ total: 8, active: 1, succeeded: 2, failed: 3, stopped: 2, successRate: 0.4 });
    expect(all).toMatchObject({ total: 8, active: 1, succeeded: 2 });
    expect(agents).toEqual([
      { agent: "main", team: null, total: 7, active: 0, succeeded: 2, failed: 3, stopped: 2, successRate: 0.4 },
      { agent: "coder", team: null, total: 1, active: 1, succeeded: 0, failed: 0, stopped: 0, successRate: null },
    ]);
  });

  it("name the slowest and the most expensive delegated branches, with their path and the runs below", async () => {
    const builder = newSession();
    const lead = builder.run({ agent: "lead" }).opened();
    const coder = builder.run({ agent: "coder", parent: lead }).opened();
    const tester = builder.run({ agent: "tester", parent: coder }).opened();
    const settle = (run: RunBuilder, costUsd: number | null, durationMs: number) =>
      run.settled({ metrics: { ...run.response().metrics, costUsd, durationMs } });
    settle(tester, 0.5, 9_000);
    settle(coder, 0.25, 4_000);
    settle(lead, 9, 20_000);
    const { slowest, mostExpensive } = await (await recordOf(builder.feed)).reader.queries.totals({
      sinceMs: null,
      branches: 5,
    });
    expect(slowest.map(({ path, durationMs }) => [path.join(" > "), durationMs])).toEqual([
      ["lead > coder > tester", 9_000],
      ["lead > coder", 4_000],
    ]);
    expect(mostExpensive.map(({ path, cost }) => [path.at(-1), cost.costUsd, cost.runs])).toEqual([
      ["coder", 0.75, 2],
      ["tester", 0.5, 1],
    ]);
    expect(slowest[0]).toMatchObject({ task: "the task of tester", session: builder.session, status: "completed" });
  });
});
