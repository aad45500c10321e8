import type { Budget } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { budgetLines, nearestLimit } from "./budget.ts";

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
    expect(nearestLimit({ budget, parentRun: null }, spent)?.share ?? null).toBe(expected);
  });

  it.each([
    [{ tokens: 15_000 }, null, "82 % of the session's token budget", "82 % of tokens"],
    [{ costUsd: 0.5 }, "r1", "100 % of this run's cost budget", "100 % of cost"],
    [{ toolCalls: 4, tokens: 1_000_000 }, "r1", "75 % of this run's tool call budget", "75 % of tools"],
    [{ spawns: 0 }, null, "100 % of the session's child run budget", "100 % of runs"],
  ])("names itself beside a percentage: %j of %s", (limits, parentRun, text, shortText) => {
    const spent = "spawns" in limits ? { ...used, spawns: 2 } : used;
    expect(nearestLimit({ budget: { ...unlimited, ...limits }, parentRun }, spent)).toMatchObject({ text, shortText });
  });

  it("marks usage that is partly an estimate", () => {
    const estimated = { ...used, estimatedTokens: 40 };
    expect(budgetLines({ tokens: 20_000, costUsd: 2, toolCalls: 4, spawns: null }, estimated)).toMatchObject([
      { text: "≈ 12,400 of 20,000" },
      { text: "≈ $0.500 of $2.00" },
      { text: "3 of 4" },
    ]);
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
