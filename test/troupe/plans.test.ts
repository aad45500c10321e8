/** Plans of a program: made by the planner, executed step by step, continued after a failure. */
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSessionFeed } from "@troupe/recorder";
import { createTroupe, type ExecutionPlan, type Troupe, type TroupeOptions } from "troupe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import type { Agents } from "../harness/scenario-file.ts";
import { writeScenario } from "../harness/scenario-file.ts";

const roles = ["planner", "researcher", "coder", "tester", "reviewer"];
const agents = [
  { id: "main", description: "Leads.", prompt: "You lead.", subagents: { allow: roles } },
  ...roles.map((id) => ({ id, description: `Is the ${id}.`, prompt: `You are the ${id}.`, tools: ["read", "write"] })),
];

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "troupe-plans-")));
  await writeFile(join(folder, "auth.ts"), "basic authentication");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A troupe whose models answer by a script. Its home outlives it. */
async function open(script: Agents): Promise<Troupe> {
  const file = await writeScenario(folder, { main: [{ steps: [{ text: "not asked" }] }], ...script });
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: join(folder, "home") };
  const options: TroupeOptions = { agents, workspace: folder, env, model: `scripted/${file}` };
  return await createTroupe(options);
}

const says = (text: string) => ({ steps: [{ text }] });
const approves = says('{"approved":true,"findings":[]}');
const reads = (text: string) => ({ steps: [{ calls: [{ tool: "read", args: { path: "auth.ts" } }] }, { text }] });
const step = (id: string, agent: string, more: Partial<ExecutionPlan["steps"][number]> = {}) => ({
  ...{ id, agent, title: `The step ${id}`, task: `carry out ${id}`, after: [] as string[], review: false },
  ...{ successCriteria: null, limits: {}, status: "pending" as const, ...more },
});
const planOf = (...steps: ExecutionPlan["steps"]): ExecutionPlan => ({
  id: "0198a000-0000-7000-8000-00000000aaaa",
  ...{ goal: "Add tokens", reviewer: null, budget: {}, steps },
});

/** The agents of the runs that a session has started below its root. */
async function agentsOf(troupe: Troupe, session: string): Promise<string[]> {
  const detail = await troupe.sessions.get(session);
  const runs = (detail?.runs ?? []).filter(({ parentRun, host }) => parentRun !== null && host !== null);
  return runs.toSorted((a, b) => a.order - b.order).map(({ agent }) => agent);
}

const journalFile = (): string => join(folder, "home", "journal.db");

/** The requests of all runs of an agent, in every session of the home. */
function requestsOf(agent: string) {
  return [...readJournalFile(journalFile()).values()].flatMap(([first]) => {
    const entry = first?.entry;
    return entry?.kind === "run.opened" && entry.request.agent === agent ? [entry.request] : [];
  });
}

async function taskOf(troupe: Troupe, session: string, agent: string): Promise<string[]> {
  const detail = await troupe.sessions.get(session);
  return (detail?.runs ?? []).filter((run) => run.agent === agent).map(({ task }) => task);
}

const drafted = (id: string, agent: string, after: string[] = []) => ({
  ...{ id, agent, after, title: id, task: `carry out ${id}`, successCriteria: "it is done", review: false },
});

describe("a plan for a goal", () => {
  const draft = (steps: object[]) => JSON.stringify({ steps });

  test("comes from the planner, which reads why a plan cannot be executed and tries again", async () => {
    const wrong = draft([drafted("a", "codr", ["b"]), drafted("b", "coder", ["a"])]);
    const right = draft([drafted("find", "researcher"), drafted("build", "coder", ["find"])]);
    await using troupe = await open({ planner: [{ steps: [{ text: wrong }, { text: right }] }] });
    const plan = await troupe.planForGoal("Add tokens");
    expect(plan).toMatchObject({ goal: "Add tokens", reviewer: null });
    expect(plan.steps).toMatchObject([
      { id: "find", agent: "researcher", after: [], status: "pending" },
      { id: "build", agent: "coder", after: ["find"], successCriteria: "it is done" },
    ]);
    const [session] = await troupe.sessions.list();
    expect(await agentsOf(troupe, session?.session ?? "")).toEqual([]);
    expect(session).toMatchObject({ agent: "planner", task: "Add tokens" });
  });

  test("is refused with the reasons if the planner finds none", async () => {
    const wrong = draft([drafted("a", "codr")]);
    await using troupe = await open({ planner: [{ steps: [{ text: wrong, repeat: true }] }] });
    await expect(troupe.planForGoal("Add tokens")).rejects.toMatchObject({
      code: "RUN_FAILED",
      message: expect.stringContaining('steps.0.agent: there is no agent "codr" that a plan can use'),
    });
  });
});

