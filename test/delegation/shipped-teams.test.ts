/** The shipped teams at the work that they are for. Models are scripted; prompts, grants and limits are the shipped ones. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createAgentSource } from "@troupe/roles";
import { describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { askedOf, openedIn, responseIn, rowsOf, settledIn, wordsIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, type ScenarioAgents, toolResultsIn } from "./scripted-agents.ts";
import { createSteppingClock } from "./stepping-clock.ts";
import { type Session, type Team, teamSizes, withTeam } from "./team.ts";

const registry = await createAgentSource({ userFolders: [] }).load(null);
const agentSource = { load: async () => registry };

type Question = Parameters<Answer>[0];

const write = (file: string, content: string) => call("write", { path: file, content }, `write-${file}`);
const textIn = (question: Question): string => {
  const { details, summary } = JSON.parse(toolResultsIn(question)[0]?.text ?? "{}");
  return details || summary;
};
const saying = (latencyMs: number, text: string): ScenarioAgents[string] => [{ steps: [{ latencyMs, text }] }];

/** Each agent's turns, by its id. A turn is a reply, or a function of the question. */
type Turn = ReturnType<typeof calling> | string | ((question: Question) => ReturnType<typeof calling> | string);
const playing =
  (turns: Record<string, readonly Turn[]>): Answer =>
  (question) => {
    const turn = turns[question.origin.agent]?.[question.origin.step - 1] ?? "done";
    return typeof turn === "function" ? turn(question) : turn;
  };

/** `child < parent`, in the order of the record. */
async function arrowsOf(team: Team, { session }: Session): Promise<string[]> {
  const { runs } = await team.rows(session);
  const agents = new Map(runs.map(({ run, agent }) => [run, agent]));
  return runs.map(({ agent, parentRun, exactStatus }) => {
    const parent = parentRun === null ? "the user" : agents.get(parentRun);
    return `${agent} < ${parent}: ${exactStatus}`;
  });
}

/** Errors of an agent's tool calls. */
async function toolErrorsOf(team: Team, session: Session, agent: string): Promise<string[]> {
  const runs = (await team.tree(session)).filter((entries) => openedIn(entries).pin.definition.id === agent);
  return runs.flat().flatMap((entry) => {
    if (entry.kind !== "tool.finished" || !entry.outcome.error) return [];
    return [`${entry.tool}: ${entry.outcome.error.type}`];
  });
}

describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it("coding: plans, writes code, has the coder's work tested and the change reviewed", async () => {
    const answer = playing({
      coding_main: [
        calling(delegate("coding_planner", "Plan a limit for uploads.")),
        (question) => calling(delegate("coding_coder", `Carry out: ${textIn(question)}`)),
        (question) => calling(delegate("coding_reviewer", `Review: ${textIn(question)}`)),
        (question) => `Reviewed: ${textIn(question)}`,
      ],
      coding_planner: ["1. add limit.js"],
      coding_coder: [
        calling(write("src/limit.js", "export const limit = 10;\n")),
        calling(delegate("coding_tester", "Test src/limit.js.")),
        (question) => `Limit added. ${textIn(question)}`,
      ],
      coding_tester: [
        calling(write("test/limit.test.js", "limit;\n"), write("src/limit.js", "mine\n")),
        "One test, passed.",
      ],
      coding_reviewer: [
        calling(write("src/limit.js", "reviewed\n"), call("read", { path: "src/limit.js" })),
        "Accept.",
      ],
    });
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("Limit the uploads.", { team: "coding" });
      const response = await session.response;
      expect(response).toMatchObject({
        status: "completed",
        details: "Reviewed: Accept.",
        filesCreated: ["src/limit.js", "test/limit.test.js"],
        metrics: { subtree: { runs: 5 } },
      });
      expect(await arrowsOf(team, session)).toEqual([
        "coding_main < the user: completed",
        "coding_planner < coding_main: completed",
        "coding_coder < coding_main: completed",
        "coding_tester < coding_coder: completed",
        "coding_reviewer < coding_main: completed",
      ]);
      expect(askedOf(team, "coding_coder")[0]?.origin.task).toBe("Carry out: 1. add limit.js");
      // The tester writes in folders of tests only, and the reviewer has no tool for it.
      expect(await toolErrorsOf(team, session, "coding_tester")).toEqual(["write: permission"]);
      expect(await toolErrorsOf(team, session, "coding_reviewer")).toEqual(["write: permission"]);
      const source = await readFile(path.join(session.workspace, "src/limit.js"), "utf8");
      expect(source).toBe("export const limit = 10;\n");
    });
  });

  it("coding: a planner that is asked to has its plan carried out, and no other agent than its three", async () => {
    const answer = playing({
      coding_main: [calling(delegate("coding_planner", "Plan it and have it carried out.")), (q) => textIn(q)],
      coding_planner: [
        calling(delegate("coding_debugger", "Find the cause.")),
        calling(delegate("coding_coder", "Add the limit.")),
        calling(delegate("coding_tester", "Test it."), delegate("coding_reviewer", "Review it.")),
        "All steps are done.",
      ],
      coding_coder: [calling(write("src/limit.js", "10\n")), "Added."],
      coding_tester: [calling(write("test/limit.test.js", "10\n")), "Tested."],
      coding_reviewer: ["Accept."],
    });
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("Limit the uploads.", { team: "coding" });
      expect(await session.response).toMatchObject({
        details: "All steps are done.",
        filesCreated: ["src/limit.js", "test/limit.test.js"],
      });
      expect((await arrowsOf(team, session)).slice(1).toSorted()).toEqual([
        "coding_coder < coding_planner: completed",
        "coding_planner < coding_main: completed",
        "coding_reviewer < coding_planner: completed",
        "coding_tester < coding_planner: completed",
      ]);
      const second = askedOf(team, "coding_planner")[1];
      expect(toolResultsIn(second ?? { messages: [] })[0]?.text).toMatch(/coding_debugger/);
    });
  });

  it("pipeline: researches, plans and executes, with a reviewer of the executor's own and one of the tester's", async () => {
    const answer = playing({
      pipeline_lead: [
        calling(delegate("pipeline_researcher", "How are settings read?")),
        (question) => calling(delegate("pipeline_planner", `Plan one file. Known: ${textIn(question)}`)),
        (question) => calling(delegate("pipeline_executor", `Step: ${textIn(question)}`)),
        (question) => calling(delegate("pipeline_tester", `Test: ${textIn(question)}`)),
        (question) => textIn(question),
      ],
      pipeline_researcher: [calling(write("note.md", "found")), "From two files."],
      pipeline_planner: [calling(write("plan.md", "steps")), "1. merge them"],
      pipeline_executor: [
        calling(write("settings.js", "one\n")),
        calling(delegate("pipeline_reviewer", "Review settings.js.")),
        (question) => `Merged. ${textIn(question)}`,
      ],
      pipeline_tester: [
        calling(write("test/settings.test.js", "one\n"), write("settings.js", "two\n")),
        calling(delegate("pipeline_reviewer", "Review the tests.")),
        (question) => `Two tests, passed. ${textIn(question)}`,
      ],
      pipeline_reviewer: [
        calling(call("read", { path: "settings.js" }), write("settings.js", "three\n")),
        (question) => `Accept (${question.origin.task})`,
      ],
    });
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("One file for the settings.", { team: "pipeline" });
      expect(await session.response).toMatchObject({
        status: "completed",
        details: "Two tests, passed. Accept (Review the tests.)",
        filesCreated: ["settings.js", "test/settings.test.js"],
      });
      expect(await arrowsOf(team, session)).toEqual([
        "pipeline_lead < the user: completed",
        "pipeline_researcher < pipeline_lead: completed",
        "pipeline_planner < pipeline_lead: completed",
        "pipeline_executor < pipeline_lead: completed",
        "pipeline_reviewer < pipeline_executor: completed",
        "pipeline_tester < pipeline_lead: completed",
        "pipeline_reviewer < pipeline_tester: completed",
      ]);
      const tasks = new Set(askedOf(team, "pipeline_executor").map(({ origin }) => origin.task));
      expect([...tasks]).toEqual(["Step: 1. merge them"]);
      for (const agent of ["researcher", "planner", "tester"]) {
        expect(await toolErrorsOf(team, session, `pipeline_${agent}`)).toEqual(["write: permission"]);
      }
      expect(await toolErrorsOf(team, session, "pipeline_reviewer")).toEqual([
        "write: permission",
        "write: permission",
      ]);
      expect(await readFile(path.join(session.workspace, "settings.js"), "utf8")).toBe("one\n");
    });
  });

  it("research: the coordinator asks three specialists at once; the time is that of the slowest", async () => {
    const clock = createSteppingClock();
    const ask = (name: string) => ({ tool: "delegate", args: { agent: `research_${name}`, task: "Battery prices" } });
    const scenario: ScenarioAgents = {
      research_coordinator: [
        {
          steps: [
            { latencyMs: 2_000, calls: ["data-analyst", "web-researcher", "citation-checker"].map(ask) },
            { latencyMs: 3_000, text: "Report: {{result.0.output}}; {{result.1.output}}; {{result.2.output}}" },
          ],
        },
      ],
      "research_data-analyst": saying(8_000, "prices fell by 90 %"),
      "research_web-researcher": saying(12_000, "four sources"),
      "research_citation-checker": saying(5_000, "all references hold"),
    };
    await withTeam({ ...size, agentSource, clock, scenario }, async (team) => {
      const session = await team.begin("What became of battery prices?", { team: "research" });
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 4 } } });
      expect(response.details).toMatch(/prices fell by 90 %[\s\S]*four sources[\s\S]*all references hold/);
      // Two to ask, twelve for the slowest, three to answer.
      expect(response.metrics.durationMs).toBe(17_000);
    });
  });

  it("review: combines the parts, each with the change as context, though one of them fails", async () => {
    const parts = ["security-auditor", "linter", "test-coverage"];
    const answer: Answer = (question) => {
      const { agent, step } = question.origin;
      if (agent === "review_test-coverage") throw new Error("the vendor is down");
      if (agent === "review_linter") return "## Findings\n- none";
      if (agent === "review_security-auditor") return "## Summary\nthe token is logged";
      const tasks = parts.map((name) => ({
        ...{ agent: `review_${name}`, task: "Review the change.", name },
        context_files: ["change.diff"],
      }));
      if (step === 1) return calling(call("delegate", { tasks }));
      const { results, failed } = JSON.parse(toolResultsIn(question)[0]?.text ?? "");
      return `Request changes: ${results[0].summary}. Failed parts: ${failed}.`;
    };
    await withTeam({ ...size, agentSource, answer, clock: createSteppingClock() }, async (team) => {
      const session = await team.begin("Review the last commit.", { team: "review" });
      await writeFile(path.join(session.workspace, "change.diff"), "+ log(token)\n");
      expect(await session.response).toMatchObject({
        status: "completed",
        details: "Request changes: the token is logged. Failed parts: 1.",
      });
      for (const name of parts) {
        expect(askedOf(team, `review_${name}`).map(wordsIn)[0]).toContain("+ log(token)");
      }
      const statuses = settledIn(await team.entries(session)).map(({ agent, status }) => `${agent}: ${status}`);
      expect(statuses.toSorted()).toEqual([
        "review_linter: completed",
        "review_security-auditor: completed",
        "review_test-coverage: failed",
      ]);
    });
  });

  it("data-pipeline: fetches in parallel, then transforms, then reports in parallel", async () => {
    const clock = createSteppingClock();
    const fetches = ["sales", "stock", "staff"];
    const formats = ["html", "csv", "pdf"];
    const member = (name: string): string => `data-pipeline_${name}`;
    const tasks = [
      ...fetches.map((source) => ({ agent: member("fetcher"), task: `fetch ${source}`, name: source })),
      { agent: member("transformer"), task: "join them", name: "table", after: fetches },
      ...formats.map((format) => ({
        ...{ agent: member("reporter"), task: `report as ${format}`, name: format, after: ["table"] },
      })),
    ];
    const by = (prefix: string, latencies: Record<string, number>): ScenarioAgents[string] =>
      Object.entries(latencies).map(([word, latencyMs]) => ({
        when: { task: `${prefix} ${word}` },
        steps: [{ latencyMs, text: "did {{task}}" }],
      }));
    const scenario: ScenarioAgents = {
      [member("coordinator")]: [
        { steps: [{ calls: [{ tool: "delegate_batch", args: { tasks } }] }, { text: "All reports are there." }] },
      ],
      [member("fetcher")]: by("fetch", { sales: 4_000, stock: 9_000, staff: 6_000 }),
      [member("transformer")]: by("join", { them: 3_000 }),
      [member("reporter")]: by("report as", { html: 2_000, csv: 1_000, pdf: 7_000 }),
    };
    await withTeam({ ...size, agentSource, clock, scenario }, async (team) => {
      const session = await team.begin("Run it.", { team: "data-pipeline" });
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 8 } } });
      // The slowest of each phase: 9 + 3 + 7.
      expect(response.metrics.durationMs).toBe(19_000);
      const [table] = askedOf(team, member("transformer")).map(wordsIn);
      for (const source of fetches) expect(table).toContain(`did fetch ${source}`);
      const reports = askedOf(team, member("reporter"));
      expect(reports).toHaveLength(formats.length);
      for (const report of reports) expect(wordsIn(report)).toContain("did join them");
      const statuses = (await team.tree(session)).map((entries) => responseIn(entries).status);
      expect(statuses).toEqual(Array.from({ length: 8 }, () => "completed"));
      expect(rowsOf((await team.rows(session.session)).runs, member("reporter"))).toHaveLength(3);
    });
  });
});
