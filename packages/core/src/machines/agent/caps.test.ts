/** Every cap ends a run with a reason and its partial result: never an exception, never silence. */
import { describe, expect, test } from "vitest";
import {
  aToolCall,
  delegateTo,
  type ReplyChanges,
  reads,
  reply,
  type SpecChanges,
  timerFired,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";
import { lastTurnNotice } from "./turn.ts";

const read = aToolCall("read");
const price = { inputPerMillion: 1, outputPerMillion: 1 };

/** One whole turn: a call asked for, made and answered. */
function turn(d: MachineDriver, step: number, text: string, changes: ReplyChanges = {}): void {
  d.feed(reply(step, text, [read], changes));
  if (d.state() === "execute.act.working") d.feed(toolFinished(step, 0, "x"));
}

function isTold(d: MachineDriver): boolean {
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

  test("tool calls in it do not run: the run bails out, with its partial text", () => {
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

  test("the text of an earlier turn is the partial text if the last turn has none", () => {
    const d = drive({ limits: { maxIterations: 2 } });
    turn(d, 1, "I found three");
    d.feed(reply(2, "", [read]));
    expect(d.response()).toMatchObject({ status: "bailed_out", details: "I found three" });
  });

  test("a single turn is the last turn", () => {
    const d = drive({ limits: { maxIterations: 1 } });
    expect(isTold(d)).toBe(true);
    d.feed(reply(1, "", [delegateTo("helper")]));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_iterations", toolsUsed: [] });
  });
});

describe("tool calls", () => {
  test("calls over the cap are refused, calls under it run, and then comes the last turn", () => {
    const d = drive({ limits: { maxToolCalls: 2 } });
    d.look();
    expect(d.on(reply(1, "", reads(3))).started).toEqual(["plan/1", "tool/1/0", "tool/1/1"]);
    d.feed(toolFinished(1, 1, "b"));
    d.feed(toolFinished(1, 0, "a"));
    expect(isTold(d)).toBe(true);
    expect(d.effect("callModel").messages.filter(({ role }) => role === "tool")).toMatchObject([
      { text: "a", isError: false },
      { text: "b", isError: false },
      {
        text: '{"error":{"type":"budget","message":"not run: the limit of 2 tool calls is reached"}}',
        isError: true,
      },
    ]);
    d.feed(reply(2, "half", [read]));
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      bailoutReason: "max_tool_calls",
      details: "half",
      metrics: { toolCalls: 2, iterations: 2 },
    });
  });

  test("delegations count as well, and are not queued over the cap", () => {
    const d = drive({ limits: { maxToolCalls: 1 } });
    d.look();
    expect(d.on(reply(1, "", [delegateTo("helper"), delegateTo("writer")])).started).toEqual([
      "plan/1",
      "child/1/0/0/1",
    ]);
    expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual(["batch/1/0"]);
  });
});

/** Tokens that are paid for, and do not make the conversation longer. */
const thought = (tokens: number) => ({ outputTokens: tokens, reasoningTokens: tokens });

