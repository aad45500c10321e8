import type { Budget } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { budgetLines, budgetShare } from "./budget.ts";

const unlimited: Budget = { tokens: null, costUsd: null, toolCalls: null, spawns: null };
const used: Spent = { tokens: 12_400, costUsd: 0.5, toolCalls: 3, spawns: 0 };

describe("a budget", () => {
  it("has one line for each limit", () => {
    expect(budgetLines({ tokens: 20_000, costUsd: 2, toolCalls: null, spawns: 4 }, used)).toEqual([
      { name: "Tokens", text: "12,400 of 20,000", share: 0.62 },
      { name: "Cost", text: "$0.500 of $2.00", share: 0.25 },
      { name: "Child runs", text: "0 of 4", share: 0 },
    ]);
  });

  it.each([
    ["none at all", null, used, null],
    ["one without limits", unlimited, used, null],
    ["the nearest limit", { ...unlimited, tokens: 20_000, toolCalls: 4 }, used, 0.75],
    ["more than all", { ...unlimited, toolCalls: 2 }, used, 1.5],
    ["an unknown cost", { ...unlimited, costUsd: 2 }, { ...used, costUsd: null }, null],
    [
      "an unknown cost beside a known limit",
      { ...unlimited, costUsd: 2, toolCalls: 6 },
      { ...used, costUsd: null },
      0.5,
    ],
    ["a limit of zero without usage", { ...unlimited, spawns: 0 }, used, null],
    ["a limit of zero with usage", { ...unlimited, spawns: 0 }, { ...used, spawns: 1 }, 1],
  ])("share of %s", (_sentence, budget, spent, expected) => {
    expect(budgetShare(budget, spent)).toBe(expected);
  });

  it("shows a limit of zero as none allowed, unless it was exceeded", () => {
    const nothing = { ...unlimited, spawns: 0 };
    expect(budgetLines(nothing, used)[0]?.text).toBe("none allowed");
    expect(budgetLines(nothing, { ...used, spawns: 2 })[0]?.text).toBe("2 of 0");
  });

  it("never shows an unknown cost as zero", () => {
    expect(budgetLines({ ...unlimited, costUsd: 2 }, { ...used, costUsd: null })[0]?.text).toBe("unknown of $2.00");
  });
});
