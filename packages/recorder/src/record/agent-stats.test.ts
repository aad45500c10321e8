/** Success, time and cost of agents, from rows of a real record. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunStatus } from "@troupe/core";
import { AgentStatsList } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Database, openSqlite } from "../database/sqlite.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

const nowMs = Date.UTC(2026, 5, 1);
const dayMs = 86_400_000;
const sinceMs = nowMs - 90 * dayMs;

let folder: string;
let record: RecordStore;
let database: Database;
type Statement = ReturnType<typeof database.prepare<(string | number | null)[]>>;
let insertMessage: Statement;
let insertRun: Statement;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-stats-"));
  const file = join(folder, "troupe.db");
  record = await openRecord({ file });
  database = openSqlite(file);
  insertMessage = database.prepare(
    "INSERT INTO messages (session_id, started_at, completed_at, duration_ms, agent_role) VALUES (?, ?, ?, ?, ?)",
  );
  insertRun = database.prepare(
    `INSERT INTO runs (run_id, session_id, message_id, parent_run, seen, attempt, max_attempts, status, exact_status,
       total_tokens, tool_calls, warnings_json, last_event_at, head_index, position, cost_usd, estimated_tokens)
     VALUES (?, ?, ?, ?, ?, ?, 3, 'completed', ?, 0, 0, '[]', '', 1, 1, ?, ?)`,
  );
  addSession("s");
});
afterEach(async () => {
  database.close();
  record.close();
  await rm(folder, { recursive: true });
});

function addSession(session: string, { demo = 0, replay = 0 } = {}): void {
  database
    .prepare<[string, number, number]>("INSERT INTO sessions (session_id, demo, replay, position) VALUES (?, ?, ?, 1)")
    .run(session, demo, replay);
}

interface Row {
  agent?: string;
  parent?: string | null;
  status?: RunStatus | "running";
  ms?: number | null;
  usd?: number | null;
  estimated?: number;
  attempt?: number;
  endedMs?: number | null;
  session?: string;
}

let ids = 0;

/** Writes the two rows of a run, and returns its id. `parent` is a run's id. */
function addRun({
  agent = "coder",
  parent = null,
  status = "completed",
  ms = 1_000,
  usd = 0.01,
  estimated = 0,
  attempt = 1,
  endedMs = nowMs - dayMs,
  session = "s",
}: Row): string {
  ids += 1;
  const run = `run-${ids}`;
  const ended = endedMs === null ? null : new Date(endedMs).toISOString();
  const { lastInsertRowid } = insertMessage.run(session, new Date(sinceMs).toISOString(), ended, ms, agent);
  insertRun.run(run, session, Number(lastInsertRowid), parent, ids, attempt, status, usd, estimated);
  return run;
}

async function stats() {
  const list = await record.reader.agentStats({ sinceMs });
  expect(AgentStatsList.parse(list)).toEqual(list);
  return list;
}
const coder = async () => (await stats()).agents.find(({ agent }) => agent === "coder");