describe("a cap is checked between turns", () => {
  const cases: [string, SpecChanges, ReplyChanges["usage"], string, string][] = [
    ["tokens", { limits: { maxTokens: 50_000 } }, { inputTokens: 49_990, outputTokens: 10 }, "x", "max_tokens"],
    ["cost", { limits: { maxCostUsd: 0.5 }, price }, { costUsd: 0.5 }, "x", "max_cost"],
    [
      "an unknown cost, which may be any amount",
      { limits: { maxCostUsd: 0.5 }, price },
      { costUsd: null },
      "x",
      "max_cost",
    ],
    ["context", { limits: { maxContextTokens: 2_000 } }, {}, "x".repeat(9_000), "max_context"],
    ["the whole tree's tokens", { budget: { tokens: 50_000 } }, { inputTokens: 49_990 }, "x", "max_tokens"],
    ["the whole tree's cost", { budget: { costUsd: 0.5 }, price }, { costUsd: 0.5 }, "x", "max_cost"],
  ];
  test.each(cases)("%s: refuses another turn", (_, changes, usage, output, bailoutReason) => {
    const d = drive(changes);
    d.feed(reply(1, "so far", [read], { usage: usage ?? {} }));
    d.look();
    expect(d.on(toolFinished(1, 0, output))).toEqual({ state: "respond.settling", started: ["settle"], stopped: [] });
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      success: false,
      bailoutReason,
      details: "so far",
      summary: expect.stringContaining(bailoutReason),
      error: { type: "budget" },
    });
  });

  const nearly: [string, SpecChanges, ReplyChanges["usage"], string, string][] = [
    ["tokens", { limits: { maxTokens: 50_000 } }, thought(48_500), "x", "max_tokens"],
    ["cost", { limits: { maxCostUsd: 0.5 }, price }, { costUsd: 0.4985 }, "x", "max_cost"],
    ["context", { limits: { maxContextTokens: 2_000 } }, {}, "x".repeat(5_000), "max_context"],
    ["the whole tree's tokens", { budget: { tokens: 50_000 } }, thought(48_500), "x", "max_tokens"],
    ["the whole tree's tool calls", { budget: { toolCalls: 1 } }, {}, "x", "max_tool_calls"],
  ];
  test.each(nearly)(
    "%s: allows one more turn, which is announced as the last",
    (_, changes, usage, output, bailoutReason) => {
      const d = drive(changes);
      expect(isTold(d)).toBe(false);
      d.feed(reply(1, "so far", [read], { usage: usage ?? {} }));
      d.feed(toolFinished(1, 0, output));
      expect([isTold(d), d.context().turn?.last]).toEqual([true, bailoutReason]);
      d.feed(reply(2, "half", [read]));
      expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason, details: "half" });
    },
  );

  test.each<[string, SpecChanges, ReplyChanges["usage"]]>([
    ["tokens", { limits: { maxTokens: 50_000 } }, thought(40_000)],
    ["cost", { limits: { maxCostUsd: 0.5 }, price }, { costUsd: 0.49 }],
    ["no cap on cost", { limits: { maxCostUsd: null } }, { costUsd: null }],
    ["context", { limits: { maxContextTokens: 2_000 } }, {}],
  ])("leaves enough for several turns: %s", (_, changes, usage) => {
    const d = drive(changes);
    turn(d, 1, "so far", { usage: usage ?? {} });
    expect([d.state(), isTold(d)]).toEqual(["execute.think", false]);
  });

  test("an answer completes the run even if it exceeded a cap", () => {
    const d = drive({ limits: { maxTokens: 5_000 } });
    d.feed(reply(1, "42", [], { usage: { inputTokens: 9_000 } }));
    expect(d.response()).toMatchObject({ status: "completed", bailoutReason: null });
  });

  test("an empty reply in the last turn counts as reached cap", () => {
    const d = drive({ limits: { maxIterations: 2 } });
    turn(d, 1, "I found three");
    d.feed(reply(2, ""));
    expect(d.response()).toMatchObject({
      status: "bailed_out",
      bailoutReason: "max_iterations",
      details: "I found three",
    });
  });
});

describe("a cap in USD needs a price", () => {
  test.each<[string, SpecChanges, Parameters<typeof drive>[1]?]>([
    ["its own cap", { limits: { maxCostUsd: 0.5 } }],
    ["the whole tree's cap", { budget: { costUsd: 0.5 } }],
  ])("%s: a model without one is rejected before any paid call", (_, changes) => {
    const d = drive(changes);
    expect(d.look().started).toEqual(["timer/deadline", "settle"]);
    expect(d.response()).toMatchObject({
      status: "rejected",
      error: {
        type: "budget",
        message: "the price of scripted/any is unknown, so a cap of 0.5 USD cannot be kept",
      },
    });
    expect(drive({ ...changes, price }).state()).toBe("execute.think");
  });
});

describe("the deadline", () => {
  test.each([
    ["while the model thinks", (_: MachineDriver) => {}, ["model/1"]],
    ["while tools run", (d: MachineDriver) => d.feed(reply(1, "reading", reads(2))), ["tool/1/0", "tool/1/1"]],
  ])("%s: timeout, and all effects stop", (_, prepare, stopped) => {
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
    expect(d.children().filter((id) => /^(batch|tool)\//.test(id))).toEqual([]);
  });

  test("with less than a tenth of the time left, the next turn is the last", () => {
    const d = drive({ limits: { maxDurationMs: 100_000 } });
    d.feed(reply(1, "", [read]), openedAt + 80_000);
    d.feed(toolFinished(1, 0, "x"), openedAt + 90_000);
    expect(isTold(d)).toBe(false);
    d.feed(reply(2, "", [aToolCall("shell")]), openedAt + 90_001);
    d.feed(toolFinished(2, 0, "x"), openedAt + 90_002);
    expect(isTold(d)).toBe(true);
    d.feed(reply(3, "half", [read]));
    expect(d.response()).toMatchObject({ status: "timeout", bailoutReason: "timeout", details: "half" });
  });

  test("the text before the timeout is in the details", () => {
    const d = drive();
    turn(d, 1, "I found three");
    d.feed(timerFired("deadline"));
    expect(d.response().details).toBe("I found three");
  });
});
