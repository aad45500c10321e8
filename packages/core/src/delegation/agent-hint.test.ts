import { describe, expect, test } from "vitest";
import type { AgentStats } from "../protocol/agent-stats.ts";
import { agentHint } from "./agent-hint.ts";

function stats(changes: Partial<AgentStats> = {}): AgentStats {
  const runs = changes.runs ?? 14;
  return {
    ...{ agent: "coder", parent: null, runs, succeeded: 12, successRate: 12 / 14, stopped: 0 },
    ...{ medianMs: 40_000, medianCostUsd: 0.03, costRuns: runs, costIsEstimate: false },
    ...changes,
  };
}
const hint = (agents: AgentStats[], pairs: AgentStats[] = []) =>
  agentHint({ agents, pairs }, { parent: "main", agent: "coder" });

describe("a hint", () => {
  test("says how many runs succeeded, their median time and their median cost", () => {
    expect(hint([stats()])).toBe("12 of 14 succeeded, median 40 s, $0.03");
  });

  test.each<[string, AgentStats[], AgentStats[], string | undefined]>([
    ["no runs", [], [], undefined],
    ["9 runs", [stats({ runs: 9, succeeded: 9 })], [], undefined],
    ["10 runs", [stats({ runs: 10, succeeded: 9 })], [], "9 of 10 succeeded"],
    ["9 runs and many stopped ones", [stats({ runs: 9, succeeded: 9, stopped: 50 })], [], undefined],
    ["10 runs of the pair", [stats()], [stats({ parent: "main", runs: 10, succeeded: 1 })], "1 of 10 succeeded"],
    ["9 runs of the pair", [stats()], [stats({ parent: "main", runs: 9, succeeded: 1 })], "12 of 14 succeeded"],
    ["10 runs of another pair", [stats()], [stats({ parent: "lead", succeeded: 1 })], "12 of 14 succeeded"],
    ["10 runs of another agent", [stats({ agent: "tester" })], [], undefined],
    ["10 runs of the parent with another agent", [], [stats({ agent: "tester", parent: "main" })], undefined],
  ])("with %s", (_, agents, pairs, expected) => {
    const given = hint(agents, pairs);
    expect(given?.split(", ")[0]).toBe(expected);
  });

  test.each<[string, Partial<AgentStats>, string]>([
    ["an unknown cost", { medianCostUsd: null, costRuns: 0 }, "median 40 s"],
    ["a cost of 9 runs", { costRuns: 9 }, "median 40 s"],
    ["a cost of 10 runs", { costRuns: 10 }, "median 40 s, $0.03"],
    ["a known cost of nothing", { medianCostUsd: 0 }, "median 40 s, $0.00"],
    ["a small cost", { medianCostUsd: 0.0042 }, "median 40 s, $0.0042"],
    ["a tiny cost", { medianCostUsd: 0.000001 }, "median 40 s, under $0.0001"],
    ["an estimate", { costIsEstimate: true }, "median 40 s, ≈ $0.03"],
    ["less than a second", { medianMs: 400 }, "median under 1 s, $0.03"],
    ["minutes", { medianMs: 150_000 }, "median 3 min, $0.03"],
    ["hours", { medianMs: 10_000_000 }, "median 3 h, $0.03"],
    ["an unknown time", { medianMs: null }, "$0.03"],
  ])("with %s", (_, changes, expected) => {
    expect(hint([stats(changes)])).toBe(`12 of 14 succeeded, ${expected}`);
  });
});
