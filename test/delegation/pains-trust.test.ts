/**
 * Known pains of other agent runtimes that must not occur here: claims, permissions and approvals. The numbers are
 * those of the project's list of pains.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ApprovalAnswer, type ApprovalRow } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { askedOf, openedIn, responseIn, settledIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, toolResultsIn } from "./scripted-agents.ts";
import { type Session, type Team, teamSizes, withTeam } from "./team.ts";

const yes = ApprovalAnswer.parse({ approved: true });
const no = ApprovalAnswer.parse({ approved: false, reason: "not on a Friday" });

/** Waits for a number of open approvals. Returns them by their deploy target. */
async function questionsOf(team: Team, { session }: Session, count: number): Promise<Map<unknown, ApprovalRow>> {
  const waiting = ({ state }: ApprovalRow): boolean => state === "waiting";
  const { approvals } = await team.rowsOnce(session, (rows) => rows.approvals.filter(waiting).length === count);
  return new Map(approvals.filter(waiting).map((row) => [(row.args as { to: string }).to, row]));
}

/** main asks helper for each task in one turn, then says that it is done. */
function asking(tasks: readonly string[], helper: Answer): Answer {
  return (question, signal) => {
    const { agent, step } = question.origin;
    if (agent !== "main") return helper(question, signal);
    return step === 1 ? calling(...tasks.map((task) => delegate("helper", task))) : "done";
  };
}

/** Deploys to the target in its task, then reports the result. */
const deploying: Answer = (question) =>
  question.origin.step === 1
    ? calling(call("deploy", { to: question.origin.task }))
    : (toolResultsIn(question)[0]?.text ?? "nothing");

const withHelper = (helper: object = {}) => [
  { id: "main", subagents: { allow: ["helper"] } },
  { id: "helper", retry: { maxAttempts: 1 }, ...helper },
];

describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it.each([
    [
      "a refusal of its model",
      { text: "status: completed, success: true", stopReason: "refusal" as const },
      {},
      "failed",
    ],
    ["a cap", { text: "status: completed", calls: [call("echo")] }, { limits: { maxIterations: 1 } }, "bailed_out"],
    [
      "a check that fails",
      "status: completed",
      { verifiers: [{ name: "files-exist", params: { paths: ["report.html"] } }] },
      "failed",
    ],
    ["an answer without the schema", '"status: completed"', { outputSchema: { type: "object" } }, "failed"],
  ])("pain 11: %s is a failure, whatever its text claims", async (_, text, helper, status) => {
    await withTeam({ ...size, agents: withHelper(helper), answer: asking(["report"], () => text) }, async (team) => {
      const session = await team.begin("go");
      await session.response;
      const [settled] = settledIn(await team.entries(session));
      expect(settled).toMatchObject({ status, success: false });
      const [told] = askedOf(team, "main").flatMap(toolResultsIn);
      expect(told?.isError).toBe(true);
      expect(JSON.parse(told?.text ?? "")).toMatchObject({ status });
    });
  });

  it("pain 12: a report without a tool call shows that no tool was called", async () => {
    const fiction = "I read 14 files, changed notes.md, and ran the tests: 31 of 31 passed.";
    const verifiers = [{ name: "files-exist", params: { paths: ["notes.md"] } }];
    for (const [helper, status] of [
      [{}, "completed"],
      [{ verifiers }, "failed"],
    ] as const) {
      await withTeam(
        { ...size, agents: withHelper(helper), answer: asking(["report"], () => fiction) },
        async (team) => {
          const session = await team.begin("go");
          const response = await session.response;
          const [settled] = settledIn(await team.entries(session));
          expect(settled).toMatchObject({ status, toolsUsed: [], filesModified: [], testsRun: 0, testsPassed: 0 });
          expect(settled?.metrics.toolCalls).toBe(0);
          expect(response).toMatchObject({ filesModified: [], testsRun: 0, toolsUsed: ["delegate"] });
        },
      );
    }
  });

  it("pain 14: a child has no tool that an ancestor lacks, and troupe explain names the layer that denied it", async () => {
    const agents = [
      { id: "main", tools: ["read", "write", "echo"], subagents: { allow: ["lead"] } },
      { id: "lead", tools: ["read", "echo", "deploy"], subagents: { allow: ["helper"] } },
      { id: "helper", tools: null },
    ];
    const answer: Answer = ({ origin }) => {
      if (origin.step > 1) return "done";
      if (origin.agent === "main") return calling(delegate("lead", "a"));
      if (origin.agent === "lead") return calling(delegate("helper", "b"));
      return calling(
        call("write", { path: "a.md", content: "x" }),
        call("deploy", { to: "prod" }),
        call("read", { path: "a.md" }),
      );
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go", { grant: { denyTools: ["read"] } });
      expect(await session.response).toMatchObject({ status: "completed", filesCreated: [], filesModified: [] });
      const tree = await team.tree(session);
      const granted = tree
        .map((entries) => openedIn(entries))
        .map(({ request, pin }) => [request.agent, pin.grant.tools]);
      expect(granted).toEqual([
        ["main", ["write", "echo"]],
        ["lead", ["echo"]],
        ["helper", ["echo"]],
      ]);
      const told = askedOf(team, "helper").flatMap(toolResultsIn);
      expect(told.map(({ isError }) => isError)).toEqual([true, true, true]);
      const [, , helper = []] = tree;
      await team.rows(session.session);
      const { verdicts } = await team.service.explain(openedIn(helper).request.run);
      const removedBy = Object.fromEntries(verdicts.map(({ name, removedBy: by }) => [name, by]));
      expect(removedBy).toMatchObject({ read: "session", deploy: "main", write: "lead", echo: null });
    });
  });

  it("pain 14: a call that a person has allowed is not questioned again", async () => {
    const deployTwice: Answer = ({ origin }) =>
      origin.step <= 2 ? calling(call("deploy", { to: `${origin.task} ${origin.step}` })) : "deployed";
    await withTeam({ ...size, agents: withHelper(), answer: asking(["west", "east"], deployTwice) }, async (team) => {
      const session = await team.begin("go");
      const first = await questionsOf(team, session, 2);
      await team.service.answer(first.get("west 1")?.id ?? "", { ...yes, scope: "run" });
      // For the rest of that run: of its sibling only the second question is left.
      await team.service.answer(first.get("east 1")?.id ?? "", yes);
      const second = await team.rowsOnce(session.session, ({ approvals }) => approvals.length === 3);
      expect(second.approvals.map(({ args }) => args)).not.toContainEqual({ to: "west 2" });
      const last = await questionsOf(team, session, 1);
      const always = { ...yes, scope: "rule" as const, anyArguments: true };
      await team.service.answer(last.get("east 2")?.id ?? "", always);
      expect(await session.response).toMatchObject({ status: "completed" });
      // A stored rule belongs to the machine that received the answer; another machine asks again.
      if (size.processes === 2) return;
      // For good: the next session in the same folder is not asked at all.
      const next = await team.begin("again", { workspace: session.workspace });
      expect(await next.response).toMatchObject({ status: "completed" });
      expect((await team.rows(next.session)).approvals).toEqual([]);
    });
  });

  it("pain 15: an approval that a child requests is answered to that child, which continues in the same state", async () => {
    await withTeam({ ...size, agents: withHelper(), answer: asking(["prod"], deploying) }, async (team) => {
      const session = await team.begin("go");
      const question = (await questionsOf(team, session, 1)).get("prod");
      expect(question).toMatchObject({
        agent: "helper",
        path: ["main", "helper"],
        tool: "deploy",
        args: { to: "prod" },
      });
      await team.restart();
      expect((await team.rows(session.session)).approvals).toMatchObject([{ id: question?.id, state: "waiting" }]);
      expect(await team.service.answer(question?.id ?? "", yes)).toMatchObject({ outcome: "answered" });
      expect(await session.response).toMatchObject({ status: "completed", toolsUsed: ["delegate"] });
      const [settled] = settledIn(await team.entries(session));
      expect(settled).toMatchObject({ status: "completed", details: "deployed to prod", toolsUsed: ["deploy"] });
      expect(askedOf(team, "helper").map(({ origin }) => origin.step)).toEqual([1, 2]);
      expect(await team.service.answer(question?.id ?? "", no)).toMatchObject({ outcome: "settled" });
    });
  });

  it("pain 16: several children wait for a person at once, and each continues with its own answer", async () => {
    const tasks = ["north", "south", "west"];
    const answer = asking(tasks, deploying);
    await withTeam({ ...size, agents: withHelper(), answer }, async (team) => {
      const session = await team.begin("go");
      const questions = await questionsOf(team, session, 3);
      await team.service.answer(questions.get("west")?.id ?? "", yes);
      await team.entriesOnce(session, (entries) => settledIn(entries).length === 1);
      await team.restart();
      await Promise.all([
        team.service.answer(questions.get("south")?.id ?? "", no),
        team.service.answer(questions.get("north")?.id ?? "", yes),
      ]);
      expect(await session.response).toMatchObject({ status: "completed" });
      const told = askedOf(team, "main")
        .flatMap(toolResultsIn)
        .map(({ text }) => JSON.parse(text).summary);
      expect(told).toEqual(["deployed to north", expect.stringContaining("not on a Friday"), "deployed to west"]);
      const asked = askedOf(team, "helper").map(({ origin }) => `${origin.task} ${origin.step}`);
      expect(asked.sort()).toEqual(tasks.flatMap((task) => [`${task} 1`, `${task} 2`]));
    });
  });

  it("pain 21: a model gets the list of agents, and gets it again when it names an unknown one", async () => {
    const agents = [
      { id: "main", subagents: { allow: ["helper", "lead"], deny: ["lead"] } },
      { id: "helper" },
      { id: "lead" },
    ];
    const answer: Answer = ({ origin }) =>
      origin.step === 1 ? calling(call("Task", { subagent_type: "Helper", prompt: "go" })) : "done";
    await withTeam({ ...size, agents, answer }, async (team) => {
      expect(await team.ask("go")).toMatchObject({ status: "completed", metrics: { subtree: { runs: 1 } } });
      const spec = team.questions[0]?.tools.find(({ name }) => name === "delegate");
      expect(spec?.inputSchema).toMatchObject({ properties: { agent: { enum: ["helper"] } } });
      const [told] = askedOf(team, "main").flatMap(toolResultsIn);
      expect(JSON.parse(told?.text ?? "").error.message).toBe('you cannot delegate to "Helper"; you can to: helper');
    });
  });

  it("pain 21: two agents cannot delegate a task to each other forever", async () => {
    const agents = [
      { id: "main", subagents: { allow: ["lead"] } },
      { id: "lead", subagents: { allow: ["main"] } },
    ];
    const answer: Answer = ({ origin }) => calling(delegate(origin.agent === "main" ? "lead" : "main", "you do it"));
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("go");
      expect(await session.response).toMatchObject({ status: "bailed_out", bailoutReason: "repeated_calls" });
      const tree = await team.tree(session);
      expect(tree).toHaveLength(3);
      for (const entries of tree.slice(1)) {
        expect(responseIn(entries)).toMatchObject({ status: "bailed_out", bailoutReason: "repeated_calls" });
      }
      const told = askedOf(team, "lead").flatMap(toolResultsIn);
      expect(told[0]?.text).toContain("main → lead → main is a cycle");
    });
  });

  it("pain 25: of children that write one file at once, none overwrites changes that it has not read", async () => {
    const letters = ["a", "b", "c", "d", "e", "f"];
    const content = (letter: string): string => letter.repeat(200_000);
    const answer = asking(letters, ({ origin }) =>
      origin.step > 2
        ? "tried"
        : origin.step === 1
          ? calling(call("read", { path: "shared.txt" }, "1"))
          : calling(call("write", { path: "shared.txt", content: content(origin.task) }, "2")),
    );
    await withTeam({ ...size, agents: withHelper(), answer }, async (team) => {
      const session = await team.begin("go");
      await writeFile(path.join(session.workspace, "shared.txt"), "before");
      const response = await session.response;
      expect(response).toMatchObject({ status: "completed", toolsUsed: ["delegate"] });
      const written = await readFile(path.join(session.workspace, "shared.txt"), "utf8");
      expect(letters.map(content)).toContain(written);
      // The writers that came too late were refused and wrote nothing.
      const settled = settledIn(await team.entries(session));
      const writers = settled.filter(({ filesModified }) => filesModified.includes("shared.txt"));
      expect(settled).toHaveLength(letters.length);
      expect(writers.map(({ request }) => content(request))).toContain(written);
    });
  });

  it("pain 25: a result has the schema of its agent's file, or the run fails", async () => {
    const outputSchema = {
      type: "object",
      properties: { verdict: { enum: ["keep", "drop"] } },
      required: ["verdict"],
      additionalProperties: false,
    };
    const replies: Record<string, readonly string[]> = {
      sound: ['{"verdict":"keep"}'],
      mended: ["I would keep it.", '{"verdict":"keep"}'],
      hopeless: ["keep", "keep it", '{"verdict":"perhaps"}'],
    };
    const answer = asking(Object.keys(replies), ({ origin }) => replies[origin.task]?.[origin.step - 1] ?? "keep");
    await withTeam({ ...size, agents: withHelper({ outputSchema }), answer }, async (team) => {
      const session = await team.begin("go");
      await session.response;
      const settled = settledIn(await team.entries(session));
      const of = (task: string) => settled.find(({ request }) => request === task);
      expect(of("sound")).toMatchObject({ status: "completed", data: { verdict: "keep" } });
      expect(of("mended")).toMatchObject({
        status: "completed",
        data: { verdict: "keep" },
        metrics: { iterations: 2 },
      });
      expect(of("hopeless")).toMatchObject({ status: "failed", error: { type: "verification" } });
    });
  });
});
