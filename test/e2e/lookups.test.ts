/** `search`, `costs`, `stats` and `sessions show --log`: each example of the help, with a daemon and without. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { ConversationPage, CostReport, RecordTotals, SearchPage } from "@troupe/core/internal";
import { describe, it, type TestContext } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { wordsOf } from "../harness/guide.ts";
import { writeAgent } from "../harness/home-files.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** A lead that asks its helper, which reads a file with hostile content. */
const scenario = {
  agents: {
    main: [{ steps: [{ calls: [delegate("helper", "find the flaky test")] }, { text: "The clock is to blame." }] }],
    helper: [
      {
        steps: [
          { calls: [{ tool: "read", args: { path: "notes.md" } }] },
          { text: `It waits. ${"Long. ".repeat(50)}` },
        ],
      },
    ],
  },
};

const hostile = "a flaky \u001b[2J\u001b]0;owned\u0007 test\n";

async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const server = await startModelServer({ scenario });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("lookups", test);
  const work = await tempFolder("lookups-work", test);
  await writeAgent(home, "lead", { subagents: { allow: ["helper"] } });
  await writeAgent(home, "helper", { tools: ["read"] });
  await writeFile(path.join(work, "notes.md"), hostile);
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-any",
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    TROUPE_MODEL: "anthropic/claude-sonnet-5",
    TROUPE_CONFIG: path.join(home, "config.yaml"),
  };
  await writeFile(env.TROUPE_CONFIG, "");
  const run = (args: readonly string[]) => troupe([...args], { home, env, cwd: work });
  const { code, stderr } = await run(["run", "find the flaky test", "--agent", "lead", "--workspace", work]);
  if (code !== 0) throw new Error(`the run ended with ${code}: ${stderr}`);
  return { run, home, env };
}

const LogOutput = z.object({ session: z.string(), conversations: z.array(ConversationPage) });

describe("the record of a delegation", () => {
  it("answers every example of the help, and gives the same answers with a daemon", async ({
    expect,
    onTestFinished,
  }) => {
    const { run, home, env } = await createFixture({ onTestFinished });
    const examples: string[] = [];
    for (const command of [["search"], ["costs"], ["stats"], ["sessions", "show"]]) {
      const { stdout } = await run([...command, "--help"]);
      const [, example = ""] = /Example:\n {2}\$ (.*)/.exec(stdout) ?? [];
      expect(example).toMatch(/^troupe /);
      examples.push(example);
    }
    const lines = [...examples.map((line) => line.replace("0199c2a4", "last")), "troupe sessions show last --log"];
    const answers = async () => {
      const all = await Promise.all(lines.map((line) => run(wordsOf(line).slice(1))));
      // The age of a hit is the time since it began.
      return all.map(({ code, stdout }) => [code, stdout.replaceAll(/, [\d.]+ m?s ago/g, "")]);
    };
    const withoutDaemon = await answers();
    for (const [code, stdout] of withoutDaemon) expect([code, String(stdout).length > 20]).toEqual([0, true]);
    await startDaemonInProcess({ home, env, test: { onTestFinished } });
    expect(await answers()).toEqual(withoutDaemon);
  });

  it("has its words, costs, totals and conversations, and sends no escape sequence to a terminal", async ({
    expect,
    onTestFinished,
  }) => {
    const { run } = await createFixture({ onTestFinished });
    const json = async (...args: string[]): Promise<unknown> => JSON.parse((await run([...args, "--json"])).stdout);
    const page = SearchPage.parse(await json("search", "flaky", "owned"));
    expect(page.hits).toMatchObject([{ agent: "helper", kind: "tool_call", call: { tool: "read" } }]);
    const costs = CostReport.parse(await json("costs"));
    expect(costs.rows.map(({ name }) => name).sort()).toEqual(["helper", "lead"]);
    expect(costs.total).toMatchObject({ runs: 2, unknownRuns: 0, costUsd: expect.any(Number) });
    expect(costs.total.costUsd).toBeGreaterThan(0);
    expect(RecordTotals.parse(await json("stats"))).toMatchObject({
      runs: { total: 2, succeeded: 2, successRate: 1 },
      slowest: [{ path: ["lead", "helper"] }],
    });
    const { conversations } = LogOutput.parse(await json("sessions", "show", "last", "--log"));
    const child = conversations[0]?.items.flatMap((item) =>
      item.kind === "result" && item.child ? [item.child] : [],
    )[0];
    expect(child?.agent).toBe("helper");
    const log = await run(["sessions", "show", "last", "--log", "--run", child?.run ?? ""]);
    expect(log.stdout).toContain("⚙ read: notes.md");
    expect(log.stdout).toContain("a flaky  test");
    const found = await run(["search", "owned"]);
    for (const { stdout, stderr } of [log, found]) expect(stdout + stderr).not.toContain("\u001b");
  });

  it("never shows an error of SQL for a search", async ({ expect, onTestFinished }) => {
    const { run } = await createFixture({ onTestFinished });
    for (const words of [
      '"',
      "AND",
      "flaky OR (",
      "NEAR(flaky test)",
      "***",
      "flaky:b*",
      "'; DROP TABLE words",
      "-flaky",
    ]) {
      const { code, stdout, stderr } = await run(["search", "--", words]);
      expect([0, 2]).toContain(code);
      expect(stdout + stderr).not.toMatch(/sqlite|fts5|syntax error/i);
    }
    expect((await run(["search", '"flaky'])).stdout).toContain("flaky");
  });
});
