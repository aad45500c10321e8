/** Tests cancels: everything below the target and every process of its tools stops, and nothing else. */
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { RunControlOutcome } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { startTroupe, troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { findProcesses, newMark } from "../harness/find-processes.ts";
import { writeAgent } from "../harness/home-files.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { atGate, delegate, gate, openGate, shell } from "../harness/scripted-calls.ts";
import { responseOf, runsWhere, statusLines } from "../harness/session-queries.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { onlyWithoutWorker } from "../harness/test-hosts.ts";
import { until } from "../harness/until.ts";

/** Leaves two in the background and says that it is there, then waits for ever. */
const sleeper = (name: string, mark: string): string =>
  `sleep ${mark} & (sleep ${mark}; true) & touch ${name}.asleep; wait`;
/** The same of one that does not listen when it is asked to end. */
const ignoringSignals = (name: string, mark: string): string => `trap '' TERM INT HUP; ${sleeper(name, mark)}`;
/** One that takes its time to tidy up. */
const tidy = (name: string, mark: string): string =>
  `trap 'sleep 1; touch ${name}.tidied; exit 1' TERM; ${sleeper(name, mark)}`;

const allStarted = (folder: string, names: readonly string[]) =>
  until(() => names.every((name) => existsSync(path.join(folder, `${name}.asleep`))));

const daemon = useDaemon("cancel", (home) =>
  writeAgent(home, "lead", { subagents: { allow: ["coder", "tester"], max_concurrent: 1 } }),
);

/** Three generations, each in the middle of a command. */
const family = (mark: string) => ({
  main: [{ steps: [{ calls: [shell(sleeper("main", mark)), delegate("coder", "build")] }, { text: "never said" }] }],
  coder: [{ steps: [{ calls: [shell(tidy("coder", mark)), delegate("tester", "test")] }, { text: "never said" }] }],
  tester: [{ steps: [{ calls: [shell(ignoringSignals("test/tester", mark))] }, { text: "never said" }] }],
});
const generations = ["main", "coder", "test/tester"];

/** Everything that there is of a session, to see that it stays so. */
async function everythingOf(session: string) {
  const { client, ledger, journal } = daemon();
  // The position is that of the whole record, in which other sessions go on.
  const { position: _, ...detail } = await client.session(session);
  const runs = detail.runs.map(({ run }) => run);
  const recorded = await journal.runs();
  return {
    detail,
    response: await client.response(session),
    inbox: await journal.inbox(session),
    entries: runs.map((run) => recorded.get(run)?.map(({ text }) => text)),
    calls: await ledger.calls(runs),
  };
}

describe.concurrent("a session that is cancelled", () => {
  it.for([
    { by: "on the command line", code: 6 },
    { by: "over HTTP", code: 6 },
    { by: "by Ctrl-C of its troupe run", code: 130 },
  ])(
    "$by: three generations end with all their processes, and a second cancel changes nothing",
    async ({ by, code }, { expect }) => {
      const { home, client, ledger } = daemon();
      const mark = newMark();
      const scenario = await writeScenario(home, family(mark), `family-${mark.slice(3)}`);
      const run = startInProcess(["run", "work", "--scenario", scenario], { home });
      const [, session = "", folder = ""] = await run.waitForOutput(/session (\S+) {2}in (.+)\n/);
      await allStarted(folder, generations);
      expect((await findProcesses(mark)).length).toBeGreaterThanOrEqual(9);
      const runs = await runsWhere(daemon(), session, (rows) => rows.length === 3);
      const before = await ledger.calls(runs.map((row) => row.run));

      if (by.startsWith("on")) await troupe(["cancel", session], { home });
      else if (by.startsWith("over")) await client.cancel(session, "enough");
      else run.send("SIGINT");
      expect(await run.ended).toMatchObject({ code, stdout: "" });
      // The stubborn one is given two seconds.
      await until(async () => (await findProcesses(mark)).length === 0);
      await responseOf(daemon(), session);
      await runsWhere(daemon(), session, (rows) => rows.every(({ completedAt }) => completedAt !== null));
      const after = await everythingOf(session);
      expect(statusLines(after.detail.runs)).toEqual(["main cancelled", "coder cancelled", "tester cancelled"]);
      expect(after.calls).toEqual(before);
      for (const entries of after.entries) expect(entries?.at(-1)).toContain('"kind":"run.settled"');

      expect(await client.cancel(session)).toEqual({ session, outcome: "settled", status: "cancelled" });
      for (const row of runs) {
        expect(await client.cancelRun(row.run, "again")).toMatchObject({ outcome: "settled", status: "cancelled" });
      }
      expect(await everythingOf(session)).toEqual(after);
    },
  );

  onlyWithoutWorker(it)(
    "by Ctrl-C without a daemon: waits for processes that tidy up, and leaves no process behind",
    async ({ expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("alone", test);
      const mark = newMark();
      const scenario = await writeScenario(home, family(mark));
      const run = startTroupe(["run", "work", "--scenario", scenario], { home, test });
      const [, , folder = ""] = await run.waitForOutput(/session (\S+) {2}in (.+)\n/);
      await allStarted(folder, generations);
      run.process.kill("SIGINT");
      expect(await run.ended).toMatchObject({ code: 130, stdout: "" });
      expect(await findProcesses(mark)).toEqual([]);
      expect(existsSync(path.join(folder, "coder.tidied"))).toBe(true);
    },
  );

  onlyWithoutWorker(it)(
    "by a second Ctrl-C, which leaves at once: kills every process",
    async ({ expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("hasty", test);
      const mark = newMark();
      const scenario = await writeScenario(home, family(mark));
      const run = startTroupe(["run", "work", "--scenario", scenario], { home, test });
      const [, , folder = ""] = await run.waitForOutput(/session (\S+) {2}in (.+)\n/);
      await allStarted(folder, generations);
      run.process.kill("SIGINT");
      await run.waitForOutput(/cancelling session/);
      // Two within a tenth of a second are one: a terminal and a package manager each pass the same key press on.
      await delay(150);
      run.process.kill("SIGINT");
      expect(await run.ended).toMatchObject({ code: 130, stdout: "" });
      await until(async () => (await findProcesses(mark)).length === 0);
      expect(existsSync(path.join(folder, "coder.tidied"))).toBe(false);
    },
  );
});

describe.concurrent("a run that is cancelled", () => {
  it("ends with its descendants; its siblings and its parent continue", async ({ expect }) => {
    const { home, client, ledger, journal } = daemon();
    const mark = newMark();
    const scenario = await writeScenario(
      home,
      {
        main: [
          {
            steps: [
              { calls: [delegate("coder", "build"), delegate("researcher", "look"), delegate("coder", "wait")] },
              { text: "{{result.0.summary}} | {{result.1.summary}} | {{result.2.summary}}" },
            ],
          },
        ],
        coder: [
          {
            when: { task: "build" },
            steps: [{ calls: [shell(sleeper("coder", mark)), delegate("tester", "test")] }, { text: "never" }],
          },
          { when: { task: "wait" }, steps: [{ calls: [gate("sibling")] }, { text: "waited" }] },
        ],
        tester: [{ steps: [{ calls: [shell(sleeper("test/tester", mark))] }, { text: "never" }] }],
        researcher: [{ steps: [{ text: "looked" }] }],
      },
      "siblings",
    );
    const { session, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    await allStarted(workspace, ["coder", "test/tester"]);
    await atGate(workspace, "sibling");
    const runs = await runsWhere(daemon(), session, (rows) => statusLines(rows).includes("researcher completed"));
    const runOf = (agent: string, task: string) =>
      runs.find((row) => row.agent === agent && row.task === task)?.run ?? "";
    const build = runOf("coder", "build");

    // A settled run does not change.
    const settled = await troupe(["cancel", runOf("researcher", "look")], { home });
    expect(settled).toMatchObject({
      code: 0,
      stdout: `${runOf("researcher", "look")} has already settled: completed\n`,
    });
    const before = await ledger.calls(runs.map(({ run }) => run));
    const first = await troupe(["cancel", build, "--json"], { home });
    expect(RunControlOutcome.parse(JSON.parse(first.stdout))).toMatchObject({ run: build, outcome: "requested" });
    await runsWhere(
      daemon(),
      session,
      (rows) => statusLines(rows).filter((words) => words.endsWith("cancelled")).length === 2,
    );
    await until(async () => (await findProcesses(mark)).length === 0);
    const inbox = await journal.inbox(session);
    expect(await client.cancelRun(build, "again")).toMatchObject({ outcome: "settled", status: "cancelled" });
    expect(await journal.inbox(session)).toEqual(inbox);
    expect(await ledger.calls(runs.map(({ run }) => run))).toEqual(before);

    await openGate(workspace, "sibling");
    const response = await responseOf(daemon(), session);
    expect(response).toMatchObject({
      status: "completed",
      details: "cancelled on the command line | looked | waited",
    });
    const { runs: rows } = await client.session(session);
    expect(rows.map(({ agent, task, exactStatus }) => `${agent} ${task} ${exactStatus}`).sort()).toEqual([
      "coder build cancelled",
      "coder wait completed",
      "main work completed",
      "researcher look completed",
      "tester test cancelled",
    ]);
    // A cancelled child is not retried.
    expect(rows.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(await client.cancel(session)).toEqual({ session, outcome: "settled", status: "completed" });
  });

  it("in the queue never starts, and the next ones in the queue do", async ({ expect }) => {
    const { home, client, ledger } = daemon();
    const tasks = ["first", "second", "third"].map((task) => ({ name: task, agent: "coder", task }));
    const scenario = await writeScenario(
      home,
      {
        lead: [{ steps: [{ calls: [{ tool: "delegate", args: { tasks } }] }, { text: "{{result.0.output}}" }] }],
        coder: [
          { when: { task: "first" }, steps: [{ calls: [gate("first")] }, { text: "done" }] },
          { steps: [{ text: "done" }] },
        ],
      },
      "queue",
    );
    const { session, workspace } = await client.submit({ task: "work", agent: "lead", scenario, origin: "api" });
    await atGate(workspace, "first");
    const runs = await runsWhere(daemon(), session, (rows) => rows.length === 4);
    const places = () => runsWhere(daemon(), session, () => true).then((rows) => rows.map((row) => row.queuePosition));
    expect(await places()).toEqual([null, null, 1, 2]);
    const second = runs.find(({ task }) => task === "second")?.run ?? "";
    expect(await client.cancelRun(second, "not that one")).toMatchObject({ outcome: "requested" });
    await openGate(workspace, "first");
    const { results } = JSON.parse((await responseOf(daemon(), session)).details);
    expect(results.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual([
      "first completed",
      "second cancelled",
      "third completed",
    ]);
    expect(await ledger.calls([second])).toEqual([]);
  });
});
