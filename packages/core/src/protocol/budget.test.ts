/** The budget of a tree: a missing field is not a limit, and is never read as zero. */
import { describe, expect, test } from "vitest";
import { Budget, PartialBudget, Spent } from "./budget.ts";

const unlimited = { tokens: null, costUsd: null, toolCalls: null, spawns: null };

describe("a budget", () => {
  test.each([
    ["missing fields are not a limit", {}, unlimited],
    ["one limit does not limit another kind", { tokens: 10 }, { ...unlimited, tokens: 10 }],
    ["zero is a limit", { tokens: 0, spawns: 0 }, { ...unlimited, tokens: 0, spawns: 0 }],
    ["parts of a dollar count", { costUsd: 0.0001 }, { ...unlimited, costUsd: 0.0001 }],
  ])("%s", (_, input, budget) => {
    expect(Budget.parse(input)).toEqual(budget);
  });

  test.each([
    ["a negative amount", { tokens: -1 }],
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
    ["zero tokens, with which no turn is possible", { tokens: 0 }],
    ["zero money, with which no turn is possible", { costUsd: 0 }],
    ["an invalid limit", { tokens: null }],
    ["a missing value", { tokens: undefined }],
    ["a negative amount", { toolCalls: -1 }],
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
