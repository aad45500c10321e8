/** Tests approvals: how people see and answer them, and that no call runs without an answer. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApprovalRow, RunResponse } from "@troupe/core";
import { ApprovalOutcome, ApprovalRule } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { askBeforeShell, writePolicy } from "../harness/home-files.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { delegate, shell } from "../harness/scripted-calls.ts";
import { commandOf, questionFor, questionsOf, responseOf, runsWhere, statusLines } from "../harness/session-queries.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { onlyWithoutWorker } from "../harness/test-hosts.ts";

/** main and its coder request approval at the same time; both report their commands' output at the end. */
const asking = {
  main: [
    {
      steps: [
        { calls: [shell("echo main > main.txt"), delegate("coder", "help")] },
        { text: "{{result.0.summary}}; the coder says: {{result.1.summary}}" },
      ],
    },
  ],
  coder: [{ steps: [{ calls: [shell("echo coder > coder.txt")] }, { text: "{{result.0.summary}}" }] }],
};

const completedAs = "exit code 0; the coder says: exit code 0";

const daemon = useDaemon("approvals", (home) => writePolicy(home, askBeforeShell));

const scenarioIn = (home: string, agents: Parameters<typeof writeScenario>[1], name: string) =>
  writeScenario(home, agents, name);

