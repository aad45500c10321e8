/** A run that has to end does not leave its children behind: they are told, awaited for a moment, then charged. */
import { describe, expect, test } from "vitest";
import {
  aBatch,
  anError,
  aToolCall,
  cancelled,
  childSettled,
  childWaiting,
  commanded,
  delegations,
  modelFailed,
  reply,
  type SpecChanges,
  timerFired,
} from "../fixtures.test-helper.ts";
import { drive, type FactBody, type MachineDriver } from "../machine-driver.test-helper.ts";

/** One child runs, one waits for its retry, one queues. */
function withChildren(changes: SpecChanges = {}): MachineDriver {
  const d = drive({ limits: { maxConcurrent: 2 }, ...changes });
  d.feed(reply(1, "asking", delegations(3)));
  d.feed(childSettled(1, 1, { error: anError() }));
  d.look();
  return d;
}

const stoppedByItself = { status: "cancelled", error: anError({ type: "cancelled", recoverable: false }) } as const;

describe.each([
  ["its session's cancel", cancelled("enough")],
  ["its own cancel", commanded({ kind: "run.cancelled", reason: "enough" })],
])("stopped by %s", (_, cancel) => {
  test("running children get the same command; queued ones are dropped, and those before a retry end", () => {
    const d = withChildren();
    const { state, started, stopped } = d.on(cancel);
    expect([state, started, stopped]).toEqual([
      "stopping.waiting",
      ["child/1/2/0/1", "timer/grace"],
      ["timer/retry/1/1/0/1"],
    ]);
    expect(d.effect("dropChild").response).toMatchObject({ status: "cancelled", summary: "enough" });
    expect(d.pendingKeys()).toEqual(["child/1/0/0/1", "child/1/2/0/1", "timer/deadline", "timer/grace"]);
  });

  test("it ends when the last child has ended", () => {
    const d = withChildren();
    d.feed(cancel);
    expect(d.settleDropped()).toEqual(["child/1/2/0/1"]);
    expect(d.state()).toBe("stopping.waiting");
    expect(d.on(childSettled(1, 0, { ...stoppedByItself, filesCreated: ["half.txt"] }))).toMatchObject({
      state: "respond.settling",
      stopped: ["timer/grace"],
    });
    expect(d.response()).toMatchObject({ status: "cancelled", filesCreated: ["half.txt"], warnings: [] });
    expect(d.response().metrics.subtree.runs).toBe(3);
  });
});

describe.each<[string, FactBody, string]>([
  ["the deadline", timerFired("deadline"), "timeout"],
  ["the failure of its model", modelFailed(2), "failed"],
])("by %s", (_, fact, status) => {
  /** The first result is in, the model thinks about it, one child runs on. */
  function streaming(): MachineDriver {
    const d = drive();
    const tasks = delegations(2).map(({ args }) => args);
    d.feed(reply(1, "", [aToolCall("delegate", { tasks, mode: "parallel_streaming" })]));
    d.feed(childSettled(1, 0, {}, 1, 0));
    d.look();
    return d;
  }

  test("only the parent can stop the child", () => {
    const d = streaming();
    expect(d.on(fact)).toMatchObject({ state: "stopping.waiting", started: ["cancel-child/1/0/1/1", "timer/grace"] });
    const told = d.effect("cancelChild");
    d.feed(childSettled(1, 0, stoppedByItself, 1, 1));
    expect(d.response()).toMatchObject({ status });
    expect(told.reason).toBe(d.response().error?.message);
  });

  test("a failure meanwhile is not retried", () => {
    const d = streaming();
    d.feed(fact);
    expect(d.on(childSettled(1, 0, { error: anError() }, 1, 1)).state).toBe("respond.settling");
  });
});

describe("stopped between the plan of its children and their start", () => {
  test("every journaled child settles, and none starts", () => {
    const d = drive();
    d.feed(reply(1, "", [aBatch([{ context: "summary" }, {}]), aToolCall("read")]));
    expect(d.state()).toBe("execute.act.summarising");
    d.look();
    expect(d.on(cancelled("enough"))).toMatchObject({ state: "stopping.waiting", stopped: ["summary/1"] });
    expect(d.settleDropped()).toEqual(["child/1/0/0/1", "child/1/0/1/1"]);
    expect([d.state(), d.context().usage.charged.spawns]).toEqual(["respond.settling", 0]);
  });
});

describe("stopped without an answer of its children in the grace period", () => {
  test("it ends without them, with a warning, and their whole share is charged", () => {
    const d = withChildren({ budget: { tokens: 40_000 }, limits: { maxConcurrent: 2 } });
    const { children, usage } = d.context();
    const share = children.get("1/0/0")?.reserve?.tokens ?? 0;
    expect(share).toBeGreaterThan(0);
    d.feed(cancelled());
    d.settleDropped();
    expect(d.on(timerFired("grace"))).toMatchObject({ state: "respond.settling", stopped: ["child/1/0/0/1"] });
    expect(d.response().warnings).toEqual([
      "1 of its children had not ended when it did: their whole share is charged",
    ]);
    expect(d.response().metrics.charged.tokens).toBe(usage.charged.tokens + share);
  });

  test("later responses are ignored", () => {
    const d = withChildren();
    d.feed(cancelled());
    d.feed(timerFired("grace"));
    const before = d.context();
    d.feed(childSettled(1, 0, { filesCreated: ["late.txt"] }));
    d.feed(childWaiting(1, 0, true));
    d.feed(timerFired("grace"));
    expect(d.context()).toEqual(before);
  });
});

describe("waiting for its stopped children", () => {
  test.each<[string, FactBody]>([
    ["another cancel", cancelled("again")],
    ["the deadline", timerFired("deadline")],
    ["a reply", reply(1, "late")],
    ["a timer of a finished retry", timerFired("retry/1/1/0/1")],
  ])("%s is ignored", (_, fact) => {
    const d = withChildren();
    d.feed(cancelled());
    const { outcome, children, batches } = d.context();
    expect(d.on(fact)).toMatchObject({ state: "stopping.waiting", stopped: [] });
    expect(d.context()).toMatchObject({ outcome, children, batches });
  });

  test("it runs no tool and starts no other child", () => {
    const d = drive({ limits: { maxConcurrent: 1 } });
    d.feed(reply(1, "", [...delegations(2), aToolCall("read")]));
    expect(d.on(cancelled()).stopped).toEqual(["tool/1/2"]);
    expect(d.on(childSettled(1, 0, stoppedByItself)).started).toEqual([]);
  });
});
