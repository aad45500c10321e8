/** Graphs and policies: the decisions that follow from the states of a batch's tasks. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BatchMode, BatchPolicy } from "../../delegation/arguments.ts";
import { anError, aRequest, aResponse } from "../fixtures.test-helper.ts";
import type { BatchPlan } from "./machine.ts";
import { type BatchItem, type SchedulingDecision, scheduleTasks } from "./scheduler.ts";

const retry = { maxAttempts: 1, backoffMs: 0, on: [], alternative: null };

/** A plan of as many tasks as there are lists of places to wait for. */
function aPlan(after: number[][], policy: BatchPolicy = { kind: "continue" }, mode: BatchMode = "parallel"): BatchPlan {
  const tasks = after.map((places, item) => ({ name: `t${item}`, after: places, request: aRequest(), retry }));
  return { tasks, batch: true, mode, policy };
}

const succeeded = aResponse();
const failed = aResponse({ error: anError() });
const asItem: Record<string, BatchItem> = {
  b: { phase: "blocked", response: null },
  r: { phase: "ready", response: null },
  a: { phase: "asked", response: null },
  l: { phase: "leaving", response: null },
  s: { phase: "settled", response: succeeded },
  f: { phase: "settled", response: failed },
};

/** One letter per task: blocked, ready, asked, leaving, succeeded, failed. */
function items(letters: string): BatchItem[] {
  return [...letters].map((letter) => asItem[letter] as BatchItem);
}

/** Places only: [ready, drop, stop]. */
function decisionOf(plan: BatchPlan, letters: string): [number[], number[], number[]] {
  const { ready, drop, stop }: SchedulingDecision = scheduleTasks(plan, items(letters));
  return [ready, drop.map(({ item }) => item), stop];
}

const free = [[], [], []];
/** A diamond: 1 and 2 wait for 0, 3 for both. */
const diamond = [[], [0], [0], [1, 2]];

describe("the order of tasks", () => {
  test.each<[string, number[][], string, number[]]>([
    ["tasks without dependencies are ready at once", free, "bbb", [0, 1, 2]],
    ["no task becomes ready twice", free, "ras", []],
    ["tasks with dependencies wait", diamond, "bbbb", [0]],
    ["a task waits for all its dependencies", diamond, "sbbb", [1, 2]],
    ["a task waits for each of its dependencies", diamond, "ssab", []],
    ["a task waits for a dependency anywhere in the list", [[1], []], "bs", [0]],
    ["a task that was told to stop has not ended", [[], [0]], "lb", []],
  ])("%s", (_, after, letters, ready) => {
    expect(decisionOf(aPlan(after), letters)).toEqual([ready, [], []]);
  });

  test.each<[string, number[][], string, number[]]>([
    ["the first", free, "bbb", [0]],
    ["the next task follows", free, "sbb", [1]],
    ["none while one waits for its slot", free, "rbb", []],
    ["none while one runs", free, "sab", []],
    ["none while one is being stopped", free, "lbb", []],
    ["after a failed task, too", free, "fbb", [1]],
    ["a dependency comes before its task", [[2], [], []], "bbb", [1]],
    ["even if it was named after it", [[1], []], "bb", [1]],
    ["the first comes as soon as possible", [[2], [], []], "bss", [0]],
  ])("sequential: %s", (_, after, letters, ready) => {
    expect(decisionOf(aPlan(after, { kind: "continue" }, "sequential"), letters)).toEqual([ready, [], []]);
  });

  test.each<[string, number[][], string, number[], number[]]>([
    ["is dropped", [[], [0]], "fb", [], [1]],
    ["though others succeeded", [[], [], [0, 1]], "sfb", [], [2]],
    ["at once, with any other dependencies", [[], [], [0, 1]], "fab", [], [2]],
    ["one after another along the chain", [[], [0], [1]], "fbb", [], [1]],
    ["when the task before it has settled", [[], [0], [1]], "ffb", [], [2]],
    ["and no other task", [[], [0], []], "fbb", [2], [1]],
  ])("a task that depends on a failed one %s", (_, after, letters, ready, drop) => {
    expect(decisionOf(aPlan(after), letters)).toEqual([ready, drop, []]);
  });

  test("a dropped task names the failed task", () => {
    const [dropped] = scheduleTasks(aPlan([[], [0]]), items("fb")).drop;
    expect(dropped?.error).toMatchObject({
      type: "tool_error",
      message: "not run: the task t0 that it waits for failed",
    });
  });
});

