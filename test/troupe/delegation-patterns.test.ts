/** Every example of docs/guides/delegation-patterns.md, executed as it is written there, in its good and its failed case. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { RunResponse } from "@troupe/core";
import { createTroupe, type Troupe } from "troupe";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { type CliResult, troupe as command } from "../harness/cli.ts";
import { readGuide, wordsOf } from "../harness/guide.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const guide = await readGuide("delegation-patterns");
const headings = [...guide.text.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);
const executed = new Set<string>();

type Test = Pick<TestContext, "onTestFinished">;

const says = (text: string, latencyMs = 0) => ({ steps: Array.from({ length: 5 }, () => ({ text, latencyMs })) });
const fails = { steps: [{ error: { type: "params" as const, message: "the disk is full" } }] };
const writes = (name: string) => ({
  steps: [{ calls: [{ tool: "write", args: { path: name, content: "x" } }] }, { text: `Wrote ${name}.` }],
});

/** The only block of a section. */
function blockOf(heading: string, language: string): string {
  executed.add(heading);
  const [block = ""] = guide.section(heading).blocks(language);
  expect(block).not.toBe("");
  return block;
}

interface Played {
  response: RunResponse;
  /** Agent and status of each child, in the order of the tasks. */
  children: string[];
  /** The context that the child with this task got, by a part of the task. */
  contextOf(task: string): string;
}

/** The main agent makes the call of a section, and then answers. */
async function play(test: Test, heading: string, agents: Agents): Promise<Played> {
  const call = JSON.parse(blockOf(heading, "json"));
  const folder = await tempFolder("patterns", test);
  const scenario = await writeScenario(folder, {
    main: [{ steps: [{ calls: [call] }, { text: "done" }] }],
    ...agents,
  });
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: path.join(folder, "home") };
  await using troupe: Troupe = await createTroupe({
    ...{ env, workspace: folder, model: `scripted/${scenario}`, store: "memory" },
  });
  const response = await troupe.run("go");
  const detail = await troupe.sessions.get(response.sessionId);
  const [, ...children] = (detail?.runs ?? []).toSorted((a, b) => a.order - b.order);
  const requests = await Promise.all(children.map(({ run }) => troupe.service.explain(run).catch(() => null)));
  return {
    response,
    children: children.map(({ agent, status }) => `${agent} ${status}`),
    contextOf(task) {
      const index = children.findIndex((child) => child.task.includes(task));
      return JSON.stringify(requests[index] ?? null);
    },
  };
}

const three = (agent: string, status = "completed"): string[] => [1, 2, 3].map(() => `${agent} ${status}`);

