import type { RecordStatus } from "@troupe/core/internal";
import { describeBailout } from "@troupe/core/texts";
import { describe, expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { announceEnded, statusKind, statusText, withQueuePositions } from "./status.ts";

describe("the badge of a row", () => {
  it.each([
    [{ status: "running", exactStatus: "running" }, "running", "running"],
    [{ status: "pending", exactStatus: "queued", queuePosition: 3 }, "queued", "queued 3"],
    [{ status: "pending", exactStatus: "queued", queuePosition: null }, "queued", "queued"],
    [{ status: "running", exactStatus: "waiting" }, "waiting", "waiting for approval"],
    [{ status: "running", exactStatus: "paused" }, "paused", "paused"],
    [{ status: "running", exactStatus: "parked" }, "parked", "parked"],
    [{ status: "failed", exactStatus: "bailed_out" }, "failed", "bailed out"],
    [{ status: "completed" }, "completed", "completed"],
    [{ status: "running", exactStatus: "a_later_word" }, "running", "a later word"],
    // A run that has ended does not wait.
    [{ status: "cancelled", exactStatus: "waiting" }, "cancelled", "cancelled"],
  ] as const)("%j: %s, %s", (row, kind, text) => {
    expect([statusKind(row), statusText(row)]).toEqual([kind, text]);
  });
});

describe("the limit that ended a run", () => {
  it.each([
    ["max_iterations", /steps/],
    ["repeated_calls", /^repeated calls: the same call/],
    ["a_later_limit", /^a later limit$/],
  ])("%s", (reason, text) => {
    expect(describeBailout(reason)).toMatch(text);
  });
});

function runs(statuses: Record<string, RecordStatus>) {
  return new Map(
    Object.entries(statuses).map(([run, status]) => [run, runRow({ run, agent: run, status, exactStatus: status })]),
  );
}

it.each([
  ["one end by name", { coder: "running" }, { coder: "failed" }, "coder failed"],
  [
    "several ends as counts",
    { a: "running", b: "pending", c: "running" },
    { a: "completed", b: "failed", c: "completed" },
    "2 runs completed, 1 run failed",
  ],
  ["no steps", { a: "pending" }, { a: "running" }, null],
  ["no end twice", { a: "failed" }, { a: "failed" }, null],
  ["no end before the first view", {}, { a: "failed" }, null],
] as const)("says %s", (_sentence, before, after, expected) => {
  expect(announceEnded(runs(before), runs(after))).toBe(expected);
});

function queued(run: string, order: number, queuePosition: number, parentRun: string | null = "root") {
  return runRow({ run, order, queuePosition, parentRun, status: "pending", exactStatus: "queued" });
}

function positionsOf(rows: ReturnType<typeof runRow>[]) {
  const runs = withQueuePositions(new Map(rows.map((row) => [row.run, row])));
  return Object.fromEntries([...runs].map(([run, { queuePosition }]) => [run, queuePosition]));
}

it("moves siblings up when one has started, in any order of rows", () => {
  const started = runRow({ run: "a", order: 1, parentRun: "root" });
  expect(positionsOf([queued("c", 3, 3), started, queued("b", 2, 2)])).toEqual({ a: null, b: 1, c: 2 });
});

it("keeps a queue for each parent, and none for a root", () => {
  const rows = [queued("a", 1, 1), queued("b", 2, 5, "other"), { ...queued("root", 0, 1, null), queuePosition: null }];
  expect(positionsOf(rows)).toEqual({ a: 1, b: 1, root: null });
});

it("keeps the objects of rows that have not moved", () => {
  const row = queued("a", 1, 1);
  expect(withQueuePositions(new Map([["a", row]])).get("a")).toBe(row);
});
