import type { ApprovalRow, RunRow } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { anApproval, aRun } from "../testing/rows.ts";
import { createSessionRows, watchUntilIdle } from "./session-rows.ts";

/** Leaving too early would cut off work; leaving too late would hang a script for ever. */

const session = "0198a222-0000-7000-8000-000000000002";
const order: Record<string, string | null> = { root: null, coder: "root", tester: "root", helper: "coder" };

/** Runs by name with their status; asking runs have an open question. */
function rowsOf(words: Record<string, string>, asking: readonly string[]) {
  const rows = createSessionRows(session);
  const runs = Object.entries(words).map(([run, exactStatus]): RunRow => {
    const settled = exactStatus === "completed";
    return {
      ...aRun({ exactStatus, ...(settled ? {} : { completedAt: null }) }),
      session,
      run,
      parentRun: order[run] ?? null,
    };
  });
  const approvals = asking.map((run): ApprovalRow => ({ ...anApproval({ session }), run }));
  rows.apply({ runs, approvals });
  return rows;
}

describe("a session waits only for people", () => {
  test.each<[string, Record<string, string>, string[], boolean]>([
    ["no row has arrived", {}, [], false],
    ["the root is running", { root: "running" }, [], false],
    ["the root waits for an approval", { root: "waiting" }, ["root"], true],
    ["the answer has arrived, and is not in a row yet", { root: "waiting" }, [], false],
    ["the root is paused", { root: "paused" }, [], true],
    ["all runs have settled", { root: "completed" }, [], false],
    ["the only child waits for an approval", { root: "running", coder: "waiting" }, ["coder"], true],
    [
      "one child waits for an approval, another runs",
      { root: "running", coder: "waiting", tester: "running" },
      ["coder"],
      false,
    ],
    [
      "one child waits for an approval, another has completed",
      { root: "running", coder: "waiting", tester: "completed" },
      ["coder"],
      true,
    ],
    ["both ask", { root: "running", coder: "waiting", tester: "waiting" }, ["coder", "tester"], true],
    [
      "one child waits for an approval, one is paused",
      { root: "running", coder: "waiting", tester: "paused" },
      ["coder"],
      true,
    ],
    [
      "a child waits for an approval, another queues behind it",
      { root: "running", coder: "waiting", tester: "queued" },
      ["coder"],
      true,
    ],
    ["children queue, and none has started", { root: "running", coder: "queued", tester: "queued" }, [], false],
    ["a grandchild waits for an approval", { root: "running", coder: "running", helper: "waiting" }, ["helper"], true],
    ["the root waits for an approval, and its child runs", { root: "waiting", coder: "running" }, ["root"], false],
    ["the root is paused, and its child finishes", { root: "paused", coder: "running" }, [], false],
    ["the root waits for an approval, and its child is paused", { root: "waiting", coder: "paused" }, ["root"], true],
    ["the process stops", { root: "parked" }, [], false],
  ])("when %s: %j", (_when, words, asking, missing) => {
    expect(rowsOf(words, asking).needsPerson()).toBe(missing);
  });
});

test("rows of other sessions are ignored, and later rows replace earlier ones", () => {
  const rows = createSessionRows(session);
  const question = anApproval({ session });
  const earlier = anApproval({ session, requestedAt: new Date(0).toISOString() });
  const paused = aRun({ session, exactStatus: "paused", completedAt: null });
  rows.apply({
    runs: [paused, aRun({ exactStatus: "paused", completedAt: null })],
    approvals: [question, anApproval(), earlier],
  });
  expect(rows.waiting()).toEqual([earlier, question]);
  expect(rows.paused()).toEqual([paused]);
  rows.apply({ runs: [{ ...paused, exactStatus: "running" }], approvals: [{ ...question, state: "withdrawn" }] });
  expect(rows.waiting()).toEqual([earlier]);
  expect(rows.paused()).toEqual([]);
});

/** A short idle moment does not count: a run needs a moment to continue after an answer. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const rows = { missing: true, needsPerson: () => rows.missing };
  return { rows, idleWatch: watchUntilIdle(rows) };
}

test("once no other work has been left for a while", () => {
  const { idleWatch } = setUp();
  idleWatch.check();
  vi.advanceTimersByTime(299);
  expect(idleWatch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(idleWatch.signal.aborted).toBe(true);
});

test("not while any run continues", () => {
  const { rows, idleWatch } = setUp();
  idleWatch.check();
  vi.advanceTimersByTime(200);
  rows.missing = false;
  idleWatch.check();
  vi.advanceTimersByTime(10_000);
  expect(idleWatch.signal.aborted).toBe(false);
});

test("another change restarts the delay", () => {
  const { idleWatch } = setUp();
  idleWatch.check();
  vi.advanceTimersByTime(200);
  idleWatch.check();
  vi.advanceTimersByTime(200);
  expect(idleWatch.signal.aborted).toBe(false);
  vi.advanceTimersByTime(100);
  expect(idleWatch.signal.aborted).toBe(true);
});

test("not after the watch has stopped", () => {
  const { idleWatch } = setUp();
  idleWatch.check();
  idleWatch.stop();
  expect(vi.getTimerCount()).toBe(0);
});