describe("the policy", () => {
  const quorum: BatchPolicy = { kind: "quorum", count: 2 };
  test.each<[string, BatchPolicy, string, number[], number[], number[]]>([
    ["continue: a failure stops no task", { kind: "continue" }, "frab", [3], [], []],
    ["continue: a success stops no task", { kind: "continue" }, "srab", [3], [], []],
    ["all: a failure stops queued tasks, not running ones", { kind: "all" }, "frab", [], [1, 3], []],
    ["all: successes stop nothing", { kind: "all" }, "srab", [3], [], []],
    ["any: a success stops the rest, with the running ones", { kind: "any" }, "srab", [], [1, 3], [2]],
    ["any: failures stop nothing", { kind: "any" }, "frab", [3], [], []],
    ["any: a task that is being stopped gets no second stop", { kind: "any" }, "sllf", [], [], []],
    ["quorum: one success is not enough", quorum, "srab", [3], [], []],
    ["quorum: two successes are enough", quorum, "ssab", [], [3], [2]],
    ["quorum: out of reach, queued tasks are dropped, running ones may end", quorum, "fffb", [], [3], []],
    ["quorum: out of reach with one running task", quorum, "fafb".replace("b", "f"), [], [], []],
    ["quorum: still within reach", quorum, "ffab", [3], [], []],
  ])("%s", (_, policy, letters, ready, drop, stop) => {
    expect(decisionOf(aPlan([[], [], [], []], policy), letters)).toEqual([ready, drop, stop]);
  });

  test.each<[BatchPolicy, string, string]>([
    [{ kind: "any" }, "sb", "no longer needed: enough of its siblings have succeeded"],
    [{ kind: "all" }, "fb", "not run: a sibling failed, and all had to succeed"],
    [quorum, "fb", "not run: 2 successes can no longer be reached"],
  ])("says why: %j", (policy, letters, message) => {
    const [dropped] = scheduleTasks(aPlan([[], []], policy), items(letters)).drop;
    expect(dropped?.error).toMatchObject({ type: "cancelled", message, recoverable: false });
  });
});

/** Runs a batch to its end by its moves alone; each task succeeds or fails as told. */
function runAll(plan: BatchPlan, isGood: (item: number) => boolean) {
  let all = items("b".repeat(plan.tasks.length));
  const asked: number[] = [];
  let most = 0;
  for (let round = 0; round <= 2 * all.length; round += 1) {
    const { ready, drop, stop } = scheduleTasks(plan, all);
    const gone = new Set([...drop.map(({ item }) => item), ...stop]);
    asked.push(...ready);
    all = all.map((state, item) => {
      if (gone.has(item)) return asItem.f as BatchItem;
      return ready.includes(item) ? (asItem.a as BatchItem) : state;
    });
    most = Math.max(most, all.filter(({ phase }) => phase === "asked").length);
    const runs = all.findIndex(({ phase }) => phase === "asked");
    all = all.map((state, item) => (item === runs ? (asItem[isGood(item) ? "s" : "f"] as BatchItem) : state));
  }
  return { all, most, asked };
}

test("every task of every graph settles, under every policy and mode, and none starts before its dependencies", () => {
  const policies = fc.constantFrom<BatchPolicy>(
    { kind: "continue" },
    { kind: "all" },
    { kind: "any" },
    { kind: "quorum", count: 2 },
  );
  const graph = fc
    .integer({ min: 2, max: 8 })
    .chain((count) =>
      fc.tuple(
        fc.array(fc.array(fc.nat(count - 1), { maxLength: 3 }), { minLength: count, maxLength: count }),
        fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
      ),
    );
  fc.assert(
    fc.property(
      graph,
      policies,
      fc.constantFrom<BatchMode>("parallel", "sequential"),
      fc.nat(255),
      (drawn, policy, mode, good) => {
        const [wanted, rank] = drawn;
        // Only to tasks earlier in a random order: a graph without cycles, in any order of its tasks.
        const after = wanted.map((places, item) => places.filter((place) => (rank[place] ?? 0) < (rank[item] ?? 0)));
        const { all, most, asked } = runAll(aPlan(after, policy, mode), (item) => ((good >> item) & 1) === 1);
        expect(all.map(({ phase }) => phase)).toEqual(all.map(() => "settled"));
        if (mode === "sequential") expect(most).toBeLessThanOrEqual(1);
        for (const [item, places] of after.entries()) {
          if (!asked.includes(item)) continue;
          for (const place of places) expect(asked.indexOf(place)).toBeLessThan(asked.indexOf(item));
          for (const place of places) expect(asked).toContain(place);
        }
      },
    ),
    { numRuns: 500 },
  );
});
