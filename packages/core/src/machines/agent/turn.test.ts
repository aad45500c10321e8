/** The cost of a turn: its worst case is reserved before it starts, and one last turn is always reserved. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aBatch,
  aToolCall,
  childSettled,
  compacted,
  reply,
  type SpecChanges,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import {
  callCost,
  lastTurnNotice,
  lastTurnReason,
  leftForChildren,
  missingBudget,
  planTurn,
  reachedCap,
  remainder,
  sideCallOutput,
} from "./turn.ts";

const price = { inputPerMillion: 3, outputPerMillion: 15 };

/** A run that is about to begin its first turn, its conversation being of this length. */
function about(contextTokens: number, changes: SpecChanges = {}) {
  const context = drive(changes).context();
  return { ...context, step: 0, turn: null, callReserve: null, contextTokens };
}

describe("the lowest budget of a request", () => {
  const tool = {
    name: "read",
    description: "",
    risk: "low" as const,
    effect: "read" as const,
    groups: [],
    inputSchema: {},
  };
  const withTools: SpecChanges = { tools: [tool], targets: [] };

  test.each<[string, SpecChanges, "tokens" | "costUsd"]>([
    ["tokens", { ...withTools, budget: { tokens: 1 } }, "tokens"],
    [
      "tokens, with a low cap on output",
      { ...withTools, budget: { tokens: 1 }, limits: { maxOutputTokens: 40 } },
      "tokens",
    ],
    ["money", { ...withTools, price, budget: { costUsd: 0.000001 } }, "costUsd"],
  ])("is exact for a turn with tools: %s", (_what, changes, kind) => {
    const missing = missingBudget(about(1_000, changes));
    expect(missing).toMatchObject({ kind, withTools: true });
    const given = (amount: number) => about(1_000, { ...changes, budget: { [kind]: amount } });
    const needed = missing?.needed ?? 0;
    expect(missingBudget(given(needed))).toBeNull();
    // The smallest step of either: enough for a turn with tools, and then for an answer only.
    const step = kind === "tokens" ? 1 : 1e-9;
    expect(lastTurnReason(given(needed + step))).toBeNull();
    expect(lastTurnReason(given(needed - 2 * step))).not.toBeNull();
    expect(missingBudget(given(needed - 2 * step))).toMatchObject({ needed });
  });

  test("is enough for any conversation, to the last digit", () => {
    for (let contextTokens = 1; contextTokens <= 3_000; contextTokens += 1) {
      const given = (costUsd: number) => about(contextTokens, { ...withTools, price, budget: { costUsd } });
      const needed = missingBudget(given(0.000001))?.needed ?? 0;
      expect([contextTokens, lastTurnReason(given(needed))]).toEqual([contextTokens, null]);
    }
  });

  test.each<[string, SpecChanges]>([
    ["an agent without tools", { tools: [], budget: { tokens: 1 } }],
    ["one turn alone", { ...withTools, limits: { maxIterations: 1 }, budget: { tokens: 1 } }],
    ["no tool calls", { ...withTools, budget: { tokens: 1, toolCalls: 0 } }],
  ])("is that of an answer for %s", (_what, changes) => {
    const missing = missingBudget(about(1_000, changes));
    expect(missing).toEqual({ kind: "tokens", given: 1, needed: 1_016, withTools: false });
    const enough = about(1_000, { ...changes, budget: { ...changes.budget, tokens: 1_016 } });
    expect(missingBudget(enough)).toBeNull();
  });

  test("is nothing without a limit, and left to the run without a price", () => {
    expect(missingBudget(about(1_000, withTools))).toBeNull();
    expect(missingBudget(about(1_000, { ...withTools, budget: { costUsd: 0.01 } }))).toBeNull();
  });
});

