import type { RecordStatus } from "@troupe/core/internal";
import { expect, it } from "vitest";
import { announce } from "./final-states.ts";
import { runRow } from "./fixtures.test-helper.ts";

function runs(statuses: Record<string, RecordStatus>) {
  return new Map(
    Object.entries(statuses).map(([run, status]) => [run, runRow({ run, agent: run, status, exactStatus: status })]),
  );
}

it.each([
  ["one end by name", { coder: "running" }, { coder: "failed" }, "coder failed"],
  [
    "several as counts",
    { a: "running", b: "pending", c: "running" },
    { a: "completed", b: "failed", c: "completed" },
    "2 runs completed, 1 run failed",
  ],
  ["no steps between", { a: "pending" }, { a: "running" }, null],
  ["nothing twice", { a: "failed" }, { a: "failed" }, null],
  ["nothing that had ended before it was seen", {}, { a: "failed" }, null],
] as const)("says %s", (_sentence, before, after, expected) => {
  expect(announce(runs(before), runs(after))).toBe(expected);
});
