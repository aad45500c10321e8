/** Several tasks in one delegate call: their order, their policy, and the one answer that the model reads of all. */
import { describe, expect, test } from "vitest";
import { childRunId } from "../../protocol/ids.ts";
import {
  aBatch,
  anError,
  childSettled,
  delegateTo,
  reply,
  run,
  type SpecChanges,
  timerFired,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

type Args = Parameters<typeof aBatch>;

function asking(tasks: Args[0], batch: Args[1] = {}, changes: SpecChanges = {}): MachineDriver {
  const d = drive(changes);
  d.feed(reply(1, "", [aBatch(tasks, batch)]));
  d.look();
  return d;
}

const settled = (item: number, changes: Parameters<typeof childSettled>[2] = {}, attempt = 1) =>
  childSettled(1, 0, changes, attempt, item);
const permanent = { error: anError({ type: "params", recoverable: false, message: "bad" }) };
const network = { error: anError() };

/** The model's view of the call. */
function answer(d: MachineDriver) {
  const last = d.effect("callModel").messages.at(-1);
  if (last?.role !== "tool") throw new Error("no result");
  return { ...JSON.parse(last.text), isError: last.isError };
}

const key = (item: number, attempt = 1): string => `child/1/0/${item}/${attempt}`;
const abc = [{ name: "a" }, { name: "b" }, { name: "c" }];
const chain = [{ name: "a" }, { name: "b", after: ["a"] }, { name: "c", after: ["b"] }];

describe("a batch", () => {
  test("is journaled before any task starts: each agent, task and the order", () => {
    const d = drive();
    d.feed(reply(1, "", [delegateTo("writer"), aBatch([{ name: "a" }, { name: "b", after: ["a"], context: "full" }])]));
    const planned = d.facts.find(({ type }) => type === "calls.planned");
    const child = { agent: "helper", task: "help", contextMode: "task_only", maxAttempts: 2, after: [], item: 0 };
    const runOf = (call: number, item: number) => childRunId({ parentRun: run, step: 1, call, item, attempt: 1 });
    expect(planned).toMatchObject({
      step: 1,
      refused: [],
      children: [
        { ...child, call: 0, run: runOf(0, 0), name: "writer", agent: "writer", task: "be writer" },
        { ...child, call: 1, run: runOf(1, 0), name: "a" },
        { ...child, call: 1, run: runOf(1, 1), name: "b", item: 1, after: ["a"], contextMode: "full" },
      ],
    });
  });

  test("has its result when all tasks have ended, in the order of the tasks", () => {
    const d = asking(abc);
    d.feed(settled(2, { summary: "third" }));
    d.feed(settled(0, { summary: "first" }));
    expect(d.state()).toBe("execute.act.working");
    d.feed(settled(1, permanent));
    expect(answer(d)).toMatchObject({
      policy: "continue",
      outcome: "completed",
      succeeded: 2,
      failed: 1,
      isError: false,
      results: [
        { name: "a", status: "completed", summary: "first" },
        { name: "b", status: "failed", error: { message: "bad" } },
        { name: "c", status: "completed", summary: "third" },
      ],
    });
  });

  test("of one task has a list of one result; a task without a name is named by its position", () => {
    const d = asking([{}]);
    d.feed(settled(0));
    expect(answer(d).results).toMatchObject([{ name: "1", agent: "helper", run_id: expect.any(String) }]);
  });

  test("shares the slots of its run with the other calls of the turn", () => {
    const d = drive({ limits: { maxConcurrent: 3 } });
    d.look();
    expect(d.on(reply(1, "", [aBatch(abc), delegateTo("writer")])).started).toEqual(["plan/1", key(0), key(1), key(2)]);
    expect(d.on(settled(1)).started).toEqual(["child/1/1/0/1"]);
  });

  test("leaves no actor behind", () => {
    const d = asking(abc);
    for (const item of [0, 1, 2]) d.feed(settled(item));
    expect(d.context()).toMatchObject({ batches: {}, children: {}, readyTasks: [] });
    expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual([]);
  });
});

describe("a task that depends on others", () => {
  test("starts when they have ended, and gets their results", () => {
    const d = asking([{ name: "a" }, { name: "b" }, { name: "c", after: ["a", "b"] }]);
    expect(d.pendingKeys()).toEqual([key(0), key(1), "timer/deadline"]);
    d.feed(settled(1, { details: "B it is" }));
    expect(d.on(settled(0, { details: "A it is" })).started).toEqual([key(2)]);
    const [a, b, ...none] = d.effect("runChild").request.context?.split("\n\n") ?? [];
    expect([a, b, none]).toEqual([
      expect.stringMatching(/^Result of the task a:\n.*A it is/),
      expect.stringMatching(/^Result of the task b:\n.*B it is/),
      [],
    ]);
  });

  test("gets their results again when it is retried", () => {
    const d = asking(chain);
    d.feed(settled(0, { details: "A it is" }));
    d.feed(settled(1, network));
    d.feed(timerFired("retry/1/0/1/1"));
    expect(d.effect("runChild").request).toMatchObject({ attempt: 2, context: expect.stringContaining("A it is") });
  });

  test("is dropped when a dependency fails, and so are the tasks that depend on it: each settles as not run", () => {
    const d = asking(chain);
    expect(d.on(settled(0, permanent)).started).toEqual([key(1)]);
    expect(d.settleDropped()).toEqual([key(1)]);
    expect(d.settleDropped()).toEqual([key(2)]);
    expect(answer(d)).toMatchObject({
      outcome: "failed",
      isError: true,
      results: [
        { status: "failed" },
        { status: "rejected", summary: "not run: the task a that it waits for failed" },
        { status: "rejected", summary: "not run: the task b that it waits for failed" },
      ],
    });
    expect(d.context().usage.charged.spawns).toBe(1);
  });

  test("waits for the last attempt of a retried dependency", () => {
    const d = asking(chain);
    d.feed(settled(0, network));
    expect(d.on(timerFired("retry/1/0/0/1")).started).toEqual([key(0, 2)]);
    expect(d.on(settled(0, {}, 2)).started).toEqual([key(1)]);
  });
});

describe("its policy", () => {
  const two = { limits: { maxConcurrent: 2 } };

  test("any: the first success stops running tasks and drops queued tasks; their responses are still reported", () => {
    const d = asking(abc, { policy: "any" }, two);
    expect(d.on(settled(0)).started).toEqual([key(2), "cancel-child/1/0/1/1"]);
    expect(d.effect("cancelChild").reason).toBe("no longer needed: enough of its siblings have succeeded");
    d.settleDropped();
    d.feed(settled(1, { status: "cancelled", error: anError({ type: "cancelled", message: "stopped" }) }));
    expect(answer(d)).toMatchObject({
      policy: "any",
      outcome: "completed",
      results: [{ status: "completed" }, { status: "cancelled" }, { status: "cancelled" }],
    });
  });

  test("any: a task that finished before the stop reached it counts as a success", () => {
    const d = asking(abc.slice(0, 2), { policy: "any" });
    d.feed(settled(0));
    d.feed(settled(1));
    expect(answer(d)).toMatchObject({ succeeded: 2, failed: 0 });
  });

  test("quorum: the required number of successes stops the rest", () => {
    const d = asking(abc, { policy: "quorum", quorum: 2 });
    expect(d.on(settled(2)).started).toEqual([]);
    expect(d.on(settled(0)).started).toEqual(["cancel-child/1/0/1/1"]);
    d.feed(settled(1, network));
    expect(answer(d)).toMatchObject({ policy: "quorum 2", outcome: "completed", succeeded: 2, failed: 1 });
  });

  test("quorum: no more tasks start when it is out of reach", () => {
    const d = asking(abc, { policy: "quorum 3" }, two);
    expect(d.on(settled(0, permanent)).started).toEqual([key(2)]);
    expect(d.effect("dropChild").response.summary).toBe("not run: 3 successes can no longer be reached");
    d.settleDropped();
    d.feed(settled(1));
    expect(answer(d)).toMatchObject({ outcome: "failed", isError: true, succeeded: 1, failed: 2 });
  });

  test("all: a failure drops tasks that have not started, and lets running tasks end", () => {
    const d = asking(abc, { policy: "all" }, two);
    expect(d.on(settled(1, permanent)).started).toEqual([key(2)]);
    expect(d.pending().map(({ kind }) => kind)).not.toContain("cancelChild");
    d.settleDropped();
    d.feed(settled(0));
    expect(answer(d)).toMatchObject({ policy: "all", outcome: "failed", isError: true, succeeded: 1, failed: 2 });
  });

  test("a task that waits for its retry ends when it is no longer needed", () => {
    const d = asking(abc.slice(0, 2), { policy: "any" });
    d.feed(settled(0, network));
    expect(d.on(settled(1))).toMatchObject({ state: "execute.think", stopped: ["timer/retry/1/0/0/1"] });
    expect(answer(d)).toMatchObject({ succeeded: 1, failed: 1 });
  });
});

describe("sequential", () => {
  test("runs one task after another, with any outcome of each", () => {
    const d = asking(abc, { mode: "sequential" });
    expect(d.pendingKeys()).toEqual([key(0), "timer/deadline"]);
    expect(d.on(settled(0, permanent)).started).toEqual([key(1)]);
    expect(d.on(settled(1)).started).toEqual([key(2)]);
    d.feed(settled(2));
    expect(answer(d)).toMatchObject({ succeeded: 2, failed: 1 });
  });

  test("the mode of a call wins over the mode of the agent", () => {
    const definition = { subagents: { allow: [], deny: [], execution: "sequential" as const, max_concurrent: 5 } };
    expect(asking(abc, {}, { definition }).pendingKeys()).toHaveLength(2);
    expect(asking(abc, { mode: "parallel" }, { definition }).pendingKeys()).toHaveLength(4);
  });
});

describe("every planned child settles", () => {
  test.each(["continue", "all", "any", "quorum 2"])("once, under each policy: %s", (policy) => {
    const d = asking(
      [...abc, { name: "d", after: ["a"] }, { name: "e", after: ["d"] }],
      { policy },
      {
        limits: { maxConcurrent: 2 },
      },
    );
    for (let i = 0; i < 20 && d.state() === "execute.act.working"; i += 1) {
      d.settleDropped();
      const next = d.pending().find((effect) => effect.kind === "runChild");
      if (next?.kind === "runChild") d.feed(settled(next.item, next.item % 2 === 0 ? permanent : {}));
    }
    const items = d.facts.flatMap((fact) => (fact.type === "child.settled" ? [fact.item] : []));
    expect(items.sort()).toEqual([0, 1, 2, 3, 4]);
    expect(answer(d).results.map(({ name }: { name: string }) => name)).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("many tasks", () => {
  test.each([
    ["a thousand, with a small number of slots", 1_000, 5, false],
    ["a thousand, each after the previous one", 1_000, 5, true],
    ["hundreds at once", 400, 400, false],
  ])("%s: finish in time", (_, count, maxConcurrent, isChain) => {
    const tasks = Array.from({ length: count }, (_, i) => ({
      name: `t${i}`,
      after: isChain && i > 0 ? [`t${i - 1}`] : [],
    }));
    const d = asking(tasks, {}, { limits: { maxConcurrent, maxChildren: count } });
    for (let item = 0; item < count; item += 1) d.feed(settled(item), d.context().lastAt);
    expect(answer(d).succeeded).toBe(count);
  });
});