describe("the statistics of agents", () => {
  test("of an empty record are empty", async () => {
    expect(await stats()).toEqual({ since: new Date(sinceMs).toISOString(), agents: [], pairs: [] });
  });

  test("count success, and every way to fail", async () => {
    for (const status of ["completed", "completed", "failed", "timeout", "bailed_out"] as const) addRun({ status });
    expect(await coder()).toMatchObject({ runs: 5, succeeded: 2, successRate: 0.4, stopped: 0 });
  });

  test("a cancelled or rejected run is neither success nor failure", async () => {
    addRun({ ms: 10, usd: 1 });
    addRun({ status: "cancelled", ms: 90_000, usd: 9 });
    addRun({ status: "rejected", ms: 0, usd: 0 });
    expect(await coder()).toMatchObject({ runs: 1, succeeded: 1, stopped: 2, medianMs: 10, medianCostUsd: 1 });
  });

  test("of stopped runs only have no rate, time and cost", async () => {
    addRun({ status: "cancelled" });
    expect(await coder()).toMatchObject({
      runs: 0,
      successRate: null,
      stopped: 1,
      medianMs: null,
      medianCostUsd: null,
    });
  });

  test("leave out runs that have not settled or ended before the time", async () => {
    addRun({ status: "running", endedMs: null });
    addRun({ endedMs: sinceMs - 1 });
    expect((await stats()).agents).toEqual([]);
    addRun({ endedMs: sinceMs });
    expect(await coder()).toMatchObject({ runs: 1 });
  });

  test("leave out sessions of scripts and recordings", async () => {
    addSession("script", { demo: 1 });
    addSession("recording", { replay: 1 });
    addRun({ session: "script" });
    addRun({ session: "recording" });
    expect((await stats()).agents).toEqual([]);
  });

  test("count each attempt of a retry as a run", async () => {
    const parent = addRun({ agent: "main" });
    addRun({ parent, attempt: 1, status: "failed", ms: 100 });
    addRun({ parent, attempt: 2, status: "completed", ms: 300 });
    expect((await stats()).pairs).toMatchObject([
      { agent: "coder", parent: "main", runs: 2, succeeded: 1, medianMs: 200 },
    ]);
  });

  test("keep pairs of parent and agent apart, in the order of names", async () => {
    const [main, lead] = [addRun({ agent: "main" }), addRun({ agent: "lead" })];
    addRun({ parent: main });
    addRun({ parent: lead, status: "failed" });
    addRun({ parent: lead, agent: "tester" });
    addRun({});
    const { agents, pairs } = await stats();
    expect(agents.map(({ agent, parent, runs, succeeded }) => [agent, parent, runs, succeeded])).toEqual([
      ["coder", null, 3, 2],
      ["lead", null, 1, 1],
      ["main", null, 1, 1],
      ["tester", null, 1, 1],
    ]);
    expect(pairs.map(({ agent, parent, runs, succeeded }) => [parent, agent, runs, succeeded])).toEqual([
      ["lead", "coder", 1, 0],
      ["lead", "tester", 1, 1],
      ["main", "coder", 1, 1],
    ]);
  });

  test.each([
    [[5], 5],
    [[9, 1, 5], 5],
    [[1, 1, 1, 1_000], 1],
    [[4, 1, 2, 3], 2.5],
    [[7, null, 9], 8],
    [[null], null],
  ])("the median time of %j is %j", async (times, median) => {
    for (const ms of times) addRun({ ms });
    expect(await coder()).toMatchObject({ medianMs: median, runs: times.length });
  });

  test.each([
    [[0.2, 0.4, 9], 0.4, 3],
    [[0.2, null, null], 0.2, 1],
    [[null, null], null, 0],
    [[0, 0], 0, 2],
  ])("the median cost of %j is %j: an unknown cost is not nothing", async (costs, median, known) => {
    for (const usd of costs) addRun({ usd });
    expect(await coder()).toMatchObject({ medianCostUsd: median, costRuns: known });
  });

  test("a cost contains the runs below, and is unknown or an estimate if one of theirs is", async () => {
    const run = addRun({ usd: 1 });
    const below = addRun({ agent: "tester", parent: run, usd: 2 });
    addRun({ agent: "helper", parent: below, status: "cancelled", usd: 4, estimated: 10 });
    expect(await coder()).toMatchObject({ medianCostUsd: 7, costIsEstimate: true });
    addRun({ agent: "helper", parent: below, usd: null });
    expect(await coder()).toMatchObject({ medianCostUsd: null, costRuns: 0, costIsEstimate: false });
  });

  test("read the newest 20,000 runs only", async () => {
    addRun({ agent: "old" });
    database.transaction(() => {
      for (let i = 0; i < 20_000; i += 1) addRun({});
    })();
    expect((await stats()).agents.map(({ agent, runs }) => [agent, runs])).toEqual([["coder", 20_000]]);
  });
});
