/** Statistics of earlier runs: `troupe agents stats` shows them, and the next delegating model reads them. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { AgentStatsList } from "@troupe/core/internal";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { writeAgent } from "../harness/home-files.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const tasks = (first: number, count: number) => Array.from({ length: count }, (_, n) => `part ${first + n}`);

/** A lead that asks its helper as often as the task says, and a helper that answers. */
const scenario = {
  agents: {
    main: [
      {
        when: { task: "nine" },
        steps: [{ calls: tasks(1, 9).map((task) => delegate("helper", task)) }, { text: "9" }],
      },
      { when: { task: "one" }, steps: [{ calls: [delegate("helper", "part 10")] }, { text: "1" }] },
      { steps: [{ text: "nothing to do" }] },
    ],
    // Long enough to cost a part of a cent.
    helper: [{ steps: [{ text: `done: {{task}}. ${"All of it. ".repeat(100)}` }] }],
  },
};

async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const server = await startModelServer({ scenario });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("agent-stats", test);
  await writeAgent(home, "lead", { subagents: { allow: ["helper"] } });
  await writeAgent(home, "helper", { tools: [] });
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-any",
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    TROUPE_MODEL: "anthropic/claude-sonnet-5",
    TROUPE_CONFIG: path.join(home, "config.yaml"),
  };
  const configure = (yaml: string) => writeFile(env.TROUPE_CONFIG, yaml);
  await configure("");
  const run = (args: string[]) => troupe(args, { home, env });
  /** Runs a task, and returns its session and the first request of its first run. */
  const ask = async (task: string) => {
    const before = server.calls().length;
    const { code, stdout, stderr } = await run(["run", task, "--agent", "lead", "--workspace", home, "--json"]);
    if (code !== 0) throw new Error(`the run ended with ${code}: ${stderr}`);
    const first = server
      .calls()
      .slice(before)
      .find(({ identity }) => identity !== null);
    return { session: RunResponse.parse(JSON.parse(stdout)).sessionId, request: JSON.stringify(first?.body) };
  };
  return { run, ask, configure, home, env };
}

describe("earlier runs", () => {
  it("are a hint for the next delegating model from the tenth on, which a replay repeats, and which can be switched off", async ({
    expect,
    onTestFinished,
  }) => {
    const { run, ask, configure } = await createFixture({ onTestFinished });
    expect((await ask("nine")).request).toContain("- helper: The helper of a test");
    const tenth = await ask("one");
    // The ninth run was not enough.
    expect(tenth.request).toContain("- helper: The helper of a test");
    expect(tenth.request).not.toContain("succeeded");

    const hinted = await ask("thanks");
    expect(hinted.request).toMatch(/- helper: The helper of a test \(10 of 10 succeeded, median [^,)]+, \$0\.\d+\)/);

    const { stdout } = await run(["agents", "stats", "--json"]);
    const stats = AgentStatsList.parse(JSON.parse(stdout));
    expect(stats.pairs).toMatchObject([
      { agent: "helper", parent: "lead", runs: 10, succeeded: 10, successRate: 1, stopped: 0, costRuns: 10 },
    ]);
    expect(stats.agents.map(({ agent, runs }) => [agent, runs])).toEqual([
      ["helper", 10],
      ["lead", 3],
    ]);
    const table = (await run(["agents", "stats", "--since", "1d"])).stdout.trimEnd().split("\n");
    expect(table[0]).toMatch(/^AGENT +UNDER +RUNS +SUCCEEDED +STOPPED +MEDIAN +COST$/);
    expect(table[1]).toMatch(/^helper +any +10 +10 \(100%\) +0 .*\$0\.\d+$/);
    expect(table[2]).toMatch(/^ +lead +10 +10 \(100%\) +0 /);
    for (const line of table) expect(line.length).toBeLessThanOrEqual(80);

    // More runs have settled since then, and a replay still gives the recorded hint.
    await ask("one");
    for (const agents of ["pinned", "current"]) {
      const replayed = await run(["sessions", "replay", hinted.session, "--agents", agents]);
      expect(replayed, `--agents ${agents}`).toMatchObject({ code: 0 });
    }

    await configure("delegation: {hints: off}");
    expect((await run(["config", "get", "delegation.hints"])).stdout).toBe("off\n");
    const silent = await ask("thanks");
    expect(silent.request).toContain("- helper: The helper of a test");
    expect(silent.request).not.toContain("succeeded");
  });

  it("are shown by a daemon as by the record", async ({ expect, onTestFinished }) => {
    const { run, ask, home, env } = await createFixture({ onTestFinished });
    await ask("one");
    const shown = async () => AgentStatsList.parse(JSON.parse((await run(["agents", "stats", "--json"])).stdout));
    const { agents, pairs } = await shown();
    expect(pairs).toMatchObject([{ agent: "helper", parent: "lead", runs: 1, succeeded: 1 }]);
    await startDaemonInProcess({ home, env, test: { onTestFinished } });
    expect(await shown()).toMatchObject({ agents, pairs });
  });

  it("of an unreadable time are refused with a fix", async ({ expect, onTestFinished }) => {
    const { run } = await createFixture({ onTestFinished });
    const { code, stderr } = await run(["agents", "stats", "--since", "lately"]);
    expect(code).toBe(2);
    expect(stderr).toContain('--since "lately" is not');
    expect(stderr).toContain("troupe agents stats --since 30d");
  });
});