describe("an execution", () => {
  test("researches, then implements, with a review that leads to a second change", async () => {
    await using troupe = await open({
      researcher: [reads("auth.ts has basic authentication.")],
      coder: [
        { when: { task: "tokens never expire" }, ...says("Added the expiry.") },
        { when: { task: "auth.ts has basic authentication." }, ...reads("Added tokens.") },
      ],
      reviewer: [
        { when: { task: "Added the expiry." }, ...approves },
        says('{"approved":false,"findings":["tokens never expire"]}'),
      ],
    });
    const plan = planOf(
      step("look", "researcher", { review: false }),
      step("build", "coder", { after: ["look"], review: true }),
    );
    // The result of `look` comes with the batch, so `build` needs its words in the task for the script.
    const first = planOf(step("look", "researcher"));
    const looked = await troupe.executePlan(first);
    expect(looked).toMatchObject({ status: "completed", totals: { runs: 1, toolCalls: 1 } });
    const result = await troupe.executePlan(plan);
    expect(result).toMatchObject({
      status: "completed",
      error: null,
      steps: [
        { id: "look", status: "completed", summary: "auth.ts has basic authentication." },
        { id: "build", status: "completed", approved: true, summary: "Added the expiry." },
      ],
      // The research of the first session counts, and is not repeated: 2 tries and 2 reviews here, one call each.
      totals: { runs: 5, toolCalls: 2 },
    });
    expect(result.plan.steps.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(result.steps[1]).toMatchObject({
      runs: [expect.any(String), expect.any(String)],
      reviews: [expect.any(String), expect.any(String)],
    });
    expect(await agentsOf(troupe, result.session)).toEqual(["coder", "reviewer", "coder", "reviewer"]);
  });

  test("researches in parallel, and one step reads all findings", async () => {
    const topics = ["errors", "classes", "logs"];
    await using troupe = await open({
      researcher: topics.map((topic) => ({ when: { task: `carry out ${topic}` }, ...reads(`found ${topic}`) })),
      coder: [{ steps: [{ text: "One report." }] }],
    });
    const result = await troupe.executePlan(
      planOf(...topics.map((id) => step(id, "researcher")), step("report", "coder", { after: topics })),
    );
    expect(result).toMatchObject({ status: "completed", totals: { runs: 4, toolCalls: 3 } });
    expect(await agentsOf(troupe, result.session)).toEqual(["researcher", "researcher", "researcher", "coder"]);
    for (const topic of topics) expect(requestsOf("coder")[0]?.context).toContain(`found ${topic}`);
  });

  test("drives a function by its tests, each step after the one before", async () => {
    const write = (path: string, text: string) => ({
      steps: [{ calls: [{ tool: "write", args: { path, content: text } }] }, { text: `Wrote ${path}.` }],
    });
    await using troupe = await open({
      tester: [
        { when: { task: "carry out tests" }, ...write("discount.test.js", "discount(100, 10) === 90") },
        {
          when: { task: "carry out check" },
          steps: [{ calls: [{ tool: "read", args: { path: "discount.js" } }] }, { text: "5 of 5 pass." }],
        },
      ],
      coder: [write("discount.js", "export const discount = …")],
    });
    const result = await troupe.executePlan(
      planOf(
        step("tests", "tester"),
        step("code", "coder", { after: ["tests"] }),
        step("check", "tester", { after: ["code"] }),
      ),
    );
    expect(result).toMatchObject({
      status: "completed",
      totals: { toolCalls: 3 },
      steps: [{}, {}, { summary: "5 of 5 pass." }],
    });
    expect(await agentsOf(troupe, result.session)).toEqual(["tester", "coder", "tester"]);
    expect(await readFile(join(folder, "discount.js"), "utf8")).toContain("discount");
  });

  test("stops at a failed step, and the next execution repeats only incomplete steps", async () => {
    const steps = [
      step("look", "researcher"),
      step("build", "coder", { after: ["look"] }),
      step("check", "tester", { after: ["build"] }),
    ];
    const researcher = [reads("It is basic.")];
    const failing = { error: { type: "params" as const, message: "the disk is full" } };
    let failed: string;
    {
      await using troupe = await open({ researcher, coder: [{ steps: [failing] }], tester: [says("All pass.")] });
      const result = await troupe.executePlan(planOf(...steps));
      expect(result).toMatchObject({
        status: "failed",
        error: "the step build failed: the disk is full",
        steps: [
          { status: "completed" },
          { status: "failed", error: "the disk is full" },
          { status: "skipped", error: "not started: the plan had failed", usage: { runs: 0 } },
        ],
      });
      expect(await troupe.sessions.response(result.session)).toMatchObject({ status: "failed" });
      expect(await agentsOf(troupe, result.session)).not.toContain("tester");
      failed = result.session;
    }
    await using troupe = await open({ coder: [says("Built.")], tester: [says("All pass.")] });
    const again = await troupe.executePlan(planOf(...steps));
    expect(again).toMatchObject({ status: "completed", totals: { runs: 3, toolCalls: 1 } });
    expect(again.session).not.toBe(failed);
    expect(await agentsOf(troupe, again.session)).toEqual(["coder", "tester"]);
    expect((await taskOf(troupe, again.session, "coder"))[0]).toContain("It is basic.");
    // A completed plan is not executed again.
    const third = await troupe.executePlan(planOf(...steps));
    expect(third).toEqual(again);
    expect(await troupe.sessions.list()).toHaveLength(2);
    const { session } = (await troupe.sessions.list()).at(-1) ?? {};
    expect(session).toBe(failed);
  });

  test("of one step takes earlier results, or names the missing steps", async () => {
    const steps = [step("look", "researcher"), step("build", "coder", { after: ["look"] })];
    await using troupe = await open({ researcher: [says("It is basic.")], coder: [says("Built.")] });
    const plan = planOf(...steps);
    await expect(troupe.executePlan(plan, { step: "build" })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("the step build waits for look"),
    });
    expect(await troupe.sessions.list()).toEqual([]);
    expect(await troupe.executePlan(plan, { step: "look" })).toMatchObject({
      status: "completed",
      steps: [{ status: "completed" }, { status: "pending" }],
    });
    const built = await troupe.executePlan(plan, { step: "build" });
    expect(built).toMatchObject({ status: "completed", steps: [{ status: "completed" }, { status: "completed" }] });
    expect(await agentsOf(troupe, built.session)).toEqual(["coder"]);
    await expect(troupe.executePlan(plan, { step: "nothing" })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("does not begin with a plan that cannot be executed", async () => {
    await using troupe = await open({});
    const cycle = planOf(step("a", "coder", { after: ["b"] }), step("b", "coder", { after: ["a"] }));
    await expect(troupe.executePlan(cycle)).rejects.toMatchObject({
      code: "INVALID_PLAN",
      message: expect.stringContaining("a → b → a is a cycle"),
    });
    const unknown = planOf(step("a", "codr"));
    await expect(troupe.executePlan(unknown)).rejects.toMatchObject({
      code: "INVALID_PLAN",
      fix: "did you mean coder?",
    });
    await expect(troupe.executePlan(planOf())).rejects.toMatchObject({ code: "INVALID_PLAN" });
    expect(await troupe.sessions.list()).toEqual([]);
  });

  test("gives each step its criteria and its limits, and its result has the use of its own runs", async () => {
    await using troupe = await open({ researcher: [reads("It is basic.")], coder: [reads("Built.")] });
    const limits = { maxIterations: 7, maxToolCalls: 3 };
    const plan = planOf(
      step("look", "researcher", { successCriteria: "the files are named", limits }),
      step("build", "coder", { after: ["look"] }),
    );
    const { steps, totals } = await troupe.executePlan(plan);
    expect(requestsOf("researcher")).toMatchObject([{ successCriteria: "the files are named", limits }]);
    expect(requestsOf("coder")).toMatchObject([{ successCriteria: null }]);
    expect(requestsOf("coder")[0]?.limits).not.toHaveProperty("maxIterations");
    expect(steps).toMatchObject([
      { id: "look", title: "The step look", agent: "researcher", usage: { runs: 1, toolCalls: 1 }, findings: [] },
      { id: "build", agent: "coder", usage: { runs: 1, toolCalls: 1 }, approved: null, error: null },
    ]);
    const tokens = steps.map(({ usage }) => usage.totalTokens);
    expect(Math.min(...tokens)).toBeGreaterThan(0);
    expect(totals.totalTokens).toBe(tokens.reduce((sum, each) => sum + each, 0));
  });

  test("of a team's plan is made and carried out by the agents of the team, and its sessions replay", async () => {
    const steps = [
      { ...drafted("look", "researcher"), successCriteria: "the files are named" },
      { ...drafted("build", "executor", ["look"]), review: true },
    ];
    let plan: ExecutionPlan;
    let session: string;
    {
      await using troupe = await open({
        pipeline_planner: [{ steps: [{ text: JSON.stringify({ steps }) }] }],
        pipeline_researcher: [reads("It is basic.")],
        pipeline_executor: [
          { when: { task: "tokens never expire" }, ...says("Added the expiry.") },
          says("Added tokens."),
        ],
        pipeline_reviewer: [
          { when: { task: "Added the expiry." }, ...approves },
          says('{"approved":false,"findings":["tokens never expire"]}'),
        ],
      });
      plan = await troupe.planForGoal("Add tokens", { team: "pipeline" });
      expect(plan).toMatchObject({ team: "pipeline", steps: [{ agent: "researcher" }, { agent: "executor" }] });
      const result = await troupe.executePlan(plan);
      expect(result).toMatchObject({
        status: "completed",
        steps: [{ summary: "It is basic." }, { summary: "Added the expiry.", approved: true }],
      });
      session = result.session;
      expect(await agentsOf(troupe, session)).toEqual([
        "pipeline_researcher",
        ...["pipeline_executor", "pipeline_reviewer", "pipeline_executor", "pipeline_reviewer"],
      ]);
      const listed = await troupe.sessions.list();
      expect(listed.map(({ agent, team }) => [agent, team])).toEqual([
        ["pipeline_lead", "pipeline"],
        ["pipeline_planner", "pipeline"],
      ]);
      await expect(troupe.executePlan({ ...plan, id: planOf().id, team: "pipline" })).rejects.toMatchObject({
        ...{ code: "UNKNOWN_TEAM", fix: "did you mean pipeline?" },
      });
    }
    const feed = await readSessionFeed({ file: journalFile(), session });
    expect(feed.length).toBeGreaterThan(10);
    await expectReplayable(feed);
  });

  test("keeps the budget of the plan, and runs no step without it", async () => {
    await using troupe = await open({ researcher: [reads("x")], coder: [says("y")] });
    const plan = {
      ...planOf(step("look", "researcher"), step("build", "coder", { after: ["look"] })),
      budget: { spawns: 1 },
    };
    const result = await troupe.executePlan(plan);
    expect(result).toMatchObject({ status: "failed" });
    expect(await agentsOf(troupe, result.session)).not.toContain("coder");
  });
});