describe.concurrent("an approval", () => {
  it("is listed with agent, tool, all arguments and risk", async ({ expect }) => {
    const { home, client } = daemon();
    const long = `printf '%s' ${"long words ".repeat(40)}> long.txt`;
    const scenario = await scenarioIn(
      home,
      {
        main: [{ steps: [{ calls: [shell("echo 1"), delegate("coder", "help")] }, { text: "done" }] }],
        coder: [{ steps: [{ calls: [shell(long), shell("echo 3")] }, { text: "done" }] }],
      },
      "listed",
    );
    const { session } = await client.submit({ task: "ask", scenario, origin: "api" });
    const asked = await questionsOf(daemon(), session, 3);
    const [json, text, tree, list] = await Promise.all([
      troupe(["approvals", "ls", "--json"], { home }),
      troupe(["approvals", "ls"], { home }),
      troupe(["sessions", "show", session, "--tree"], { home }),
      troupe(["sessions", "ls"], { home }),
    ]);
    expect([json, text, tree, list].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const rows = z.array(ApprovalRow).parse(JSON.parse(json.stdout));
    const own = rows.filter((row) => row.session === session);
    expect(own).toHaveLength(3);
    expect(own).toEqual(expect.arrayContaining(asked));
    expect(own.map((row) => [row.path.join(" "), row.tool, row.risk, row.state, row.args])).toEqual(
      expect.arrayContaining([
        ["main", "shell", "medium", "waiting", shell("echo 1").args],
        ["main coder", "shell", "medium", "waiting", shell(long).args],
        ["main coder", "shell", "medium", "waiting", shell("echo 3").args],
      ]),
    );
    for (const { id, path: agents } of own) {
      expect(text.stdout).toMatch(
        new RegExp(`^${id.slice(0, 8)}\\S* .* ${agents.join(" › ")} +shell +medium +\\? waiting`, "m"),
      );
    }
    expect(text.stdout.replace(/\s+/g, "")).toContain(long.replace(/\s+/g, ""));
    expect(text.stdout).toContain(JSON.stringify(shell("echo 3").args));
    expect(tree.stdout).toMatch(/\? main +waiting for approval/);
    expect(tree.stdout).toMatch(/└─ \? coder +waiting for approval/);
    expect(list.stdout).toMatch(new RegExp(`^${session.slice(0, 8)}\\S* +\\? waiting for approval`, "m"));

    await client.cancel(session);
    await responseOf(daemon(), session);
    // The approval is closed, and an answer is refused.
    const late = await troupe(["approvals", "approve", asked[0]?.id ?? ""], { home });
    expect(late).toMatchObject({ code: 0, stdout: "shell of main was withdrawn already; nothing changed\n" });
    const withdrawn = (await client.approvals({ waiting: false, limit: 500 })).approvals.filter(
      (row) => row.session === session,
    );
    expect(withdrawn.map(({ state }) => state)).toEqual(["withdrawn", "withdrawn", "withdrawn"]);
  });

  it("is answered for once, for the rest of the run, or denied with a reason that the model reads", async ({
    expect,
  }) => {
    const { home, client, ledger } = daemon();
    const scenario = await scenarioIn(
      home,
      {
        main: [
          {
            steps: [
              { calls: [shell("echo 1"), delegate("coder", "help")] },
              { calls: [shell("echo 9")] },
              { text: "done" },
            ],
          },
        ],
        coder: [
          {
            steps: [
              { calls: [shell("echo 2"), shell("echo 3")] },
              // This call needs no approval.
              { text: "I read: {{result.1.output}}", calls: [shell("echo 4")] },
              { text: "done" },
            ],
          },
        ],
      },
      "scopes",
    );
    const { session } = await client.submit({ task: "ask", scenario, origin: "api" });
    const [one, two, three] = await questionsOf(daemon(), session, 3);
    const results = await Promise.all([
      troupe(["approvals", "approve", one?.id ?? ""], { home, env: { USER: "ada" } }),
      troupe(["approvals", "deny", three?.id ?? "", "--reason", "not on a Friday", "--json"], {
        home,
        env: { USER: "ada" },
      }),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(results[0]?.stdout).toBe("approved shell of main\n");
    expect(ApprovalOutcome.parse(JSON.parse(results[1]?.stdout ?? ""))).toMatchObject({
      outcome: "answered",
      approval: { state: "denied", by: "ada", answerReason: "not on a Friday" },
    });
    const forRun = await troupe(["approvals", "approve", two?.id ?? "", "--run"], { home });
    expect(forRun.stdout).toBe("approved shell of main › coder for the rest of its run\n");

    // A call that was allowed once needs approval again; a call that was allowed for the coder's run does not.
    const nine = await questionFor(daemon(), session, "echo 9");
    expect(nine.path).toEqual(["main"]);
    await client.answer(nine.id, { approved: true });
    expect(await responseOf(daemon(), session)).toMatchObject({ status: "completed", details: "done" });
    const { approvals } = await client.session(session);
    expect(approvals.map((row) => `${commandOf(row)} ${row.state} ${row.scope}`).sort()).toEqual([
      "echo 1 approved once",
      "echo 2 approved run",
      "echo 3 denied once",
      "echo 9 approved once",
    ]);
    const { runs } = await client.session(session);
    const coder = runs.find(({ agent }) => agent === "coder")?.run ?? "";
    const { entries } = await client.entries(coder);
    const replies = entries.flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.text] : []));
    expect(replies[1]).toMatch(/^I read: .*denied by ada: not on a Friday/);
    const calls = await ledger.calls(runs.map(({ run }) => run));
    // The first, the second, the fourth and the ninth: never the one that was denied.
    expect(calls.filter(({ kind }) => kind === "tool")).toHaveLength(4);
  });

  onlyWithoutWorker(it)(
    "that a rule answers is not asked again, until the rule is removed",
    async ({ expect, onTestFinished }) => {
      const { home } = daemon();
      const workspace = await tempFolder("rules", { onTestFinished });
      const scenario = await scenarioIn(
        home,
        { main: [{ steps: [{ calls: [shell("echo again >> log.txt")] }, { text: "{{result.0.summary}}" }] }] },
        "ruled",
      );
      const begin = async () =>
        (await daemon().client.submit({ task: "ask", scenario, workspace, origin: "api" })).session;
      const first = await begin();
      const [question] = await questionsOf(daemon(), first, 1);
      const always = await troupe(["approvals", "approve", question?.id ?? "", "--always"], { home });
      expect(always.stdout).toMatch(/^approved shell of main; rule [0-9a-f-]{36} was stored\n$/);
      const rule = /rule (\S+)/.exec(always.stdout)?.[1] ?? "";
      const second = await begin();
      for (const session of [first, second]) {
        expect(await responseOf(daemon(), session)).toMatchObject({ status: "completed", details: "exit code 0" });
      }
      expect(await readFile(path.join(workspace, "log.txt"), "utf8")).toBe("again\nagain\n");
      expect((await daemon().client.session(second)).approvals).toEqual([]);

      const [json, text] = await Promise.all([
        troupe(["rules", "ls", "--json"], { home }),
        troupe(["rules", "ls"], { home }),
      ]);
      const stored = z.array(ApprovalRule).parse(JSON.parse(json.stdout));
      expect(stored.find(({ id }) => id === rule)).toMatchObject({
        decision: "allow",
        tool: "shell",
        agent: "main",
        workspace,
        args: shell("echo again >> log.txt").args,
      });
      expect(text.stdout).toContain(`in ${workspace}`);
      expect(text.stdout).toContain('"command":"echo again >> log.txt"');
      const removed = await troupe(["rules", "rm", rule], { home });
      expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`removed ${rule}: allow shell`) });

      const third = await begin();
      const [asked] = await questionsOf(daemon(), third, 1);
      const denied = await troupe(["approvals", "deny", asked?.id ?? "", "--always", "--any-arguments"], { home });
      expect(denied.stdout).toMatch(/^denied shell of main; rule \S+ was stored\n$/);
      const fourth = await begin();
      for (const session of [third, fourth]) {
        expect(await responseOf(daemon(), session)).toMatchObject({ status: "completed", details: /denied by/ });
      }
      expect(await readFile(path.join(workspace, "log.txt"), "utf8")).toBe("again\nagain\n");
      expect((await daemon().client.session(fourth)).approvals).toEqual([]);
    },
  );
});

