import { expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { withQueuePositions } from "./queue.ts";

function queued(run: string, order: number, queuePosition: number, parentRun: string | null = "root") {
  return runRow({ run, order, queuePosition, parentRun, status: "pending", exactStatus: "queued" });
}

function placesOf(rows: ReturnType<typeof runRow>[]) {
  const runs = withQueuePositions(new Map(rows.map((row) => [row.run, row])));
  return Object.fromEntries([...runs].map(([run, { queuePosition }]) => [run, queuePosition]));
}

it("moves siblings up when one has started, whatever order the rows came in", () => {
  const started = runRow({ run: "a", order: 1, parentRun: "root" });
  expect(placesOf([queued("c", 3, 3), started, queued("b", 2, 2)])).toEqual({ a: null, b: 1, c: 2 });
});

it("keeps a queue for each parent, and none for a root", () => {
  const rows = [queued("a", 1, 1), queued("b", 2, 5, "other"), { ...queued("root", 0, 1, null), queuePosition: null }];
  expect(placesOf(rows)).toEqual({ a: 1, b: 1, root: null });
});

it("leaves rows that have not moved as the same objects", () => {
  const row = queued("a", 1, 1);
  expect(withQueuePositions(new Map([["a", row]])).get("a")).toBe(row);
});
