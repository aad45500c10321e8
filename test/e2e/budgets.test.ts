/** Tests budget flags: no run exceeds its tree's budget, and the response names the limit that stopped it. */

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { writeAgent } from "../harness/home-files.ts";
import { delegate, shell } from "../harness/scripted-calls.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { onlyWithoutWorker } from "../harness/test-hosts.ts";

// Agents with short prompts, so that the budget covers their work and not their prompts.
const daemon = useDaemon("budgets", async (home) => {
  await writeAgent(home, "lead", { tools: ["shell"], subagents: { allow: ["worker"] } });
  await writeAgent(home, "worker", { tools: ["shell"] });
});

const price = { inputPerMillion: 10, outputPerMillion: 20 };

const round = (n: number) => ({
  text: "More.",
  calls: [1, 2, 3, 4, 5, 6, 7, 8].map((part) => delegate("worker", `part ${n}.${part}`)),
});

/** A worker that talks and runs commands for as long as it is let. */
const worker = [
  {
    steps: [
      ...["a", "b", "c", "d"].map((word) => ({ text: "Working. ".repeat(20), calls: [shell(`echo ${word}`)] })),
      { text: "Worked on {{task}}." },
    ],
  },
];

/** A lead that asks eight of them again and again. */
const wide = { lead: [{ steps: Array.from({ length: 15 }, (_, n) => round(n)) }], worker };

async function writePriced(name: string, options: { agents?: object; cost?: typeof price | null } = {}) {
  const { agents = wide, cost = price } = options;
  const file = path.join(daemon().home, `${name}.yaml`);
  await writeFile(file, JSON.stringify({ name, description: "of a test", price: cost, agents }));
  return file;
}

/** Actual usage of all runs of a session, from the journal. */
async function usedBy(session: string) {
  const { runs } = await daemon().client.session(session);
  const journal = await daemon().journal.runs();
  const entries = runs.flatMap(({ run }) => journal.get(run) ?? []).map(({ entry }) => entry);
  const usages = entries.flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.usage] : []));
  return {
    tokens: usages.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
    costUsd: usages.reduce((sum, { costUsd }) => sum + (costUsd ?? Number.NaN), 0),
    // Delegating is one of them.
    toolCalls:
      entries.filter(({ kind }) => kind === "tool.finished").length +
      entries.reduce((sum, entry) => sum + (entry.kind === "calls.planned" ? entry.children.length : 0), 0),
    // Runs that were opened, without the first.
    spawns: entries.filter(({ kind }) => kind === "run.opened").length - 1,
  };
}

describe.concurrent("a budget", () => {
  it.for([
    // Slightly more than a first turn with tools needs. A lower limit is refused.
    { flag: "--max-tokens", kind: "tokens", most: 7_000, reason: "max_tokens", agents: 1 },
    { flag: "--max-tokens", kind: "tokens", most: 20_000, reason: "max_tokens", agents: 9 },
    { flag: "--max-cost", kind: "costUsd", most: 0.3, reason: "max_cost", agents: 9 },
    { flag: "--max-tool-calls", kind: "toolCalls", most: 14, reason: "max_tool_calls", agents: 9 },
  ] as const)(
    "$flag $most holds for the whole tree: exit 7, with a message",
    async ({ flag, kind, most, reason, agents }, { expect }) => {
      const scenario = await writePriced(`wide-${kind}-${most * 10}`);
      const command = ["run", "work", "--agent", "lead", "--scenario", scenario, flag, String(most), "--json"];
      const { code, stdout } = await troupe(command, { home: daemon().home, ownProcess: false });
      expect(code).toBe(7);
      const response = RunResponse.parse(JSON.parse(stdout));
      expect(response).toMatchObject({ status: "bailed_out", bailoutReason: reason, success: false });
      const used = await usedBy(response.sessionId);
      const charged = response.metrics.charged[kind] ?? Number.NaN;
      expect(charged).toBeLessThanOrEqual(most);
      // Sums of fractions, in another order.
      expect(used[kind]).toBeLessThanOrEqual(charged + 1e-9);
      expect(used[kind]).toBeGreaterThan(0);
      expect(used.spawns + 1).toBeGreaterThanOrEqual(agents);
    },
  );

  it("--max-runs: further agents are refused, and the first answers with its partial result", async ({ expect }) => {
    const lead = [{ steps: [round(1), round(2), { text: "{{result.1.summary}} {{result.2.output}}" }] }];
    const scenario = await writePriced("wide-runs", { agents: { lead, worker } });
    const command = ["run", "work", "--agent", "lead", "--scenario", scenario, "--max-runs", "10", "--json"];
    const { code, stdout } = await troupe(command, { home: daemon().home, ownProcess: false });
    expect(code).toBe(0);
    const response = RunResponse.parse(JSON.parse(stdout));
    expect(response.details).toMatch(/^Worked on part 2\.2\. .*the budget has nothing left for another agent/);
    expect(response.metrics.charged.spawns).toBe(10);
    expect(response.metrics.subtree.runs).toBe(11);
    expect((await usedBy(response.sessionId)).spawns).toBe(10);
  });

  onlyWithoutWorker(it)("in money needs a price: without one no run starts", async ({ expect }) => {
    const scenario = await writePriced("unpriced", { cost: null });
    const command = ["run", "work", "--agent", "lead", "--scenario", scenario];
    const refused = await troupe([...command, "--max-cost", "1", "--json"], { home: daemon().home, ownProcess: false });
    const response = RunResponse.parse(JSON.parse(refused.stdout));
    expect(response).toMatchObject({ status: "rejected", error: { type: "budget" } });
    expect(response.error?.message).toMatch(
      /^the price of scripted\/\S+ is unknown, so a cap of 1 USD cannot be kept$/,
    );
    expect(refused.code).toBe(7);
    expect(await daemon().ledger.calls([response.runId])).toEqual([]);

    // The cost is then unknown, which is different from zero.
    const unlimited = await troupe([...command, "--max-runs", "0", "--json"], {
      home: daemon().home,
      ownProcess: false,
    });
    expect(RunResponse.parse(JSON.parse(unlimited.stdout)).metrics.costUsd).toBeNull();
  });
});