onlyWithoutWorker(describe.concurrent)("of several answers", () => {
  it("the first answer counts, also in a race of an allowance and a denial", async ({ expect }) => {
    const { home, client } = daemon();
    const scenario = await scenarioIn(
      home,
      { main: [{ steps: [{ calls: [shell("echo 1")] }, { text: "{{result.0.summary}}" }] }] },
      "race",
    );
    const { session } = await client.submit({ task: "ask", scenario, origin: "api" });
    const [question] = await questionsOf(daemon(), session, 1);
    const id = question?.id ?? "";
    const byCommand = [true, false].map(async (approved) => {
      const { stdout } = await troupe(["approvals", approved ? "approve" : "deny", id, "--json"], { home });
      return ApprovalOutcome.parse(JSON.parse(stdout));
    });
    const byClient = Array.from({ length: 6 }, (_, i) =>
      client.answer(id, { approved: i % 2 === 0, by: `person ${i}` }),
    );
    const outcomes = await Promise.all([...byCommand, ...byClient]);
    expect(outcomes.filter(({ outcome }) => outcome === "answered")).toHaveLength(1);
    const states = new Set(outcomes.map(({ approval }) => `${approval.state} by ${approval.by}`));
    expect(states.size).toBe(1);
    const [state = ""] = states;

    const response = await responseOf(daemon(), session);
    expect(response.details).toMatch(state.startsWith("approved") ? /^exit code 0$/ : /^denied by /);
    const later = await troupe(["approvals", "deny", id], { home });
    expect(later).toMatchObject({ code: 0, stdout: expect.stringMatching(/ already; nothing changed\n$/) });
    expect(later.stdout).toContain(`was ${state} already`);
    const answers = (await daemon().journal.inbox(session)).filter(({ kind }) => kind === "approval.answered");
    expect(answers).toHaveLength(1);
    expect(await responseOf(daemon(), session)).toEqual(response);
  });
});

onlyWithoutWorker(describe.concurrent)("the time of a wait for a person", () => {
  it("the wait for a person counts neither for the run nor for its parent", async ({ expect }) => {
    const { home, client } = daemon();
    const scenario = await scenarioIn(
      home,
      {
        main: [{ steps: [{ calls: [delegate("coder", "help")] }, { text: "{{result.0.summary}}" }] }],
        coder: [{ steps: [{ calls: [shell("echo 1")] }, { text: "in time" }] }],
      },
      "patient",
    );
    const run = startInProcess(["run", "x", "--timeout", "20000", "--json", "--scenario", scenario], { home });
    const [, session = ""] = await run.waitForOutput(/session (\S+)/);
    const [question] = await questionsOf(daemon(), session, 1);
    // Longer than the run's time limit, because the test is about time.
    await delay(20_500);
    await client.answer(question?.id ?? "", { approved: true });
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    const response = RunResponse.parse(JSON.parse(stdout));
    expect(response).toMatchObject({ status: "completed", details: "in time" });
    expect(response.metrics.waitedMs).toBeGreaterThanOrEqual(20_500);
    expect(response.metrics.durationMs - response.metrics.waitedMs).toBeLessThan(20_000);
  });
});