describe.concurrent("the calls of the guide", () => {
  it("One specialist", async (test) => {
    const good = await play(test, "One specialist", { researcher: [says("MIT: left, right.")] });
    expect(good).toMatchObject({ response: { status: "completed" }, children: ["researcher completed"] });
    const bad = await play(test, "One specialist", { researcher: [fails] });
    expect(bad).toMatchObject({ response: { status: "completed", details: "done" }, children: ["researcher failed"] });
  });

  it("Parallel fan-out", async (test) => {
    const good = await play(test, "Parallel fan-out", { researcher: [says("It does.")] });
    expect(good.children).toEqual(three("researcher"));
    const bad = await play(test, "Parallel fan-out", {
      researcher: [{ when: { task: "write logs" }, ...fails }, says("It does.")],
    });
    expect(bad.children).toEqual(["researcher completed", "researcher failed", "researcher completed"]);
  });

  it("Sequential chain", async (test) => {
    const agents = { debugger: [says("The limit is missing.")], coder: [says("Mended.")], tester: [says("All pass.")] };
    const good = await play(test, "Sequential chain", agents);
    expect(good.children).toEqual(["debugger completed", "coder completed", "tester completed"]);
    const bad = await play(test, "Sequential chain", { ...agents, coder: [fails] });
    expect(bad.children).toEqual(["debugger completed", "coder failed", "tester cancelled"]);
    expect(bad.response.metrics.subtree.runs).toBe(3);
  });

  it("First of several", async (test) => {
    const good = await play(test, "First of several", {
      researcher: [says("Found.")],
      debugger: [says("Later", 600_000)],
    });
    expect(good.children).toEqual(["researcher completed", "debugger cancelled"]);
    const second = await play(test, "First of several", { researcher: [fails], debugger: [says("Found.")] });
    expect(second).toMatchObject({ children: ["researcher failed", "debugger completed"] });
  });

  it("Quorum", async (test) => {
    const yes = [says("yes")];
    const good = await play(test, "Quorum", { reviewer: yes, tester: yes, debugger: [says("Later", 600_000)] });
    expect(good.children).toEqual(["reviewer completed", "tester completed", "debugger cancelled"]);
    const bad = await play(test, "Quorum", { reviewer: [fails], tester: [fails], debugger: yes });
    expect(bad.children.filter((child) => child.endsWith("failed"))).toHaveLength(2);
  });

  it("Map then reduce", async (test) => {
    const coder = [{ ...says("One page.") }];
    const researcher = [{ when: { task: "packages/core" }, ...says("core: parse()") }, says("tools: read()")];
    const good = await play(test, "Map then reduce", { researcher, coder });
    expect(good.children).toEqual(["researcher completed", "researcher completed", "coder completed"]);
    const bad = await play(test, "Map then reduce", {
      researcher: [{ when: { task: "packages/core" }, ...fails }, says("tools: read()")],
      coder,
    });
    expect(bad.children).toEqual(["researcher failed", "researcher completed", "coder failed"]);
  });
});

/** Runs commands in a folder whose agents follow a script. */
async function createFolder(test: Test, agents: Agents) {
  const home = await tempFolder("patterns-home", test);
  const work = await tempFolder("patterns-work", test);
  const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, agents)}` };
  const run = (line: string): Promise<CliResult> => command(wordsOf(line).slice(1), { home, cwd: work, env });
  return { work, run };
}

async function runPlan(test: Test, heading: string, agents: Agents): Promise<CliResult> {
  const { work, run } = await createFolder(test, agents);
  await writeFile(path.join(work, "plan.yaml"), blockOf(heading, "yaml"));
  return await run("troupe plan run plan.yaml --json");
}

const statusesOf = ({ stdout }: CliResult): string[] =>
  JSON.parse(stdout).steps.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`);

describe.concurrent("the plans of the guide", () => {
  it("Research then implement", async (test) => {
    const good = await runPlan(test, "Research then implement", {
      researcher: [says("In src/upload.ts.")],
      coder: [says("Added.")],
    });
    expect([good.code, statusesOf(good)]).toEqual([0, ["look completed", "build completed"]]);
    const bad = await runPlan(test, "Research then implement", { researcher: [fails] });
    expect([bad.code, statusesOf(bad)]).toEqual([6, ["look failed", "build skipped"]]);
  });

  it("Test first", async (test) => {
    const tester = [{ when: { task: "Write tests" }, ...writes("test/discount.test.js") }, says("All pass.")];
    const good = await runPlan(test, "Test first", { tester, coder: [writes("discount.js")] });
    expect([good.code, statusesOf(good)]).toEqual([0, ["tests completed", "code completed", "check completed"]]);
    const bad = await runPlan(test, "Test first", { tester: [fails] });
    expect(statusesOf(bad)).toEqual(["tests failed", "code skipped", "check skipped"]);
  });

  it("Reviewer as a gate", async (test) => {
    const review = (approved: boolean) =>
      says(JSON.stringify({ approved, findings: approved ? [] : ["a key is left"] }));
    const coder = [{ when: { task: "a key is left" }, ...says("Moved it.") }, says("Rotated.")];
    const good = await runPlan(test, "Reviewer as a gate", {
      coder,
      reviewer: [{ when: { task: "Moved it." }, ...review(true) }, review(false)],
    });
    expect([good.code, statusesOf(good)]).toEqual([0, ["rotate completed"]]);
    expect(JSON.parse(good.stdout).steps[0]).toMatchObject({ approved: true, summary: "Moved it." });
    const bad = await runPlan(test, "Reviewer as a gate", { coder, reviewer: [review(false)] });
    expect([bad.code, statusesOf(bad)]).toEqual([6, ["rotate failed"]]);
  });

  it("Plan, execute, review", async (test) => {
    const step = { title: "Limit it", task: "add a limit", agent: "coder", after: [], successCriteria: "refused" };
    const { run } = await createFolder(test, {
      planner: [says(JSON.stringify({ steps: [{ id: "limit", ...step, review: true }] }))],
      coder: [says("Limited.")],
      reviewer: [says('{"approved":true,"findings":[]}')],
    });
    const lines = blockOf("Plan, execute, review", "sh").trim().split("\n");
    for (const line of lines) expect((await run(line)).code, line).toBe(0);
    expect(lines).toHaveLength(2);
  });
});

