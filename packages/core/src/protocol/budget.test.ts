/** What a tree may use: nothing said is no limit, and no limit is never mistaken for nothing. */
import { describe, expect, test } from "vitest";
import { Budget, PartialBudget, Spent } from "./budget.ts";

const unlimited = { tokens: null, costUsd: null, toolCalls: null, spawns: null };

describe("a budget", () => {
  test.each([
    ["nothing said is no limit", {}, unlimited],
    ["one limit is no limit of another kind", { tokens: 10 }, { ...unlimited, tokens: 10 }],
    ["nothing left is a limit", { tokens: 0, spawns: 0 }, { ...unlimited, tokens: 0, spawns: 0 }],
    ["parts of a dollar count", { costUsd: 0.0001 }, { ...unlimited, costUsd: 0.0001 }],
  ])("%s", (_, input, budget) => {
    expect(Budget.parse(input)).toEqual(budget);
  });

  test.each([
    ["less than nothing", { tokens: -1 }],
    ["half a token", { tokens: 0.5 }],
    ["half a run", { spawns: 1.5 }],
    ["no number", { costUsd: Number.NaN }],
    ["no end", { costUsd: Number.POSITIVE_INFINITY }],
    ["text", { toolCalls: "3" }],
  ])("%s is refused", (_, input) => {
    expect(Budget.safeParse(input).success).toBe(false);
  });
});

describe("a partial budget", () => {
  test.each([[{}], [{ tokens: 1 }], [{ costUsd: 0.5, toolCalls: 0 }], [{ spawns: 0 }]])(
    "%j stays the same: missing fields stay missing",
    (input) => {
      expect(PartialBudget.parse(input)).toEqual(input);
    },
  );

  test.each([
    ["no tokens, with which nothing can be said", { tokens: 0 }],
    ["no money, with which nothing can be said", { costUsd: 0 }],
    ["a limit that is none", { tokens: null }],
    ["a limit that is left open", { tokens: undefined }],
    ["less than nothing", { toolCalls: -1 }],
  ])("%s is refused", (_, input) => {
    expect(PartialBudget.safeParse(input).success).toBe(false);
  });
});

test("usage has every field; only the price may be unknown", () => {
  const spent = { tokens: 1, costUsd: null, toolCalls: 2, spawns: 3 };
  expect(Spent.parse(spent)).toEqual(spent);
  expect(Spent.safeParse({ ...spent, tokens: null }).success).toBe(false);
  expect(Spent.safeParse({ tokens: 1, costUsd: 0 }).success).toBe(false);
});
