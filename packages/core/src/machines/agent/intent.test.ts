/** The start of a run: intent, approval, refusal. */
import { describe, expect, test } from "vitest";
import { wholeRunStep } from "../../protocol/approval.ts";
import {
  answered,
  approvalRequested,
  aToolCall,
  cancelled,
  claimed,
  intentAssessed,
  reply,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";
import { runContextOf } from "./run-context.ts";

const otherQuestion = "00000000-0000-8000-8000-00000000cccc";
const assessing = () => drive({ definition: { intent: "model" } });

/** The question about the whole run. */
const question = approvalRequested(wholeRunStep, 0, null);

function awaitingApproval() {
  const d = assessing();
  d.feed(intentAssessed("high"));
  d.feed(question);
  d.look();
  return d;
}

describe("a request", () => {
  test("direct: starts the model call at once, and the deadline", () => {
    const d = drive();
    expect(d.state()).toBe("execute.think");
    expect(d.look()).toEqual({ started: ["timer/deadline", "model/1"], stopped: [] });
    expect(d.effect("startTimer")).toMatchObject({ timer: "deadline", delayMs: 300_000, since: openedAt });
  });

  test.each(["patterns", "model"] as const)("%s: assesses the intent before the model is called", (intent) => {
    const d = drive({ definition: { intent } });
    expect(d.state()).toBe("intent.assessing");
    expect(d.look().started).toEqual(["timer/deadline", "intent"]);
    expect(d.on(intentAssessed("medium"))).toEqual({ state: "execute.think", started: ["model/1"], stopped: [] });
    expect(d.context().intent.context.notes).toEqual(["assessed"]);
  });

  test("the direct intent has its six fields from the request alone", () => {
    const { intent } = drive({}, { successCriteria: "a number" }).context();
    expect(intent.context).toEqual({
      request: "count the files",
      tools: ["read", "shell"],
      params: {},
      status: "executing",
      result: null,
      notes: [],
    });
    expect(intent).toMatchObject({ risk: "low", successCriteria: "a number" });
  });

  test("the first message holds task, criteria and context", () => {
    const d = drive({}, { successCriteria: "a number", context: "a.txt" });
    expect(d.effect("callModel").messages).toEqual([
      { role: "user", text: "count the files\n\nSuccess criteria: a number\n\nContext:\na.txt" },
    ]);
  });

  test("the deadline is the minimum of the run's own cap and the time that its parent had left", () => {
    expect(drive({}, { remainingMs: 400 }).effect("startTimer").delayMs).toBe(400);
    expect(drive({}, { remainingMs: 400_000 }).effect("startTimer").delayMs).toBe(300_000);
  });
});

describe("the context of a run moves through its statuses", () => {
  const contextOf = (d: MachineDriver) => runContextOf(d.context());

  test("planning, executing with its newest results, complete with its result and summary", () => {
    const d = assessing();
    expect(contextOf(d)).toMatchObject({ request: "count the files", status: "planning", result: null, summary: null });
    d.feed({ ...intentAssessed("high"), usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0 } });
    d.feed(question);
    expect(contextOf(d).status).toBe("planning");
    d.feed(answered(question.approval.id, true));
    expect(contextOf(d)).toMatchObject({ status: "executing", result: null, risk: "high", notes: ["assessed"] });
    d.feed(reply(1, "", [aToolCall("read", { path: "a.txt" })]));
    d.feed(toolFinished(1, 0, "12 lines"));
    expect(contextOf(d)).toMatchObject({
      status: "executing",
      params: { read: { path: "a.txt" } },
      result: [{ reference: "1/0", tool: "read", ok: true, output: "12 lines" }],
      summary: null,
    });
    d.feed(reply(2, "## Summary\nTwelve.\n\n## Warnings\n- one file is hidden"));
    expect(contextOf(d).status).toBe("executing");
    d.feed(settledWith(d.effect("settle").response));
    expect(contextOf(d)).toMatchObject({
      status: "complete",
      result: expect.stringContaining("Twelve."),
      notes: ["assessed", "one file is hidden"],
      summary: "Twelve.",
    });
  });

  test.each<[string, string, (d: MachineDriver) => void]>([
    ["cancelled before its assessment", "not needed", (d) => d.feed(cancelled("not needed"))],
    ["denied", "denied by ada", (d) => [intentAssessed("high"), question, no].forEach((fact) => void d.feed(fact))],
    [
      "cancelled at work",
      "too late",
      (d) => {
        d.feed(intentAssessed("low"));
        d.feed(reply(1, "I count first.", [aToolCall("read", { path: "a.txt" })]));
        d.feed(cancelled("too late"));
      },
    ],
  ])("%s: failed, with the reason as its summary", (_, reason, end) => {
    const d = assessing();
    end(d);
    const { response } = d.effect("settle");
    d.feed(settledWith(response));
    expect(contextOf(d)).toMatchObject({ status: "failed", summary: reason });
  });

  test("a run that failed its verification executes again", () => {
    const d = drive({ definition: { verifiers: [{ name: "corpus", params: {} }] } });
    d.feed(reply(1, "done"));
    d.feed(verified(1, ["no corpus"]));
    expect(contextOf(d).status).toBe("executing");
  });
});

const no = answered(question.approval.id, false);

