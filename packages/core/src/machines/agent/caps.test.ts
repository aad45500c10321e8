/** Every cap ends a run with a reason and with what was achieved so far: never an exception, never silence. */
import { describe, expect, test } from "vitest";
import type { Limits } from "../../protocol/limits.ts";
import { type Drive, drive } from "../drive.test-helper.ts";
import { aToolCall, delegateTo, type ReplyChanges, reply, timerFired, toolFinished } from "../samples.test-helper.ts";
import { lastTurnNotice } from "./rules.ts";

const read = aToolCall("read");

/** One whole turn: a call asked for, made and answered. */
function turn(d: Drive, step: number, text: string, changes: ReplyChanges = {}): void {
  d.feed(reply(step, text, [read], changes));
  if (d.state() === "execute.act") d.feed(toolFinished(step, 0, "x"));
}

function isTold(d: Drive): boolean {
  const { messages, lastTurn } = d.effect("callModel");
  const told = messages.filter((message) => message.text === lastTurnNotice).length;
  expect(told).toBe(lastTurn ? 1 : 0);
  if (lastTurn) expect(messages.at(-1)).toEqual({ role: "user", text: lastTurnNotice });
  return lastTurn;
}

describe("iterations", () => {
  test("the last turn is announced; an answer in it completes the run", () => {
    const d = drive({ limits: { maxIterations: 2 } });
    expect(isTold(d)).toBe(false);
    turn(d, 1, "looking");
    expect(isTold(d)).toBe(true);
    d.feed(reply(2, "here it is"));
    expect(d.response()).toMatchObject({ status: "completed", bailoutReason: null, metrics: { iterations: 2 } });
  });

  test("tools asked for in it are not run: bailed out, with the partial text", () => {
    const d = drive({ limits: { maxIterations: 2 } });
    turn(d, 1, "looking");
    d.look();
    expect(d.on(reply(2, "I have half of it", [read]))).toEqual({
      state: "respond.settling",
      started: ["settle"],
      stopped: [],
    });
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      success: false,
      bailoutReason: "max_iterations",
      details: "I have half of it",
      error: { type: "budget", recoverable: false },
      metrics: { iterations: 2, toolCalls: 1 },
    });
  });

  test("words of an earlier turn count where the last has none", () => {
    const d = drive({ limits: { maxIterations: 2 } });
    turn(d, 1, "I found three");
    d.feed(reply(2, "", [read]));
    expect(d.response()).toMatchObject({ status: "bailed_out", details: "I found three" });
  });

  test("a single turn is the last", () => {
    const d = drive({ limits: { maxIterations: 1 } });
    expect(isTold(d)).toBe(true);
    d.feed(reply(1, "", [delegateTo("helper")]));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_iterations", toolsUsed: [] });
  });
});

describe("tool calls", () => {
  test("those over the cap are refused, those under it run, then comes the last turn", () => {
    const d = drive({ limits: { maxToolCalls: 2 } });
    d.look();
    expect(d.on(reply(1, "", [read, read, read])).started).toEqual(["tool/1/0", "tool/1/1"]);
    d.feed(toolFinished(1, 1, "b"));
    d.feed(toolFinished(1, 0, "a"));
    expect(isTold(d)).toBe(true);
    expect(d.effect("callModel").messages.filter(({ role }) => role === "tool")).toMatchObject([
      { text: "a", isError: false },
      { text: "b", isError: false },
      { text: "not run: the limit of 2 tool calls is reached", isError: true },
    ]);
    d.feed(reply(2, "half", [read]));
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      bailoutReason: "max_tool_calls",
      details: "half",
      metrics: { toolCalls: 2, iterations: 2 },
    });
  });

  test("delegations count as well, and are not even queued over the cap", () => {
    const d = drive({ limits: { maxToolCalls: 1 } });
    d.look();
    expect(d.on(reply(1, "", [delegateTo("helper"), delegateTo("writer")])).started).toEqual(["child/1/0/1"]);
    expect(d.children().filter((id) => id.startsWith("child/"))).toEqual(["child/1/0"]);
  });
});

describe("checked between turns", () => {
  const cases: [string, Partial<Limits>, ReplyChanges["usage"], string][] = [
    ["tokens", { maxTokens: 100 }, { inputTokens: 90, outputTokens: 10 }, "max_tokens"],
    ["cost", { maxCostUsd: 0.5 }, { costUsd: 0.5 }, "max_cost"],
    ["an unknown cost, which may be any", { maxCostUsd: 0.5 }, { costUsd: null }, "max_cost"],
    ["context", { maxContextTokens: 20 }, {}, "max_context"],
  ];
  test.each(cases)("%s", (_, limits, usage, bailoutReason) => {
    const d = drive({ limits });
    d.feed(reply(1, "so far", [read], { usage: usage ?? {} }));
    d.look();
    expect(d.on(toolFinished(1, 0, "x"))).toEqual({ state: "respond.settling", started: ["settle"], stopped: [] });
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      success: false,
      bailoutReason,
      details: "so far",
      summary: expect.stringContaining(bailoutReason),
      error: { type: "budget" },
    });
  });

  test.each([
    ["tokens", { maxTokens: 101 }, { inputTokens: 90, outputTokens: 10 }],
    ["cost", { maxCostUsd: 0.51 }, { costUsd: 0.5 }],
    ["no cap on cost", { maxCostUsd: null }, { costUsd: null }],
    ["context", { maxContextTokens: 2_000 }, {}],
  ])("one short of the cap, the run goes on: %s", (_, limits, usage) => {
    const d = drive({ limits });
    turn(d, 1, "so far", { usage });
    expect(d.state()).toBe("execute.think");
  });

  test("an answer is an answer, though it went over a cap", () => {
    const d = drive({ limits: { maxTokens: 1 } });
    d.feed(reply(1, "42"));
    expect(d.response()).toMatchObject({ status: "completed", bailoutReason: null });
  });
});

describe("the deadline", () => {
  test.each([
    ["while the model thinks", (_: Drive) => {}, ["model/1"]],
    ["while tools run", (d: Drive) => d.feed(reply(1, "reading", [read, read])), ["tool/1/0", "tool/1/1"]],
    ["while children work", (d: Drive) => d.feed(reply(1, "asking", [delegateTo("helper")])), ["child/1/0/1"]],
  ])("%s: timeout, and nothing runs on", (_, prepare, stopped) => {
    const d = drive();
    prepare(d);
    expect(d.on(timerFired("deadline"))).toEqual({ state: "respond.settling", started: ["settle"], stopped });
    expect(d.response()).toMatchObject({
      status: "timeout",
      success: false,
      bailoutReason: "timeout",
      error: { type: "timeout" },
    });
    expect(d.pendingKeys()).toEqual(["settle"]);
    expect(d.children().filter((id) => /^(child|tool)\//.test(id))).toEqual([]);
  });

  test("what was said so far is in the details", () => {
    const d = drive();
    turn(d, 1, "I found three");
    d.feed(timerFired("deadline"));
    expect(d.response().details).toBe("I found three");
  });
});
