/** Tests control of active runs: steering, pause and resume, and the explanation of permissions. */
import path from "node:path";
import { GrantExplanation, RunControlOutcome } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { writePolicy } from "../harness/home-files.ts";
import { readInboxFile, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { atGate, delegate, gate, openGate } from "../harness/scripted-calls.ts";
import { responseOf, runsWhere, statusLines } from "../harness/session-queries.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { onlyWithoutWorker } from "../harness/test-hosts.ts";
import { until } from "../harness/until.ts";

const daemon = useDaemon("steering", (home) =>
  writePolicy(home, "tools: {deny: [write]}\nagents: {disabled: [planner]}\n"),
);

const everyPaused = (runs: readonly { exactStatus: string; completedAt: string | null }[]): boolean =>
  runs.every(({ exactStatus, completedAt }) => completedAt !== null || exactStatus === "paused");

describe.concurrent("troupe steer", () => {
  it("is read by the model at its next step, and is in the journal of that run alone", async ({ expect }) => {
    const { home, client } = daemon();
    const scenario = await writeScenario(
      home,
      {
        main: [
          {
            steps: [
              { calls: [gate("main"), delegate("researcher", "look")] },
              { calls: [{ tool: "delegate", args: { agent: "researcher", task: "listen", context: "full" } }] },
              { text: "done" },
            ],
          },
        ],
        researcher: [{ steps: [{ text: "{{task}}" }] }],
      },
      "steer",
    );
    const { session, run, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    await atGate(workspace, "main");
    const steered = await troupe(["steer", session, "  mind the gap\n", "--json"], { home, env: { USER: "ada" } });
    expect(RunControlOutcome.parse(JSON.parse(steered.stdout))).toMatchObject({ run, outcome: "requested" });
    await openGate(workspace, "main");
    expect(await responseOf(daemon(), session)).toMatchObject({ status: "completed", details: "done" });

    const commands = await Promise.all(
      (await client.session(session)).runs.map(async (row) => {
        const { entries } = await client.entries(row.run);
        return entries.flatMap((entry) => (entry.kind === "inbox.received" ? [[row.task, entry.item]] : []));
      }),
    );
    expect(commands.flat()).toEqual([
      ["work", expect.objectContaining({ kind: "run.steered", run, text: "mind the gap", by: "ada" })],
    ]);
    // A child that receives the whole conversation reads the message there, after the previous step's results.
    const { runs } = await client.session(session);
    const { entries } = await client.entries(runs.find(({ task }) => task === "listen")?.run ?? "");
    const [opened] = entries;
    if (opened?.kind !== "run.opened") throw new Error("the run did not open");
    expect(opened.request.context).toMatch(/main[\s\S]*A message from ada: mind the gap/);
    const late = await troupe(["steer", run, "too late"], { home });
    expect(late).toMatchObject({ code: 0, stdout: `${run} has already settled: completed\n` });
  });

  onlyWithoutWorker(it)("makes the model continue if it arrives during the last answer", async ({ expect }) => {
    const { home, client, ledger } = daemon();
    const scenario = await writeScenario(
      home,
      { main: [{ steps: [{ text: "the answer", latencyMs: 1_500 }, { text: "the answer, steered" }] }] },
      "late",
    );
    const { session, run } = await client.submit({ task: "work", scenario, origin: "api" });
    await until(async () => (await ledger.calls([run])).length === 1);
    await client.steer(run, "say that you were steered", "ada");
    expect((await responseOf(daemon(), session)).details).toBe("the answer, steered");
  });
});

describe.concurrent("troupe pause", () => {
  onlyWithoutWorker(it)(
    "starts no effect in a session, also after a restart, until troupe resume",
    async ({ expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("pause", test);
      const ledger = ledgerOf(home);
      const scenario = await writeScenario(home, {
        main: [
          {
            steps: [
              { calls: [gate("main"), delegate("coder", "build")] },
              { text: "{{result.0.summary}}, {{result.1.summary}}" },
            ],
          },
        ],
        coder: [{ steps: [{ calls: [gate("coder"), delegate("tester", "test")] }, { text: "built" }] }],
        tester: [{ steps: [{ calls: [gate("test/tester")] }, { text: "tested" }] }],
      });
      const first = await startDaemon({ home, test, env: ledger.env });
      const { session, run, workspace } = await first.client.submit({ task: "work", scenario, origin: "api" });
      for (const name of ["main", "coder", "test/tester"]) await atGate(workspace, name);
      const before = await ledger.calls();
      expect((await troupe(["pause", session], { home })).stdout).toBe(`pausing ${run}\n`);
      // Calls in progress may finish.
      for (const name of ["main", "coder", "test/tester"]) await openGate(workspace, name);
      const paused = await runsWhere(first, session, everyPaused);
      expect(statusLines(paused)).toEqual(["main paused", "coder paused", "tester paused"]);
      // A paused run can still wait for its call. A kill before its outcome would leave that call in doubt.
      const finished = () =>
        [...readJournalFile(path.join(home, "journal.db")).values()]
          .flat()
          .filter(({ entry }) => entry.kind === "tool.finished").length;
      await expect.poll(finished).toBe(3);
      const [list, tree] = await Promise.all([
        troupe(["sessions", "show", session], { home }),
        troupe(["sessions", "show", session, "--tree"], { home }),
      ]);
      expect(list.stdout).toMatch(/^status +‖ paused$/m);
      expect(tree.stdout).toMatch(/‖ tester +paused/);
      await first.kill();

      const second = await startDaemonInProcess({ home, test, env: ledger.env });
      expect(statusLines(await runsWhere(second, session, everyPaused))).toEqual(statusLines(paused));
      expect(await second.client.pause(run, "ada")).toMatchObject({ outcome: "requested" });
      expect(await ledger.calls()).toEqual(before);
      await second.stop();
      expect(await ledger.calls()).toEqual(before);

      // Without anybody who runs it: the next daemon does.
      const resumed = await troupe(["resume", session], { home });
      expect(resumed).toMatchObject({ code: 0, stdout: `resuming ${run}\n` });
      expect(resumed.stderr).toContain("takes effect with the next: troupe up");
      const third = await startDaemonInProcess({ home, test, env: ledger.env });
      expect(await responseOf(third, session)).toMatchObject({ status: "completed", details: "exit code 0, built" });
      expect(repeatedKeys((await ledger.calls()).map(({ key }) => key))).toEqual([]);
      const commands = readInboxFile(path.join(home, "journal.db"), session).map(({ kind }) => kind);
      expect(commands).toEqual(["session.requested", "run.paused", "run.resumed"]);
    },
  );

  it("of one run stops that run and its descendants; its sibling and its parent continue", async ({ expect }) => {
    const { home, client, ledger } = daemon();
    const scenario = await writeScenario(
      home,
      {
        main: [
          {
            steps: [
              { calls: [delegate("coder", "build"), delegate("coder", "other")] },
              { text: "{{result.0.summary}}, {{result.1.summary}}" },
            ],
          },
        ],
        coder: [
          { when: { task: "other" }, steps: [{ calls: [gate("other")] }, { text: "other" }] },
          { steps: [{ calls: [delegate("tester", "test")] }, { text: "built" }] },
        ],
        tester: [{ steps: [{ calls: [gate("test/tester")] }, { text: "tested" }] }],
      },
      "subtree",
    );
    const { session, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    for (const name of ["other", "test/tester"]) await atGate(workspace, name);
    const rows = await runsWhere(daemon(), session, (runs) => runs.length === 4);
    const run = (task: string) => rows.find((row) => row.task === task)?.run ?? "";
    expect((await troupe(["pause", run("build")], { home })).stdout).toBe(`pausing ${run("build")}\n`);
    for (const name of ["other", "test/tester"]) await openGate(workspace, name);
    const stood = await runsWhere(daemon(), session, (runs) => {
      const states = new Map(runs.map((row) => [row.task, row.exactStatus]));
      return states.get("other") === "completed" && states.get("build") === "paused" && states.get("test") === "paused";
    });
    const begun = await ledger.calls([run("build"), run("test")]);
    expect(begun.map(({ kind }) => kind)).toEqual(["model", "model", "tool"]);
    expect(stood.find(({ task }) => task === "work")?.exactStatus).not.toBe("paused");

    expect((await troupe(["resume", run("build")], { home })).stdout).toBe(`resuming ${run("build")}\n`);
    expect((await responseOf(daemon(), session)).details).toBe("built, other");
  });
});

onlyWithoutWorker(describe.concurrent)("troupe explain", () => {
  it("troupe explain names the layer that denied a tool or an agent: policy, session, agent", async ({ expect }) => {
    const { home, client } = daemon();
    const scenario = await writeScenario(
      home,
      {
        main: [{ steps: [{ calls: [delegate("researcher", "look")] }, { text: "done" }] }],
        researcher: [{ steps: [{ text: "looked" }] }],
      },
      "explain",
    );
    const ran = await troupe(
      ["run", "x", "--scenario", scenario, "--deny-tools", "shell", "--deny-agents", "coder", "--json"],
      { home },
    );
    expect(ran.code).toBe(0);
    const { sessionId, runId } = JSON.parse(ran.stdout);
    const child = (await client.session(sessionId)).runs.find(({ agent }) => agent === "researcher")?.run ?? "";
    const [whole, ...one] = await Promise.all([
      troupe(["explain", sessionId, "--json"], { home }),
      troupe(["explain", runId, "write"], { home }),
      troupe(["explain", runId, "shell"], { home }),
      troupe(["explain", runId, "coder"], { home }),
      troupe(["explain", runId, "planner"], { home }),
      troupe(["explain", child, "shell"], { home }),
      troupe(["explain", child, "tester"], { home }),
      troupe(["explain", child, "read"], { home }),
    ]);
    expect(GrantExplanation.parse(JSON.parse(whole.stdout))).toMatchObject({
      run: runId,
      agent: "main",
      layers: ["policy", "session", "main"],
      context: { request: "x", status: "complete", summary: "done", risk: "low" },
    });
    expect(
      one.map(({ code, stdout }) => `${code} ${stdout.trimEnd().split("\n").at(-1)?.replace(/ +/g, " ")}`),
    ).toEqual([
      "0 tool write ✗ no denied by this machine's policy",
      "0 tool shell ✗ no denied by the session's grant",
      "0 agent coder ✗ no denied by the session's grant",
      "0 agent planner ✗ no denied by this machine's policy",
      "0 tool shell ✗ no denied by the session's grant",
      "0 agent tester ✗ no not among the agents of the agent researcher",
      "0 tool read ✓ yes every layer lets it through",
    ]);
    const unknown = await troupe(["explain", runId, "shel"], { home });
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("fix:   did you mean shell?");
  });
});

onlyWithoutWorker(describe.concurrent)("an unknown id", () => {
  const unknownRun = "01a1ef83-2982-7c8e-9aa4-915dae5d1f12";
  it.for([
    { command: "cancel", words: [unknownRun], fix: "troupe sessions ls" },
    { command: "steer", words: [unknownRun, "words"], fix: "troupe sessions ls" },
    { command: "pause", words: ["0000"], fix: "troupe sessions show SESSION --tree" },
    { command: "explain", words: [unknownRun], fix: "troupe sessions ls" },
    { command: "approvals approve", words: [unknownRun], fix: "troupe approvals ls" },
    { command: "rules rm", words: [unknownRun], fix: "troupe rules ls" },
  ])("troupe $command: ends with 2 and a hint", async ({ command, words, fix }, { expect }) => {
    const { code, stdout, stderr } = await troupe([...command.split(" "), ...words], { home: daemon().home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`"${words[0]}"\n`);
    expect(stderr).toContain(`fix:   ${fix}`);
  });
});
