/** Several tasks in one call: their order, when they count as done, who queues, who is asked instead, and a thousand. */
import { readdir } from "node:fs/promises";
import { RunResponse } from "@troupe/core";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { writeAgent } from "../harness/home-files.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { isLong } from "../harness/long.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { atGate, gate, openGate } from "../harness/scripted-calls.ts";
import { responseOf, runsWhere } from "../harness/session-queries.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { isWithWorker } from "../harness/test-hosts.ts";

const many = isLong ? 1_000 : isWithWorker() ? 100 : 300;

const daemon = useDaemon("batches", async (home) => {
  await writeAgent(home, "pair", { subagents: { allow: ["coder"], max_concurrent: 2 } });
  await writeAgent(home, "crowd", {
    tools: [],
    subagents: { allow: ["hand"], max_concurrent: 50 },
    // To name a thousand tasks takes more words than an answer may have otherwise.
    troupe: { limits: { maxChildren: many, maxOutputTokens: 30_000 } },
  });
  await writeAgent(home, "hand", { tools: [] });
});

interface Task {
  name?: string;
  agent?: string;
  task: string;
  after?: string[];
  retry?: object;
  context?: string;
}

/** One step that delegates all tasks, and one that answers with the result. */
const asking = (tasks: Task[], more: object = {}, answer = "{{result.0.output}}") => [
  {
    steps: [
      {
        calls: [
          {
            tool: "delegate",
            args: JSON.parse(JSON.stringify({ tasks: tasks.map((task) => ({ agent: "coder", ...task })), ...more })),
          },
        ],
      },
      { text: answer },
    ],
  },
];

const never = { steps: [{ text: "never said", latencyMs: 600_000 }] };
const failing = { steps: [{ text: "x", error: { type: "auth" as const, message: "no way in" } }] };

const statuses = (results: { name: string; status: string }[]) =>
  results.map(({ name, status }) => `${name} ${status}`);

