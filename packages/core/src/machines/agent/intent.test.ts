/** How a run comes to work, or does not: intent, approval, refusal. */
import { describe, expect, test } from "vitest";
import { drive, openedAt } from "../drive.test-helper.ts";
import { answered, cancelled, intentAssessed, timerFired } from "../samples.test-helper.ts";

const assessing = () => drive({ definition: { intent: "model" } });

function awaitingApproval() {
  const d = assessing();
  d.feed(intentAssessed("high"));
  d.look();
  return d;
}

describe("a request comes in", () => {
  test("direct: thinking starts at once, and the deadline runs", () => {
    const d = drive();
    expect(d.state()).toBe("execute.think");
    expect(d.look()).toEqual({ started: ["timer/deadline", "model/1"], stopped: [] });
    expect(d.effect("startTimer").delayMs).toBe(300_000);
  });

  test.each(["patterns", "model"] as const)("%s: the intent is assessed before the model is called", (intent) => {
    const d = drive({ definition: { intent } });
    expect(d.state()).toBe("intent.assessing");
    expect(d.look().started).toEqual(["timer/deadline", "intent"]);
    expect(d.on(intentAssessed("medium"))).toEqual({ state: "execute.think", started: ["model/1"], stopped: [] });
    expect(d.context().intent.context.notes).toEqual(["assessed"]);
  });

  test("the direct intent has the six fields, from the request alone", () => {
    const { intent } = drive({}, { successCriteria: "a number" }).context();
    expect(intent.context).toEqual({
      request: "count the files",
      tools: ["read", "shell"],
      params: {},
      status: "planning",
      result: null,
      notes: [],
    });
    expect(intent).toMatchObject({ risk: "low", successCriteria: "a number" });
  });

  test("the single message holds task, criteria and context", () => {
    const d = drive({}, { successCriteria: "a number", context: "a.txt" });
    expect(d.effect("callModel").messages).toEqual([
      { role: "user", text: "count the files\n\nSuccess criteria: a number\n\nContext:\na.txt" },
    ]);
  });

  test("the deadline is the run's own cap or what its parent had left, whichever is less", () => {
    expect(drive({}, { remainingMs: 400 }).effect("startTimer").delayMs).toBe(400);
    expect(drive({}, { remainingMs: 400_000 }).effect("startTimer").delayMs).toBe(300_000);
  });
});

describe("a risky intent waits for a person", () => {
  test("it starts nothing but the approval", () => {
    const d = assessing();
    d.look();
    expect(d.on(intentAssessed("high"))).toEqual({ state: "awaitingApproval", started: ["approval"], stopped: [] });
    expect(d.effect("awaitApproval").risk).toBe("high");
  });

  test.each([
    ["a yes", answered(true), "execute.think", ["model/1"], []],
    ["a no", answered(false), "respond.settling", ["settle"], []],
    ["a cancel", cancelled(), "respond.settling", ["settle"], ["approval"]],
    ["the deadline", timerFired("deadline"), "respond.settling", ["settle"], ["approval"]],
    ["another run's yes", answered(true, "another run"), "awaitingApproval", [], []],
    ["another run's no", answered(false, "another run"), "awaitingApproval", [], []],
  ])("%s", (_, fact, state, started, stopped) => {
    expect(awaitingApproval().on(fact)).toEqual({ state, started, stopped });
  });

  test("denied: rejected, by whom", () => {
    const d = awaitingApproval();
    d.feed(answered(false));
    expect(d.response()).toMatchObject({
      status: "rejected",
      success: false,
      error: { type: "permission", message: "denied by ada" },
      metrics: { iterations: 0 },
    });
  });

  test("a second answer changes nothing", () => {
    const d = awaitingApproval();
    d.feed(answered(true));
    expect(d.on(answered(false))).toEqual({ state: "execute.think", started: [], stopped: [] });
  });
});

describe("a request is rejected before anything starts", () => {
  test.each([
    ["too deep", { depth: 4 }, "depth", "depth 4 is over the limit of 3"],
    ["a cycle", { depth: 2, chain: ["main", "helper"] }, "permission", "main → helper → main is a cycle"],
    ["another agent's", { agent: "helper" }, "params", "the request is for helper, the definition is of main"],
  ] as const)("%s", (_, request, type, message) => {
    const d = drive({}, { ...request, chain: "chain" in request ? [...request.chain] : [] });
    expect(d.state()).toBe("respond.settling");
    expect(d.look().started).toEqual(["timer/deadline", "settle"]);
    expect(d.response()).toMatchObject({
      status: "rejected",
      success: false,
      summary: message,
      details: message,
      error: { type, message, recoverable: false },
      bailoutReason: null,
    });
  });

  test("as deep as the limit is not too deep", () => {
    expect(drive({}, { depth: 3 }).state()).toBe("execute.think");
  });
});

describe("while the intent is assessed", () => {
  test.each([
    ["a cancel", cancelled("not today"), "cancelled", null, "not today"],
    ["the deadline", timerFired("deadline"), "timeout", "timeout", "stopped at its limit (timeout)"],
  ])("%s stops it and settles", (_, fact, status, bailoutReason, message) => {
    const d = assessing();
    d.look();
    expect(d.on(fact)).toEqual({ state: "respond.settling", started: ["settle"], stopped: ["intent"] });
    expect(d.response()).toMatchObject({ status, bailoutReason });
    expect(d.response().error?.message).toContain(message);
    expect(d.on(intentAssessed("low"))).toEqual({ state: "respond.settling", started: [], stopped: [] });
  });

  test("another timer does not", () => {
    expect(assessing().on(timerFired("retry/1/0/1"))).toMatchObject({ state: "intent.assessing", stopped: [] });
  });
});

test("time in which no host held the run is kept apart", () => {
  const d = drive();
  d.feed({ kind: "run.parked", reason: "drain" }, openedAt + 1_000);
  d.feed({ kind: "run.claimed", reason: "resumed" }, openedAt + 61_000);
  expect(d.context()).toMatchObject({ pausedMs: 60_000, lastAt: openedAt + 61_000 });
});
