/** The command `/spawn`: from the command line, over the API and in a further turn; refused, killed and replayed. */
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { startServer } from "../harness/model-server/fixture.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const key = "sk-ant-api03-a-key-for-tests";
/** The same answer at every step: the model server counts the turns of the conversation, and `/spawn` adds one. */
const says = (text: string) => ({ steps: Array.from({ length: 6 }, () => ({ text })) });

describe.concurrent("/spawn on the command line", () => {
  it("asks the model of the sub-agent first, and then main, which has the result; also in a further turn", async (test) => {
    const home = await tempFolder("spawn", test);
    const server = await startServer(test, {
      apiKey: key,
      scenario: {
        agents: {
          main: [
            { when: { continued: true }, ...says("And the coder built it.") },
            says("The researcher found two tides."),
          ],
          researcher: [says("There are two tides a day.")],
          coder: [says("Built the clock.")],
        },
      },
    });
    const env = {
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.anthropicUrl },
      TROUPE_MODEL: "anthropic/claude-sonnet-5",
    };
    const agentsAsked = (): string[] => server.calls().map(({ identity }) => identity?.agent ?? "");
    const first = await troupe(["run", "/spawn researcher Count the tides", "--json"], {
      home,
      env,
      input: "of Brest",
    });
    const answer = RunResponse.parse(JSON.parse(first.stdout));
    test.expect(answer).toMatchObject({
      status: "completed",
      details: "The researcher found two tides.",
      toolsUsed: ["delegate"],
      metrics: { subtree: { runs: 2 } },
    });
    test.expect(agentsAsked()).toEqual(["researcher", "main"]);
    const [child, root] = server.calls().map(({ body }) => JSON.stringify(body));
    test.expect(child).toContain("Count the tides");
    test.expect(child).toContain("of Brest");
    test.expect(root).toContain("There are two tides a day.");

    const second = await troupe(["run", "--continue", "--json", "/spawn coder --context full Build a tide clock"], {
      ...{ home, env },
    });
    test.expect(RunResponse.parse(JSON.parse(second.stdout))).toMatchObject({
      ...{ status: "completed", details: "And the coder built it.", sessionId: answer.sessionId },
    });
    test.expect(agentsAsked()).toEqual(["researcher", "main", "coder", "main"]);
    // The coder was started from the conversation, so with `--context full` it has the first turn.
    test.expect(JSON.stringify(server.calls()[2]?.body)).toContain("The researcher found two tides.");

    const again = await troupe(["sessions", "replay", answer.sessionId], { home });
    test.expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^same: 2 turns, 4 runs/)]);
  });

  it("is refused with what to do, and nothing is started, or is an ordinary text", async (test) => {
    const home = await tempFolder("spawn-refused", test);
    const server = await startServer(test, {
      apiKey: key,
      scenario: { agents: { main: [{ steps: [{ text: "An ordinary answer." }] }] } },
    });
    const env = {
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.anthropicUrl },
      TROUPE_MODEL: "anthropic/claude-sonnet-5",
    };
    const run = (task: string, ...more: string[]) => troupe(["run", task, ...more], { home, env });
    const unknown = await run("/spawn resercher Count the tides");
    test.expect(unknown.code).toBe(2);
    test.expect(unknown.stderr).toMatch(/no agent is called "resercher"; available: .*researcher/);
    test.expect(unknown.stderr).toContain("did you mean researcher?");
    const withoutTask = await run("/spawn researcher");
    test.expect(withoutTask.code).toBe(2);
    test.expect(withoutTask.stderr).toContain("/spawn researcher needs a task for the agent");
    const denied = await run("/spawn coder Build it", "--deny-agents", "coder");
    test.expect(denied.code).toBe(2);
    test.expect(denied.stderr).toContain("main may not delegate to coder");
    test.expect(server.calls()).toEqual([]);
    const listed = await troupe(["sessions", "ls", "--json"], { home });
    test.expect(listed.stdout.trim()).toMatch(/^(\[\])?$/);

    for (const task of ["Explain /spawn coder", "/review the code"]) {
      test.expect(await run(task)).toMatchObject({ code: 0, stdout: "An ordinary answer.\n" });
    }
    test.expect(server.calls().map(({ identity }) => identity?.agent)).toEqual(["main", "main"]);
    const help = await troupe(["run", "--help"], { home });
    test.expect(help.stdout).toMatch(/"\/spawn\s+AGENT\s+TASK" starts that sub-agent/);
  });
});

it("/spawn works over the HTTP API, where a wrong agent is a refusal with a fix", async (test) => {
  const daemon = await startScriptedDaemon({
    test,
    agents: {
      main: [says("Done by the tester.")],
      tester: [{ steps: [{ text: "All green." }] }],
    },
  });
  const post = (body: object): Promise<Response> =>
    fetch(`${daemon.url}/api/v1/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const refused = await post({ task: "/spawn testr Run them" });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { code: "UNKNOWN_AGENT", message: expect.stringContaining('"testr"'), fix: "did you mean tester?" },
  });
  const accepted = await post({ task: "/spawn tester Run them" });
  const { session } = (await accepted.json()) as { session: string };
  const response = await until(() => daemon.client.response(session).catch(() => null));
  expect(response).toMatchObject({ status: "completed", details: "Done by the tester." });
  expect((await daemon.client.session(session))?.runs.map(({ agent, task }) => [agent, task])).toEqual([
    ["main", "/spawn tester Run them"],
    ["tester", "Run them"],
  ]);
});

it("a daemon that is killed while the agent of a /spawn works continues it, and starts it once", {
  timeout: 180_000,
}, async (test) => {
  const daemon = await startKillableScriptedDaemon({
    test,
    agents: {
      main: [says("The coder wrote it.")],
      coder: [
        {
          steps: [
            { calls: [{ tool: "write", args: { path: "hello.md", content: "hello" } }] },
            { latencyMs: 1_500, text: "Written, slowly." },
          ],
        },
      ],
    },
  });
  const file = path.join(daemon.home, "journal.db");
  const { session, run } = await daemon.client.submit({ task: "/spawn coder Write hello.md", origin: "api" });
  await until(() =>
    [...readJournalFile(file).values()].flat().some(({ entry }) => entry.kind === "tool.finished" && entry.run !== run),
  );
  await daemon.kill();

  const second = await daemon.startAgain();
  const response = await until(() => second.client.response(session).catch(() => null));
  expect(response).toMatchObject({ status: "completed", details: "The coder wrote it.", filesCreated: ["hello.md"] });
  await second.stop();

  const journal = readJournalFile(file);
  expect(journal.size).toBe(2);
  expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
  const replies = (journal.get(run) ?? []).flatMap(({ entry }) => (entry.kind === "model.replied" ? [entry] : []));
  expect(replies.map(({ step, reply }) => [step, reply.model, reply.calls.length])).toEqual([
    [1, "command/spawn", 1],
    [2, expect.stringContaining("scripted/"), 0],
  ]);
  await expectReplayable(await readSessionFeed({ file, session }));
});