describe.concurrent("a batch", () => {
  it("keeps the order of its dependencies, passes their results on, and answers in the order of the tasks", async ({
    expect,
  }) => {
    const { home, client } = daemon();
    const tasks = [
      { name: "join", task: "join", after: ["left", "right"] },
      { name: "left", task: "left", after: ["begin"] },
      { name: "right", task: "right", after: ["begin"] },
      { name: "begin", task: "begin" },
    ];
    const scenario = await writeScenario(
      home,
      {
        main: asking(tasks),
        coder: [
          { when: { task: "left" }, steps: [{ calls: [gate("left")] }, { text: "left done" }] },
          { when: { task: "right" }, steps: [{ calls: [gate("right")] }, { text: "right done" }] },
          { steps: [{ text: "{{task}} done" }] },
        ],
      },
      "graph",
    );
    const { session, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    // Both at once, and the last waits for both.
    for (const name of ["left", "right"]) await atGate(workspace, name);
    await openGate(workspace, "right");
    const stood = await runsWhere(daemon(), session, (rows) =>
      rows.some(({ task, exactStatus }) => task === "right" && exactStatus === "completed"),
    );
    expect(stood.find(({ task }) => task === "join")?.exactStatus).toBe("queued");
    await openGate(workspace, "left");
    const { policy, outcome, succeeded, failed, results } = JSON.parse((await responseOf(daemon(), session)).details);
    expect({ policy, outcome, succeeded, failed }).toEqual({
      policy: "continue",
      outcome: "completed",
      succeeded: 4,
      failed: 0,
    });
    expect(results.map(({ name, summary }: Record<string, string>) => [name, summary])).toEqual([
      ["join", "join done"],
      ["left", "left done"],
      ["right", "right done"],
      ["begin", "begin done"],
    ]);
    const join = (await client.session(session)).runs.find(({ task }) => task === "join");
    const [opened] = (await client.entries(join?.run ?? "")).entries;
    if (opened?.kind !== "run.opened") throw new Error("the run did not open");
    expect(opened.request.context).toMatch(
      /Result of the task left:\n.*left done.*\n\nResult of the task right:\n.*right done/,
    );
  });

  it.for([
    {
      policy: "any",
      what: "the first success stops the rest",
      outcome: "completed",
      ends: ["bad failed", "good completed", "slow cancelled", "late cancelled"],
    },
    {
      policy: "all",
      what: "a failure prevents the start of queued tasks",
      outcome: "failed",
      ends: ["bad failed", "good completed", "slow completed", "late cancelled"],
    },
    {
      policy: "continue",
      what: "only the tasks that depend on a failed one do not start",
      outcome: "completed",
      ends: ["bad failed", "good completed", "slow completed", "late rejected"],
    },
    {
      policy: "quorum 2",
      what: "two successes stop the rest",
      outcome: "completed",
      ends: ["bad failed", "good completed", "slow completed", "late cancelled"],
    },
  ])("under the policy $policy: $what", async ({ policy, outcome, ends }, { expect }) => {
    const { home, client, ledger } = daemon();
    const tasks = [
      { name: "bad", task: "bad" },
      { name: "good", task: "good" },
      { name: "slow", task: "slow" },
      // Its predecessor ends last, so that it has not begun when the others settle.
      { name: "late", task: "late", after: policy === "continue" ? ["bad"] : ["slow"] },
    ];
    const scenario = await writeScenario(
      home,
      {
        main: asking(tasks, { policy }),
        coder: [
          { when: { task: "bad" }, ...failing },
          { when: { task: "good" }, steps: [{ calls: [gate("good")] }, { text: "done" }] },
          { when: { task: "late" }, steps: [{ text: "late" }] },
          policy === "any"
            ? { when: { task: "slow" }, ...never }
            : { when: { task: "slow" }, steps: [{ calls: [gate("slow")] }, { text: "done" }] },
        ],
      },
      policy.replace(" ", "-"),
    );
    const { session, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    const ended = (count: number) =>
      runsWhere(daemon(), session, (rows) => rows.filter(({ completedAt }) => completedAt !== null).length >= count);
    await ended(1);
    await openGate(workspace, "good");
    if (policy !== "any") {
      await atGate(workspace, "slow");
      await ended(2);
      await openGate(workspace, "slow");
    }
    const result = JSON.parse((await responseOf(daemon(), session)).details);
    expect(result).toMatchObject({ policy, outcome });
    expect(statuses(result.results)).toEqual(ends);
    const late = (await client.session(session)).runs.find(({ task }) => task === "late")?.run ?? "";
    expect(await ledger.calls([late])).toEqual([]);
  });

  it("that streams returns the first result, and the model stops the tasks that it no longer needs", async ({
    expect,
  }) => {
    const { home, client } = daemon();
    const tasks = ["quick", "later", "never"].map((name) => ({ agent: "coder", name, task: name }));
    const scenario = await writeScenario(
      home,
      {
        main: [
          {
            steps: [
              { calls: [{ tool: "delegate", args: { tasks, mode: "parallel_streaming" } }] },
              { text: "{{result.0.output}}", calls: [{ tool: "delegate", args: { cancel: "1.0.2" } }] },
              { text: "waiting for the other" },
              { text: "enough" },
            ],
          },
        ],
        coder: [
          { when: { task: "quick" }, steps: [{ text: "quick done" }] },
          { when: { task: "later" }, steps: [{ calls: [gate("later")] }, { text: "later done" }] },
          { when: { task: "never" }, ...never },
        ],
      },
      "streaming",
    );
    const { session, run, workspace } = await client.submit({ task: "work", scenario, origin: "api" });
    await atGate(workspace, "later");
    // The model has had the first result, and has told the third to stop, while the second is still at work.
    await runsWhere(daemon(), session, (rows) =>
      rows.some(({ task, exactStatus }) => task === "never" && exactStatus === "cancelled"),
    );
    await openGate(workspace, "later");
    expect(await responseOf(daemon(), session)).toMatchObject({ status: "completed", details: "enough" });
    const { entries } = await client.entries(run);
    const replies = entries.flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.text] : []));
    const first = JSON.parse(replies[1] ?? "");
    expect(first.first).toMatchObject({ name: "quick", status: "completed", summary: "quick done" });
    expect(first.running).toEqual([
      { handle: "1.0.1", name: "later", agent: "coder" },
      { handle: "1.0.2", name: "never", agent: "coder" },
    ]);
    const { runs } = await client.session(session);
    expect(runs.map(({ task, exactStatus }) => `${task} ${exactStatus}`).sort()).toEqual([
      "later completed",
      "never cancelled",
      "quick completed",
      "work completed",
    ]);
  });

  it("wider than its slots queues, and the tree shows each position", async ({ expect }) => {
    const { home, client } = daemon();
    const names = ["one", "two", "three", "four", "five"];
    const scenario = await writeScenario(
      home,
      {
        pair: asking(names.map((name) => ({ name, task: name }))),
        coder: names.map((name) => ({ when: { task: name }, steps: [{ calls: [gate(name)] }, { text: "done" }] })),
      },
      "queue",
    );
    const { session, workspace } = await client.submit({ task: "work", agent: "pair", scenario, origin: "api" });
    const tree = async () => {
      const { stdout } = await troupe(["sessions", "show", session, "--tree"], { home });
      return stdout
        .split("\n")
        .flatMap((line) => /─ . coder +(running|queued \d|completed) +(\w+)/.exec(line)?.slice(1).join(" ") ?? []);
    };
    // The record follows the journal, and the command shows the record.
    const recorded = (wanted: Record<string, string>) =>
      runsWhere(daemon(), session, (rows) =>
        Object.entries(wanted).every(([name, status]) =>
          rows.some(({ task, exactStatus }) => task === name && exactStatus === status),
        ),
      );
    for (const name of ["one", "two"]) await atGate(workspace, name);
    await recorded({ one: "running", two: "running", three: "queued", four: "queued", five: "queued" });
    expect(await tree()).toEqual(["running one", "running two", "queued 1 three", "queued 2 four", "queued 3 five"]);
    await openGate(workspace, "two");
    await atGate(workspace, "three");
    // No more than two have ever been at work.
    expect((await readdir(workspace)).filter((name) => name.endsWith(".there")).sort()).toEqual(
      ["one", "three", "two"].map((name) => `${name}.there`),
    );
    await recorded({ two: "completed", three: "running" });
    expect(await tree()).toEqual(["running one", "completed two", "running three", "queued 1 four", "queued 2 five"]);
    for (const name of names) await openGate(workspace, name);
    expect(statuses(JSON.parse((await responseOf(daemon(), session)).details).results)).toEqual(
      names.map((name) => `${name} completed`),
    );
  });

  it("retries a failed task, and then uses the alternative", async ({ expect }) => {
    const { home, client } = daemon();
    const retry = { max_attempts: 2, backoff_ms: 1, alternative: "tester" };
    const lost = {
      steps: [{ text: "x", error: { type: "network" as const, message: "lost", recoverable: true, tries: 5 } }],
    };
    const scenario = await writeScenario(
      home,
      {
        main: asking([
          { name: "hard", task: "hard", retry },
          { name: "easy", task: "easy" },
        ]),
        coder: [{ when: { task: "hard" }, ...lost }, { steps: [{ text: "easily done" }] }],
        tester: [{ steps: [{ text: "done by another, at attempt {{attempt}}" }] }],
      },
      "alternative",
    );
    const { session } = await client.submit({ task: "work", scenario, origin: "api" });
    const { results } = JSON.parse((await responseOf(daemon(), session)).details);
    expect(results).toMatchObject([
      { name: "hard", agent: "tester", status: "completed", summary: "done by another, at attempt 3" },
      { name: "easy", agent: "coder", status: "completed", summary: "easily done" },
    ]);
    const { runs } = await client.session(session);
    const hard = runs.filter(({ task }) => task === "hard");
    expect(hard.map(({ agent, attempt, exactStatus }) => `${agent} ${attempt} ${exactStatus}`)).toEqual([
      "coder 1 failed",
      "coder 2 failed",
      "tester 3 completed",
    ]);
  });

  it(`of ${many} agents completes, each of them once`, async ({ expect }) => {
    const { home, client, ledger } = daemon();
    const tasks = Array.from({ length: many }, (_, i) => ({ agent: "hand", task: `part ${i}` }));
    const scenario = await writeScenario(
      home,
      { crowd: asking(tasks, {}, "all heard"), hand: [{ steps: [{ text: "{{task}} done" }] }] },
      "crowd",
    );
    const command = ["run", "work", "--agent", "crowd", "--scenario", scenario, "--max-runs", String(many), "--json"];
    const { code, stdout } = await troupe(command, { home });
    expect(code).toBe(0);
    const response = RunResponse.parse(JSON.parse(stdout));
    expect(response.metrics.subtree.runs).toBe(many + 1);
    expect(response.details).toBe("all heard");
    const { runs } = await client.session(response.sessionId);
    expect(runs).toHaveLength(many + 1);
    expect(runs.slice(1).map(({ summary }) => summary)).toEqual(tasks.map(({ task }) => `${task} done`));
    expect(runs.every(({ status }) => status === "completed")).toBe(true);
    const calls = await ledger.calls(runs.map(({ run }) => run));
    expect(calls).toHaveLength(many + 2);
    expect(repeatedKeys(calls.map(({ key }) => key))).toEqual([]);
  });
});