describe("a risky intent waits for an approval", () => {
  test("it starts only the question, and no effect after the question is journaled", () => {
    const d = assessing();
    d.look();
    expect(d.on(intentAssessed("high"))).toEqual({
      state: "awaitingApproval.asking",
      started: ["approval"],
      stopped: [],
    });
    expect(d.effect("askApproval").reason).toContain("high risk");
    expect(d.on(question).state).toBe("awaitingApproval.waiting");
    expect(d.pending()).toEqual([]);
  });

  const yes = answered(question.approval.id, true);
  test.each([
    ["a yes", yes, "execute.think", ["timer/deadline", "model/1"]],
    ["a no", no, "respond.settling", ["timer/deadline", "settle"]],
    ["a cancel", cancelled(), "respond.settling", ["timer/deadline", "settle"]],
    ["the deadline, stopped by the question", timerFired("deadline"), "awaitingApproval.waiting", []],
    ["an allowance of another question", answered(otherQuestion, true), "awaitingApproval.waiting", []],
    ["a denial of another question", answered(otherQuestion, false), "awaitingApproval.waiting", []],
  ])("%s", (_, fact, state, started) => {
    expect(awaitingApproval().on(fact)).toEqual({ state, started, stopped: [] });
  });

  test.each([
    ["a yes", yes],
    ["a no", no],
  ])("%s before the question is journaled is ignored", (_, fact) => {
    const d = assessing();
    d.feed(intentAssessed("high"));
    expect(d.on(fact).state).toBe("awaitingApproval.asking");
  });

  test.each([
    ["a cancel", cancelled(), "cancelled"],
    ["the deadline", timerFired("deadline"), "timeout"],
  ])("during the question, %s ends it", (_, fact, status) => {
    const d = assessing();
    d.feed(intentAssessed("high"));
    d.look();
    expect(d.on(fact)).toMatchObject({ state: "respond.settling", stopped: ["approval"] });
    expect(d.response()).toMatchObject({ status });
  });

  test.each([
    [null, "denied by ada"],
    ["too dear", "denied by ada: too dear"],
  ])("a denial with the reason %j rejects the run, with the person and the reason", (reason, message) => {
    const d = awaitingApproval();
    d.feed(answered(question.approval.id, false, { reason }));
    expect(d.response()).toMatchObject({
      status: "rejected",
      success: false,
      error: { type: "permission", message },
      metrics: { iterations: 0 },
    });
  });

  test("a second answer is ignored", () => {
    const d = awaitingApproval();
    d.feed(yes);
    d.look();
    expect(d.on(no)).toEqual({ state: "execute.think", started: [], stopped: [] });
  });

  test("the wait counts against no cap", () => {
    const d = awaitingApproval();
    const asked = d.context().lastAt;
    d.feed(yes, asked + 3_600_000);
    expect(d.effect("startTimer")).toMatchObject({ delayMs: 300_000 - (asked - openedAt), since: asked + 3_600_000 });
    d.feed(cancelled(), asked + 3_600_500);
    expect(d.response().metrics).toMatchObject({ waitedMs: 3_600_000, durationMs: asked - openedAt + 3_600_500 });
  });
});

describe("a request is rejected before anything starts", () => {
  test.each([
    ["too deep", { depth: 4 }, "depth", "depth 4 is over the limit of 3"],
    ["a cycle", { depth: 2, chain: ["main", "helper"] }, "permission", "main → helper → main is a cycle"],
    ["another agent's", { agent: "helper" }, "params", "the request is for helper, the definition is of main"],
  ] as const)("if %s", (_, request, type, message) => {
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

  test("if its owner has disabled the agent", () => {
    const d = drive({ definition: { disabled: true } });
    expect(d.response()).toMatchObject({
      status: "rejected",
      error: { type: "permission", message: "the agent main is switched off" },
    });
  });

  test("but not at the depth limit itself", () => {
    expect(drive({}, { depth: 3 }).state()).toBe("execute.think");
  });
});

describe("while the intent is being assessed", () => {
  test.each([
    ["a cancel", cancelled("not today"), "cancelled", null, "not today"],
    ["the deadline", timerFired("deadline"), "timeout", "timeout", "stopped at its limit (timeout)"],
  ])("%s stops it and settles the run", (_, fact, status, bailoutReason, message) => {
    const d = assessing();
    d.look();
    expect(d.on(fact)).toEqual({ state: "respond.settling", started: ["settle"], stopped: ["intent"] });
    expect(d.response()).toMatchObject({ status, bailoutReason });
    expect(d.response().error?.message).toContain(message);
    expect(d.on(intentAssessed("low"))).toEqual({ state: "respond.settling", started: [], stopped: [] });
  });

  test("another timer is ignored", () => {
    expect(assessing().on(timerFired("retry/1/0/0/1"))).toMatchObject({ state: "intent.assessing", stopped: [] });
  });
});

describe("an assessment whose outcome is lost", () => {
  test("is repeated by the next host, and charged", () => {
    const d = drive({ definition: { intent: "model" }, limits: { maxOutputTokens: 100 } });
    const { callReserve } = d.context();
    d.look();
    expect(d.on(claimed())).toEqual({
      state: "intent.assessing",
      started: ["timer/deadline", "intent"],
      stopped: ["intent", "timer/deadline"],
    });
    d.feed({ ...intentAssessed("low"), usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 } });
    expect(d.context().usage).toMatchObject({ lost: callReserve, charged: { tokens: callReserve?.tokens } });
  });

  test("its usage counts as the run's own", () => {
    const d = assessing();
    const usage = { inputTokens: 30, outputTokens: 3, cachedTokens: 0, costUsd: 0.5 };
    d.feed({ ...intentAssessed("low"), usage });
    expect(d.context().usage).toMatchObject({
      own: { inputTokens: 30, outputTokens: 3, costUsd: 0.5 },
      charged: { tokens: 33, costUsd: 0.5 },
      lost: { tokens: 0 },
    });
  });
});

test("time without a host is not counted", () => {
  const d = drive();
  d.feed({ kind: "run.parked", reason: "drain" }, openedAt + 1_000);
  d.feed(claimed(), openedAt + 61_000);
  expect(d.effect("startTimer")).toMatchObject({ delayMs: 299_000, since: openedAt + 61_000 });
});