onlyWithoutWorker(describe.concurrent)("without a user to ask", () => {
  it("--no-input ends with 8 and names the open questions; after an answer without a daemon the next daemon continues", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("no-input", test);
    await writePolicy(home, askBeforeShell);
    const ledger = ledgerOf(home);
    const scenario = await writeScenario(home, asking);
    const options = { home, env: ledger.env };
    const left = await troupe(["run", "x", "--no-input", "--json", "--scenario", scenario], options);
    expect(left.code).toBe(8);
    const waiting = z
      .strictObject({ status: z.literal("waiting"), session: z.uuid(), approvals: z.array(ApprovalRow) })
      .parse(JSON.parse(left.stdout));
    expect(waiting.approvals.map((row) => `${row.path.join(" › ")}: ${commandOf(row)}`).sort()).toEqual([
      "main › coder: echo coder > coder.txt",
      "main: echo main > main.txt",
    ]);
    expect((await ledger.calls()).filter(({ kind }) => kind === "tool")).toEqual([]);
    expect((await troupe(["sessions", "ls"], { home })).stdout).toMatch(/\? waiting for approval +main/);

    for (const { id } of waiting.approvals) {
      const answer = await troupe(["approvals", "approve", id], options);
      expect(answer.code).toBe(0);
      expect(answer.stderr).toContain("takes effect with the next: troupe up");
    }
    const before = await ledger.calls();
    expect(before.map(({ kind }) => kind)).toEqual(["model", "model"]);
    const next = await startDaemonInProcess({ home, test, env: ledger.env });
    expect(await responseOf(next, waiting.session)).toMatchObject({ status: "completed", details: completedAs });
    expect(repeatedKeys((await ledger.calls()).map(({ key }) => key))).toEqual([]);
    expect(await ledger.calls()).toHaveLength(6);
    const folder = path.join(home, "workspaces", waiting.session);
    expect((await readdir(folder)).sort()).toEqual(["coder.txt", "main.txt"]);
  });

  it("a run prints on stderr how to answer, and continues after an answer", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("told", test);
    await writePolicy(home, askBeforeShell);
    const scenario = await writeScenario(home, asking);
    const run = startInProcess(["run", "x", "--scenario", scenario], { home });
    const commands = await Promise.all([
      run.waitForOutput(/main asks to run shell \(medium risk\): troupe (approvals approve \S+) #/),
      run.waitForOutput(/main › coder asks to run shell \(medium risk\): troupe (approvals approve \S+) #/),
    ]);
    const answers = await Promise.all(commands.map(([, words = ""]) => troupe(words.split(" "), { home })));
    expect(answers.map(({ stdout }) => stdout)).toEqual([
      "approved shell of main\n",
      "approved shell of main › coder\n",
    ]);
    expect(await run.ended).toMatchObject({ code: 0, stdout: `${completedAs}\n` });
  });
});

onlyWithoutWorker(describe.concurrent)("a daemon killed with kill -9 during questions", () => {
  it.for([
    { when: "no other run is active", busy: 0 },
    { when: "another agent is in the middle of a model call", busy: 600_000 },
  ])(
    "when $when: the question is asked again, nothing is repeated, and an answer finishes it",
    async ({ busy }, { expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("killed", test);
      await writePolicy(home, askBeforeShell);
      const ledger = ledgerOf(home);
      // Only the first daemon is kept busy: its scenario is read anew by the next.
      const agents = (latencyMs: number) => ({
        ...asking,
        main: [
          {
            steps: [
              { calls: [shell("echo main > main.txt"), delegate("coder", "help"), delegate("researcher", "look")] },
              { text: "{{result.0.summary}}; the coder says: {{result.1.summary}}" },
            ],
          },
        ],
        researcher: [{ steps: [{ text: "looked", latencyMs }] }],
      });
      const scenario = await writeScenario(home, agents(busy));
      const first = await startDaemon({ home, test, env: ledger.env });
      const { session } = await first.client.submit({ task: "x", scenario, origin: "api" });
      const asked = await questionsOf(first, session, 2);
      await runsWhere(first, session, (runs) =>
        statusLines(runs).includes(busy ? "researcher running" : "researcher completed"),
      );
      await first.kill();
      const before = await ledger.calls();

      await writeScenario(home, agents(0));
      const second = await startDaemonInProcess({ home, test, env: ledger.env });
      const after = await runsWhere(second, session, (runs) => statusLines(runs).includes("researcher completed"));
      expect(statusLines(after).slice(0, 2)).toEqual(["main waiting", "coder waiting"]);
      expect(await questionsOf(second, session, 2)).toEqual(asked);
      const begun = (await ledger.calls()).slice(before.length);
      // The call that was under way is lost, and made again: it never had an outcome.
      expect(begun.map(({ kind }) => kind)).toEqual(busy ? ["model"] : []);
      for (const { id } of asked) expect((await second.client.answer(id, { approved: true })).outcome).toBe("answered");
      expect(await responseOf(second, session)).toMatchObject({ status: "completed", details: completedAs });
      const keys = (await ledger.calls()).map(({ key }) => key);
      const lost = begun.map(({ key }) => key);
      expect(repeatedKeys(keys)).toEqual(lost);
      await second.stop();
      const entries = [...readJournalFile(path.join(home, "journal.db")).values()].flat().map(({ entry }) => entry);
      expect(entries.filter(({ kind }) => kind === "approval.requested")).toHaveLength(2);
    },
  );
});