describe.concurrent("the team and the command of the guide", () => {
  const agentFile = (name: string, more = ""): string =>
    `---\nname: ${name}\ndescription: The ${name}\n${more}---\nYou are the ${name}.\n`;

  it("Mandatory delegation", async (test) => {
    const delegation = { calls: [{ tool: "delegate", args: { agent: "writer", task: "write it" } }] };
    const { work, run } = await createFolder(test, {
      letters_lead: [
        { when: { task: "an invoice, properly" }, steps: [delegation, { text: "The writer did it." }] },
        { steps: [{ text: "I did it myself.", repeat: true }] },
      ],
      letters_writer: [says("Written.")],
    });
    const team = path.join(work, ".troupe", "teams", "letters");
    await mkdir(team, { recursive: true });
    await writeFile(path.join(team, "team.yaml"), blockOf("Mandatory delegation", "yaml"));
    await writeFile(path.join(team, "lead.md"), agentFile("lead", "subagents: {allow: [writer]}\n"));
    await writeFile(path.join(team, "writer.md"), agentFile("writer"));
    expect(await run('troupe run --team letters "Write an invoice, properly"')).toMatchObject({ code: 0 });
    expect(await run('troupe run --team letters "What is a queue?"')).toMatchObject({ code: 0 });
    for (const task of ["Write an invoice", "Write a bill for the paint work"]) {
      const refused = await run(`troupe run --team letters "${task}"`);
      expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("had to be delegated to") });
    }
  });

  it("Spawn by command", async (test) => {
    const { run } = await createFolder(test, {
      main: [says("As you wished.")],
      reviewer: [says("Two errors name no file.")],
      coder: [says("Mended.")],
    });
    const lines = blockOf("Spawn by command", "sh").trim().split("\n");
    for (const line of lines) {
      const { code, stdout, stderr } = await run(line);
      expect([code, stdout], stderr).toEqual([0, "As you wished.\n"]);
      expect(stderr).toContain(line.includes("/spawn coder") ? "coder" : "reviewer");
    }
    expect(lines).toHaveLength(2);
    const wrong = await run('troupe run "/spawn revewer Check it"');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean reviewer?") });
  });
});

it("each pattern says when to use it, how it fails and its cost, and is in the first table", () => {
  const [intro = ""] = guide.text.split("\n## ");
  for (const heading of headings) {
    const { text } = guide.section(heading);
    for (const part of ["- **When:**", "- **If it fails:**", "- **Cost:**"]) expect(text, heading).toContain(part);
    expect(intro).toContain(heading);
  }
  expect(headings).toHaveLength(12);
});

afterAll(() => {
  if (executed.size > 0) expect([...executed].sort()).toEqual([...headings].sort());
});