describe("a turn", () => {
  test("may use the output cap of its run if no other limit is lower", () => {
    expect(planTurn(about(1_000), null)).toEqual({
      last: null,
      maxOutputTokens: 8_192,
      reserve: { tokens: 9_192, costUsd: 0 },
    });
  });

  test("reserves its input and its maximum output, at its model's price", () => {
    const { reserve } = planTurn(about(1_000, { price, limits: { maxOutputTokens: 2_000 } }), null);
    expect(reserve).toEqual({ tokens: 3_000, costUsd: expect.closeTo(0.033) });
  });

  test.each<[string, SpecChanges, number]>([
    // Left: 10,000. Reserved: reading it all again (1,000 and this turn's output) and 1,024 to answer with.
    ["the run's own tokens", { limits: { maxTokens: 10_000 } }, (10_000 - 1_000 - 1_000 - 1_024) / 2],
    ["the tree's tokens", { budget: { tokens: 10_000 } }, (10_000 - 1_000 - 1_000 - 1_024) / 2],
    [
      "the minimum of both",
      { budget: { tokens: 10_000 }, limits: { maxTokens: 6_000 } },
      (6_000 - 1_000 - 1_000 - 1_024) / 2,
    ],
    ["the tree's USD", { budget: { costUsd: 0.06 }, price }, Math.floor((60_000 - 3_000 - 3_000 - 15_360) / 18)],
    ["the run's own USD", { limits: { maxCostUsd: 0.06 }, price }, Math.floor((60_000 - 3_000 - 3_000 - 15_360) / 18)],
  ])("is limited to the remaining budget, minus the reserved last turn: %s", (_, changes, maxOutputTokens) => {
    expect(planTurn(about(1_000, changes), null).maxOutputTokens).toBe(maxOutputTokens);
  });

  test.each<[string, SpecChanges, number]>([
    ["tokens", { budget: { tokens: 1_500 } }, 500],
    ["USD", { budget: { costUsd: 0.009_001 }, price }, 400],
  ])("as the last one may use the whole remaining budget: %s", (_, changes, maxOutputTokens) => {
    expect(planTurn(about(1_000, changes), "max_tokens").maxOutputTokens).toBe(maxOutputTokens);
  });
});

describe("the last turn", () => {
  test.each<[string, SpecChanges, number, string | null]>([
    ["with enough budget", {}, 1_000, null],
    ["no iteration after it", { limits: { maxIterations: 1 } }, 1_000, "max_iterations"],
    ["no tool call left of its own", { budget: { toolCalls: 0 } }, 1_000, "max_tool_calls"],
    ["with just enough for another turn", { budget: { tokens: 1_000 + 256 * 2 + 1_000 + 1_024 } }, 1_000, null],
    ["not quite", { budget: { tokens: 1_000 + 256 * 2 + 1_000 + 1_023 } }, 1_000, "max_tokens"],
    ["with slightly too little, in USD", { budget: { costUsd: 0.02 }, price }, 1_000, "max_cost"],
    ["with the conversation below four fifths of its cap", { limits: { maxContextTokens: 2_000 } }, 1_599, null],
    ["with the conversation at four fifths of its cap", { limits: { maxContextTokens: 2_000 } }, 1_600, "max_context"],
  ])("comes without budget for another turn: %s", (_, changes, contextTokens, reason) => {
    expect(lastTurnReason(about(contextTokens, changes))).toBe(reason);
  });

  test.each<[string, SpecChanges, number, string | null]>([
    ["with enough budget", {}, 1_000, null],
    ["with hardly any output tokens left", { budget: { tokens: 1_010 } }, 1_000, "max_tokens"],
    ["in USD", { budget: { costUsd: 0.003 }, price }, 1_000, "max_cost"],
    ["with the conversation over its cap", { limits: { maxContextTokens: 1_000 } }, 1_000, "max_context"],
  ])("is refused: %s", (_, changes, contextTokens, reason) => {
    expect(reachedCap(about(contextTokens, changes))).toBe(reason);
  });

  test("includes its announcement in its estimate", () => {
    const pendingMessages = ["x".repeat(30_000)];
    const context = about(1_000, { budget: { tokens: 9_000 } });
    expect([reachedCap(context), reachedCap({ ...context, pendingMessages })]).toEqual([null, "max_tokens"]);
    const roomy = about(1_000, { budget: { tokens: 16_000 } });
    expect([lastTurnReason(roomy), lastTurnReason({ ...roomy, pendingMessages })]).toEqual([null, "max_tokens"]);
  });
});

describe("the remaining budget", () => {
  test("excludes running calls and the shares of children", () => {
    const context = about(1_000, { budget: { tokens: 10_000, costUsd: 1, toolCalls: 9, spawns: 9 }, price });
    const reserve = { tokens: 2_000, costUsd: 0.25, toolCalls: 3, spawns: 1 };
    const child = { step: 1, call: 0, item: 0, attempt: 1, reserve, retryReserve: { spawns: 1 }, waiting: false };
    const callReserve = { tokens: 500, costUsd: 0.25 };
    expect(remainder({ ...context, callReserve, children: new Map([["1/0/0", child]]) })).toEqual({
      tokens: 7_500,
      costUsd: 0.5,
      toolCalls: 6,
      spawns: 7,
    });
  });

  test("for children excludes a last turn, which reads their results", () => {
    const context = about(1_000, { budget: { tokens: 10_000, costUsd: 1 }, price });
    expect(leftForChildren(context)).toMatchObject({
      tokens: 10_000 - 1_000 - 1_024,
      costUsd: expect.closeTo(1 - 0.018_36),
    });
  });

  test.each([
    ["the whole amount", {}, 1_024],
    ["less, if little is left", { budget: { tokens: 3_124 } }, 50],
    ["nothing, if too little is left for a useful reply", { budget: { tokens: 3_050 } }, 0],
  ])("for a call outside the turns: %s", (_, changes, output) => {
    expect(sideCallOutput(about(1_000, changes), 1_024)).toBe(output);
  });

  test("ignores an unknown price if costs have no cap", () => {
    expect(callCost(about(1_000), 50)).toEqual({ tokens: 1_050, costUsd: 0 });
  });
});

