/** Think → act → check: turns of the model and the tools that they ask for. */
import { describe, expect, test } from "vitest";
import {
  anError,
  aToolCall,
  childSettled,
  delegateTo,
  modelFailed,
  reads,
  reply,
  type SpecChanges,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

const read = aToolCall("read", { path: "a.txt" });

function acting(calls: number, changes: SpecChanges = {}): MachineDriver {
  const d = drive(changes);
  d.look();
  d.feed(reply(1, "reading", reads(calls)));
  return d;
}

/** The results after the model's last reply, as [text, isError]. */
function results(d: MachineDriver): [string, boolean][] {
  return d
    .effect("callModel")
    .messages.flatMap((message) =>
      message.role === "tool" ? [[message.text, message.isError] as [string, boolean]] : [],
    );
}

describe("one turn after another", () => {
  test("an answer without calls completes the run", () => {
    const d = drive();
    d.look();
    expect(d.on(reply(1, "42"))).toEqual({ state: "respond.settling", started: ["settle"], stopped: [] });
    expect(d.response()).toMatchObject({
      status: "completed",
      success: true,
      summary: "42",
      details: "42",
      error: null,
    });
  });

  test("a call runs, the model reads its result, and the next turn follows", () => {
    const d = drive();
    d.look();
    expect(d.on(reply(1, "let me see", [read]))).toEqual({
      state: "execute.act.working",
      started: ["tool/1/0"],
      stopped: [],
    });
    expect(d.effect("callTool")).toMatchObject({ step: 1, call: 0, toolCall: read });
    expect(d.on(toolFinished(1, 0, "hello"))).toEqual({ state: "execute.think", started: ["model/2"], stopped: [] });
    expect(d.effect("callModel")).toMatchObject({
      step: 2,
      lastTurn: false,
      messages: [
        { role: "user", text: "count the files" },
        { role: "assistant", text: "let me see", calls: [read] },
        { role: "tool", callId: "id-read", name: "read", text: "hello", isError: false },
      ],
    });
    expect(d.on(reply(2, "42")).state).toBe("respond.settling");
    expect(d.response().metrics).toMatchObject({ iterations: 2, toolCalls: 1 });
  });

  test("the failure of a tool is a result like any other", () => {
    const d = acting(2);
    d.feed(toolFinished(1, 0, "no such file", { error: anError({ type: "tool_error" }) }));
    d.feed(toolFinished(1, 1, "maybe", { inDoubt: true }));
    expect(results(d)).toEqual([
      ["no such file", true],
      ["maybe", true],
    ]);
    d.feed(reply(2, "sorry"));
    expect(d.response()).toMatchObject({
      status: "completed",
      warnings: ["read was interrupted: it may or may not have happened, and was not repeated"],
    });
  });

  test.each([
    ["an unrecoverable failure of the network", { type: "network", recoverable: false } as const],
    ["a spent budget", { type: "budget", recoverable: false, begun: false } as const],
    ["an unrecoverable rate limit", { type: "rate_limit", recoverable: false } as const],
  ])("a failure of the model fails the run, with the same recoverability: %s", (_, changes) => {
    const d = drive();
    d.look();
    expect(d.on(modelFailed(1, changes))).toEqual({ state: "respond.settling", started: ["settle"], stopped: [] });
    expect(d.response()).toMatchObject({ status: "failed", error: changes });
  });

  test("a refusal of the model is a failure, whatever text or calls it has", () => {
    const d = drive();
    d.feed(reply(1, "I cannot", [read], { stopReason: "refusal" }));
    expect(d.response()).toMatchObject({ status: "failed", details: "I cannot", error: { type: "model" } });
  });

  test("a truncated answer has a warning", () => {
    const d = drive();
    d.feed(reply(1, "first, sec", [], { stopReason: "max_tokens" }));
    expect(d.response()).toMatchObject({ status: "completed" });
    expect(d.response().warnings).toEqual(["the model was cut off at its output limit: what it said is incomplete"]);
  });
});

describe("tools of one turn run side by side", () => {
  test("up to maxParallelTools; the rest start as others finish", () => {
    const d = acting(4, { limits: { maxParallelTools: 2 } });
    expect(d.look().started).toEqual(["tool/1/0", "tool/1/1"]);
    expect(d.on(toolFinished(1, 1, "b"))).toEqual({ state: "execute.act.working", started: ["tool/1/2"], stopped: [] });
    expect(d.on(toolFinished(1, 2, "c"))).toEqual({ state: "execute.act.working", started: ["tool/1/3"], stopped: [] });
    expect(d.on(toolFinished(1, 3, "d"))).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.on(toolFinished(1, 0, "a"))).toEqual({ state: "execute.think", started: ["model/2"], stopped: [] });
  });

  test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    "results are in call order, finished as %j",
    (order) => {
      const d = acting(3);
      for (const call of order) d.feed(toolFinished(1, call, `result ${call}`));
      expect(results(d)).toEqual([
        ["result 0", false],
        ["result 1", false],
        ["result 2", false],
      ]);
    },
  );

  test("children and tools have separate caps", () => {
    const d = drive({ limits: { maxParallelTools: 1, maxConcurrent: 1 } });
    d.look();
    const calls = [...reads(2), delegateTo("helper"), delegateTo("writer")];
    expect(d.on(reply(1, "", calls)).started.sort()).toEqual(["child/1/2/0/1", "plan/1", "tool/1/0"]);
    expect(d.on(toolFinished(1, 0, "a")).started).toEqual(["tool/1/1"]);
    expect(d.on(childSettled(1, 2)).started).toEqual(["child/1/3/0/1"]);
  });
});

describe("late and foreign outcomes are ignored", () => {
  test.each([
    ["of a settled call", toolFinished(1, 1, "again", { inDoubt: true, filesCreated: ["x"] })],
    ["of a queued call", toolFinished(1, 3, "early")],
    ["of an unknown call", toolFinished(1, 9, "ghost")],
    ["of a later step", toolFinished(2, 0, "ghost")],
    ["of a finished model call", reply(1, "again", [read])],
    ["of a model call that failed before", modelFailed(1)],
    ["of a later model call", reply(2, "early")],
    ["of a child, for a tool call", childSettled(1, 0)],
  ])("%s", (_, fact) => {
    const d = acting(4, { limits: { maxParallelTools: 2 } });
    d.feed(toolFinished(1, 1, "b"));
    const before = d.context();
    expect(d.on(fact)).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.context()).toEqual(before);
    expect(d.pendingKeys()).toEqual(["timer/deadline", "tool/1/0", "tool/1/2"]);
  });

  test("the outcome of a tool for a delegation", () => {
    const d = drive();
    d.feed(reply(1, "", [delegateTo("helper")]));
    const before = d.context();
    expect(d.on(toolFinished(1, 0, "ghost"))).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.context()).toEqual(before);
  });
});
