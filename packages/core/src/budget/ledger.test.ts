/** The sums behind a tree's budget: the remaining budget, the shares of children, and unknown costs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Budget } from "../protocol/budget.ts";
import { addSpent, nothingSpent, remainderOf, shareOf, tightenBudget, unlimited } from "./ledger.ts";

const budget: Budget = { tokens: 1_000, costUsd: 1, toolCalls: 10, spawns: 10 };

describe("the sum of the usage", () => {
  test("adds each kind of usage", () => {
    const a = { tokens: 1, costUsd: 0.5, toolCalls: 2, spawns: 3 };
    expect(addSpent(a, a)).toEqual({ tokens: 2, costUsd: 1, toolCalls: 4, spawns: 6 });
  });

  test("is unknown if one part is unknown", () => {
    expect(addSpent({ ...nothingSpent, costUsd: null }, nothingSpent).costUsd).toBeNull();
    expect(addSpent(nothingSpent, { ...nothingSpent, costUsd: null }).costUsd).toBeNull();
  });
});

test("the tighter of two budgets is taken for each kind", () => {
  expect(tightenBudget(unlimited, budget)).toEqual(budget);
  expect(tightenBudget(budget, unlimited)).toEqual(budget);
  expect(tightenBudget(budget, { tokens: 2_000, costUsd: 0.5, toolCalls: 0 })).toEqual({
    tokens: 1_000,
    costUsd: 0.5,
    toolCalls: 0,
    spawns: 10,
  });
});

describe("the remaining budget", () => {
  test("is reduced by spent and reserved amounts, and never below zero", () => {
    const spent = { tokens: 100, costUsd: 0.25, toolCalls: 1, spawns: 10 };
    expect(
      remainderOf(budget, spent, [
        { tokens: 300, costUsd: 0.25 },
        { tokens: 700, spawns: 2 },
      ]),
    ).toEqual({
      tokens: 0,
      costUsd: 0.5,
      toolCalls: 9,
      spawns: 0,
    });
  });

  test("has no limit if the budget has none", () => {
    expect(remainderOf(unlimited, { tokens: 9, costUsd: null, toolCalls: 9, spawns: 9 }, [])).toEqual(unlimited);
  });

  test("of money is zero once a cost is unknown", () => {
    expect(remainderOf(budget, { ...nothingSpent, costUsd: null }, []).costUsd).toBe(0);
  });
});

describe("a child's share", () => {
  test("is an equal part of the remaining budget, and its own run counts as one", () => {
    expect(shareOf(budget, 4, unlimited)).toEqual({ tokens: 250, costUsd: 0.25, toolCalls: 2, spawns: 1 });
    expect(shareOf(budget, 1, unlimited)).toEqual({ ...budget, spawns: 9 });
  });

  test("is at most the limit of its own definition", () => {
    expect(shareOf(budget, 1, { tokens: 50, costUsd: 5, toolCalls: null, spawns: 0 })).toEqual({
      tokens: 50,
      costUsd: 1,
      toolCalls: 10,
      spawns: 0,
    });
  });

  test.each<[string, Partial<Budget>, boolean]>([
    ["no run is left", { spawns: 0 }, false],
    ["one run is left, for the parent itself", { spawns: 1 }, true],
    ["no token is left for each", { tokens: 1 }, false],
    ["no money is left", { costUsd: 0 }, false],
    ["no tool call is left: text is still possible", { toolCalls: 0 }, true],
    ["nothing is limited", unlimited, true],
  ])("are available: %s", (_, left, isSome) => {
    expect(shareOf({ ...unlimited, ...left }, 2, unlimited) !== null).toBe(isSome);
  });

  test("of all siblings together never exceeds the remaining budget", () => {
    const amount = fc.option(fc.nat(500), { nil: null });
    const some = fc.record({ tokens: amount, costUsd: amount, toolCalls: amount, spawns: amount });
    let shares = 0;
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 12 }), (left, count) => {
        const reserves: Budget[] = [];
        let spawned = nothingSpent;
        for (let waiting = count; waiting > 0; waiting -= 1) {
          const share = shareOf(remainderOf(left, spawned, reserves), waiting, unlimited);
          if (!share) continue;
          reserves.push(share);
          shares += 1;
          spawned = addSpent(spawned, { ...nothingSpent, spawns: 1 });
        }
        for (const kind of ["tokens", "costUsd", "toolCalls", "spawns"] as const) {
          const sum = reserves.reduce((total, share) => total + (share[kind] ?? 0), spawned[kind] ?? 0);
          expect(sum).toBeLessThanOrEqual((left[kind] ?? Number.POSITIVE_INFINITY) + 1e-6);
        }
      }),
    );
    expect(shares).toBeGreaterThan(100);
  });
});