test("input has the highest of its prices: read, or written to the cache", () => {
  const dear = { ...price, cacheWritePerMillion: 3.75, cachedInputPerMillion: 0.3 };
  const limits = { maxOutputTokens: 1_000 };
  expect(planTurn(about(1_000, { price: dear, limits }), null).reserve.costUsd).toBeCloseTo(0.018_75);
  expect(
    planTurn(about(1_000, { price: { ...price, cacheWritePerMillion: 1 }, limits }), null).reserve.costUsd,
  ).toBeCloseTo(0.018);
  // The output is read once more, at that price: (60,000 − 3,750 − 3,750 − 15,360) / (15 + 3.75)
  const capped = about(1_000, { price: dear, budget: { costUsd: 0.06 } });
  expect(planTurn(capped, null).maxOutputTokens).toBe(Math.floor((60_000 - 3_750 - 3_750 - 15_360) / 18.75));
});

describe("the length of a conversation", () => {
  const after = (changes: Parameters<typeof reply>[3]) => {
    const d = drive();
    const before = d.context().contextTokens;
    d.feed(reply(1, "x", [aToolCall("read")], changes));
    return { before, length: d.context().contextTokens };
  };

  test("is the provider's count if it is above the estimate", () => {
    expect(after({ usage: { inputTokens: 5_000, outputTokens: 700 } }).length).toBe(5_700);
  });

  test("is never below the estimate", () => {
    const { before, length } = after({ usage: { inputTokens: 1, outputTokens: 1 } });
    expect(length).toBeGreaterThan(before);
  });

  test("excludes thinking that is not stored", () => {
    expect(after({ usage: { inputTokens: 5_000, outputTokens: 700, reasoningTokens: 600 } }).length).toBe(5_100);
  });
});

describe("children's shares", () => {
  test("are reserved when they start, and the unused part returns", () => {
    const d = drive({ budget: { tokens: 50_000 }, limits: { maxConcurrent: 1 } });
    d.feed(reply(1, "", [aBatch([{}, {}])]));
    const left = leftForChildren({ ...d.context(), children: new Map() }).tokens ?? 0;
    expect(d.effect("runChild").request.budget.tokens).toBe(Math.floor(left / 2));
    d.feed(childSettled(1, 0, { charged: { tokens: 1_000 } }, 1, 0));
    // The second has no siblings left to share with.
    const second = d.effect("runChild").request.budget.tokens ?? 0;
    expect(second).toBe(left - 1_000);
    d.feed(childSettled(1, 0, { charged: { tokens: 500 } }, 1, 1));
    expect(remainder({ ...d.context(), callReserve: null }).tokens).toBe(50_000 - 110 - 1_500);
  });

  test("are at most the limits of the agent's own definition", () => {
    const targets = [{ id: "helper", budget: { tokens: 700, costUsd: null, toolCalls: 2, spawns: 0 } }];
    const d = drive({ budget: { tokens: 50_000, toolCalls: 10 }, targets });
    d.feed(reply(1, "", [aBatch([{ limits: { max_tokens: 300 } }])]));
    expect(d.effect("runChild").request.budget).toEqual({ tokens: 300, costUsd: null, toolCalls: 2, spawns: 0 });
  });

  test("of nothing settle the child without a start, with the reason", () => {
    const d = drive({ budget: { tokens: 3_000 } });
    d.feed(reply(1, "", [aBatch([{}])], { usage: { outputTokens: 2_410, reasoningTokens: 2_410 } }));
    expect(d.effect("dropChild").response).toMatchObject({
      status: "rejected",
      error: {
        type: "budget",
        message: "the budget has nothing left for another agent: do it yourself, or answer now",
      },
    });
    d.settleDropped();
    expect(d.state()).toBe("execute.think");
  });

  test("of runs are divided among the siblings, each with its own run and its retries", () => {
    const d = drive({ budget: { spawns: 10 } });
    d.feed(reply(1, "", [aBatch([{}, {}])]));
    const shares = d.pending().flatMap((effect) => (effect.kind === "runChild" ? [effect.request.budget.spawns] : []));
    expect(shares).toEqual([3, 3]);
  });
});

function allSetAside(d: MachineDriver) {
  const { tokens, costUsd } = d.context().callReserve ?? { tokens: 0, costUsd: 0 };
  const outputTokens = d.effect("compact").maxOutputTokens;
  return { inputTokens: tokens - outputTokens, outputTokens, costUsd };
}

