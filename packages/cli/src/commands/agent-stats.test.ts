/** `troupe agents stats` without an owner, with one, and with every unknown value. */
import type { AgentStats, AgentStatsList } from "@troupe/core/internal";
import { afterEach, describe, expect, test } from "vitest";
import type { RecordArchive } from "../cli.ts";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

const dayMs = 86_400_000;

function aRow(changes: Partial<AgentStats>): AgentStats {
  return {
    ...{ agent: "coder", parent: null, runs: 14, succeeded: 12, successRate: 12 / 14, stopped: 1 },
    ...{ medianMs: 40_000, medianCostUsd: 0.03, costRuns: 14, costIsEstimate: false },
    ...changes,
  };
}

function withStats(stats: Omit<AgentStatsList, "since">) {
  const cli = createFakeCli({ isTerminal: true, env: { NO_COLOR: "1" } });
  const asked: number[] = [];
  const archive: Partial<RecordArchive> = {
    async agentStats({ sinceMs }) {
      asked.push(sinceMs);
      return { since: "2026-01-01T00:00:00.000Z", ...stats };
    },
    close() {},
  };
  cli.composition.archive = archive as RecordArchive;
  return { cli, asked };
}

const long = "an-agent-with-a-name-that-is-far-too-long-for-a-column";
const none = { medianMs: null, medianCostUsd: null, costRuns: 0 };
const stats = {
  agents: [
    aRow({}),
    aRow({ agent: long, runs: 2, succeeded: 0, successRate: 0, medianCostUsd: null, costRuns: 0 }),
    aRow({ agent: "tester", runs: 0, succeeded: 0, successRate: null, stopped: 3, ...none }),
  ],
  pairs: [
    aRow({
      parent: "lead",
      runs: 10,
      succeeded: 9,
      successRate: 0.9,
      medianCostUsd: 0.0042,
      costRuns: 4,
      costIsEstimate: true,
    }),
    aRow({ parent: long, runs: 20_000, succeeded: 20_000, successRate: 1, medianMs: 750_000, medianCostUsd: 0 }),
  ],
};

describe("agents stats", () => {
  test("is a table within 80 columns; an unknown cost is not $0", async () => {
    const { cli } = withStats(stats);
    expect(await cli.run("agents", "stats")).toBe(0);
    const lines = cli.out().trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/ {2,}/g, "  ").trim())).toEqual([
      "AGENT  UNDER  RUNS  SUCCEEDED  STOPPED  MEDIAN  COST",
      "coder  any  14  12 (86%)  1  40.0 s  $0.03",
      "lead  10  9 (90%)  1  40.0 s  ≈ $0.0042",
      "an-agent-with…  20000  20000 (100%)  1  12 m 30 s  $0.00",
      expect.stringMatching(/^an-agent-.*… {2}any {2}2 {2}0 \(0%\) {2}1 {2}40\.0 s {2}unknown$/),
      "tester  any  0  –  3  –  –",
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("--json prints the rows", async () => {
    const { cli } = withStats(stats);
    expect(await cli.run("agents", "stats", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual({ since: "2026-01-01T00:00:00.000Z", ...stats });
  });

  test.each([
    [[], 90],
    [["--since", "30d"], 30],
  ])("%j looks %d days back", async (flags, days) => {
    const { cli, asked } = withStats(stats);
    await cli.run("agents", "stats", ...flags);
    expect(asked).toEqual([cli.now() - days * dayMs]);
  });

  test("without runs says so, and prints no table", async () => {
    const { cli } = withStats({ agents: [], pairs: [] });
    expect(await cli.run("agents", "stats", "--since", "2d")).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toContain("no run has settled in the last 2 d 00 h; demos and replays do not count");
  });

  test("of a home without a record is empty", async () => {
    const cli = createFakeCli();
    expect(await cli.run("agents", "stats", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({ agents: [], pairs: [] });
  });

  test.each(["", "soon", "0", "-1d", "4000d"])("refuses --since %j with a fix", async (since) => {
    const { cli, asked } = withStats(stats);
    expect(await cli.run("agents", "stats", `--since=${since}`)).toBe(2);
    expect(cli.err()).toContain("troupe agents stats --since 30d");
    expect(asked).toEqual([]);
  });
});