/** Turns until it ends: each uses all that was set aside for it, and its tool says little. */
function spend(d: MachineDriver): void {
  for (let i = 0; i < 60 && d.state() === "execute.think"; i += 1) {
    const { step, maxOutputTokens } = d.effect("callModel");
    const reserve = d.context().turn?.reserve ?? { tokens: 0, costUsd: 0 };
    const usage = {
      inputTokens: reserve.tokens - maxOutputTokens,
      outputTokens: maxOutputTokens,
      // Room for the call, for its result, and for the notice of the last turn.
      reasoningTokens: Math.min(maxOutputTokens, 120),
      costUsd: reserve.costUsd,
    };
    const text = "x".repeat(Math.max(0, 3 * (maxOutputTokens - 120)));
    d.feed(reply(step, text, [aToolCall("read", { step })], { usage }));
    if (d.state() === "execute.act.working") d.feed(toolFinished(step, 0, "ok"));
    if (d.state() === "execute.compacting") d.feed(compacted(d.effect("compact"), { usage: allSetAside(d) }));
  }
}

test("no cap is ever exceeded, and the last turn is announced before the run ends, with any caps and prices", () => {
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
  const caps = fc.record({
    tokens: maybe(fc.integer({ min: 100, max: 60_000 })),
    costUsd: maybe(fc.double({ min: 0.000_1, max: 0.4, noNaN: true })),
    maxTokens: maybe(fc.integer({ min: 100, max: 60_000 })),
    maxCostUsd: maybe(fc.double({ min: 0.000_1, max: 0.4, noNaN: true })),
    maxContextTokens: maybe(fc.integer({ min: 500, max: 30_000 })),
    maxOutputTokens: fc.constantFrom(300, 2_000, 8_192),
    maxIterations: fc.integer({ min: 1, max: 30 }),
    inputPerMillion: fc.constantFrom(0, 1, 3, 15),
    outputPerMillion: fc.constantFrom(0, 1, 15, 75),
  });
  let announced = 0;
  fc.assert(
    fc.property(caps, ({ tokens, costUsd, inputPerMillion, outputPerMillion, ...limits }) => {
      const d = drive({ budget: { tokens, costUsd }, limits, price: { inputPerMillion, outputPerMillion } });
      spend(d);
      const { metrics, bailoutReason, status } = d.response();
      expect([status, bailoutReason]).toEqual(["bailed_out", expect.stringMatching(/^max_/)]);
      const spentUsd = metrics.charged.costUsd ?? Number.NaN;
      expect(metrics.charged.tokens).toBeLessThanOrEqual(Math.min(tokens ?? Infinity, limits.maxTokens ?? Infinity));
      expect(spentUsd).toBeLessThanOrEqual(Math.min(costUsd ?? Infinity, limits.maxCostUsd ?? Infinity) + 1e-9);
      const isTold = d.context().messages.some(({ text }) => text === lastTurnNotice);
      // With a cap on the conversation, one long reply may fill it: nothing can be said after that.
      if (metrics.iterations === 0 || limits.maxContextTokens !== null) return;
      announced += 1;
      expect(isTold).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(announced).toBeGreaterThan(0);
});

describe("a last turn that a budget leaves without tools", () => {
  const tool = {
    name: "read",
    description: "",
    risk: "low" as const,
    effect: "read" as const,
    groups: [],
    inputSchema: {},
  };
  const tools = { tools: [tool], targets: [] };

  test.each<[string, SpecChanges, string]>([
    ["tokens", { budget: { tokens: 1_200 } }, "token budget"],
    ["money", { budget: { costUsd: 0.01 }, price }, "cost budget"],
    ["tool calls", { budget: { toolCalls: 0 } }, "budget of tool calls"],
  ])("is marked in the response, with a warning: %s", (_what, changes, name) => {
    const d = drive({ ...tools, ...changes });
    const { last } = d.context().turn ?? {};
    d.feed(reply(1, "an answer"));
    expect(d.response()).toMatchObject({ status: "completed", bailoutReason: null, answerOnly: last });
    expect(d.response().warnings).toEqual([
      `the last turn had no tools: what was left of the ${name} permitted an answer only`,
    ]);
  });

  test.each<[string, SpecChanges]>([
    ["a turn that could have used tools", tools],
    ["the limit of turns", { ...tools, limits: { maxIterations: 1 } }],
    ["an agent without tools", { tools: [], targets: [], budget: { tokens: 1_200 } }],
    ["a run that an earlier version opened", { ...tools, budget: { tokens: 1_200 }, marksLastTurn: false }],
  ])("marks nothing else: %s", (_what, changes) => {
    const d = drive(changes);
    d.feed(reply(1, "an answer"));
    expect(d.response().status).toBe("completed");
    expect(d.response()).not.toHaveProperty("answerOnly");
    expect(d.response().warnings).toEqual([]);
  });
});
