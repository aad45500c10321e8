/** Typical uses of agent teams. Each agent is a Markdown file, and the total time is that of the slowest agent. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AgentRegistry } from "@troupe/core";
import { createAgentSource } from "@troupe/roles";
import { afterAll, describe, expect, it } from "vitest";
import { casesOf } from "../harness/long.ts";
import { askedOf, responseIn, settledIn, wordsIn } from "./journal-queries.ts";
import { type Answer, call, calling, type ModelOutput, type ScenarioAgents, toolResultsIn } from "./scripted-agents.ts";
import { createSteppingClock, type SteppingClock } from "./stepping-clock.ts";
import { type TeamSize, teamSizes, withTeam } from "./team.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** The registry of a folder with these agent files. */
async function registryOf(files: Record<string, string>): Promise<AgentRegistry> {
  const workspace = await mkdtemp(path.join(tmpdir(), "troupe-company-"));
  folders.push(workspace);
  const folder = path.join(workspace, ".troupe", "agents");
  await mkdir(folder, { recursive: true });
  for (const [id, text] of Object.entries(files)) await writeFile(path.join(folder, `${id}.md`), text);
  const registry = await createAgentSource({ builtin: false, userFolders: [] }).load(workspace);
  expect(registry.problems).toEqual([]);
  return registry;
}

function file(id: string, description: string, more = "tools: [read]"): string {
  return `---\nname: ${id}\ndescription: ${description}\n${more}\n---\n\nYou are the ${id}. ${description}\n`;
}

const lead = (description: string, ...allow: string[]): string =>
  file("lead", description, `tools: [read, write]\nsubagents:\n  allow: [${allow.join(", ")}]\n  max_concurrent: 5`);

function options(size: TeamSize, registry: AgentRegistry, clock: SteppingClock) {
  return { ...size, agentSource: { load: async () => registry }, clock };
}

const saying = (latencyMs: number, text: string): ScenarioAgents[string] => [{ steps: [{ latencyMs, text }] }];

describe.each(casesOf(teamSizes, ({ hosts }) => hosts === 1))("with $what", (size) => {
  it("a research coordinator asks three specialists at once and reports their findings", async () => {
    const clock = createSteppingClock();
    const registry = await registryOf({
      lead: lead("Coordinates research.", "data-analyst", "web-researcher", "citation-checker"),
      "data-analyst": file("data-analyst", "Gathers figures."),
      "web-researcher": file("web-researcher", "Finds sources."),
      "citation-checker": file("citation-checker", "Verifies references."),
    });
    const ask = (agent: string) => ({ tool: "delegate", args: { agent, task: "Battery prices since 2010" } });
    const scenario: ScenarioAgents = {
      lead: [
        {
          steps: [
            { latencyMs: 2_000, calls: ["data-analyst", "web-researcher", "citation-checker"].map(ask) },
            { latencyMs: 3_000, text: "Report: {{result.0.output}}; {{result.1.output}}; {{result.2.output}}" },
          ],
        },
      ],
      "data-analyst": saying(8_000, "prices fell by 90 %"),
      "web-researcher": saying(12_000, "four sources"),
      "citation-checker": saying(5_000, "all references hold"),
    };
    await withTeam({ ...options(size, registry, clock), scenario }, async (team) => {
      const session = await team.begin("What became of battery prices?", { agent: "lead" });
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 4 } } });
      expect(response.details).toMatch(/prices fell by 90 %[\s\S]*four sources[\s\S]*all references hold/);
      // Two to ask, twelve for the slowest, three to answer.
      expect(response.metrics.durationMs).toBe(17_000);
      expect((await team.rows(session.session)).runs.map(({ agent, status }) => [agent, status])).toEqual([
        ["lead", "completed"],
        ["data-analyst", "completed"],
        ["web-researcher", "completed"],
        ["citation-checker", "completed"],
      ]);
    });
  });

  it("a review of a change combines three parts, each with the change as context, though one of them fails", async () => {
    const clock = createSteppingClock();
    const review = `troupe:
  outputSchema:
    type: object
    properties:
      verdict: { enum: [keep, mend] }
      findings: { type: array, items: { type: string } }
    required: [verdict, findings]`;
    const registry = await registryOf({
      lead: lead("Reviews changes.", "security", "style", "coverage"),
      security: file("security", "Looks for holes.", `tools: [read]\n${review}`),
      style: file("style", "Looks at the form.", `tools: []\n${review}`),
      coverage: file("coverage", "Looks for missing tests.", "tools: [read]"),
    });
    const reviews: Record<string, ModelOutput | Error> = {
      security: '{"verdict":"mend","findings":["the token is logged"]}',
      style: '{"verdict":"keep","findings":[]}',
      coverage: new Error("the vendor has lost its head"),
    };
    const answer: Answer = (question) => {
      const { agent, step } = question.origin;
      if (agent !== "lead") {
        const review = reviews[agent] ?? "";
        if (review instanceof Error) throw review;
        return review;
      }
      const tasks = Object.keys(reviews).map((id) => ({
        agent: id,
        task: "Review the change.",
        name: id,
        context_files: ["change.diff"],
      }));
      if (step === 1) return calling(call("delegate", { tasks }));
      const { results, failed } = JSON.parse(toolResultsIn(question)[0]?.text ?? "");
      const findings = results.flatMap((result: { status: string; summary: string }) =>
        result.status === "completed" ? JSON.parse(result.summary).findings : [],
      );
      return `To mend: ${findings.join(", ")}. Reviews that failed: ${failed}.`;
    };
    await withTeam({ ...options(size, registry, clock), answer, clock: createSteppingClock() }, async (team) => {
      const session = await team.begin("Review it.", { agent: "lead" });
      await writeFile(path.join(session.workspace, "change.diff"), "+ log(token)\n");
      const response = await session.response;
      expect(response).toMatchObject({
        status: "completed",
        details: "To mend: the token is logged. Reviews that failed: 1.",
      });
      for (const id of Object.keys(reviews)) {
        const [question] = askedOf(team, id);
        expect(wordsIn(question as NonNullable<typeof question>)).toContain("+ log(token)");
      }
      const settled = settledIn(await team.entries(session));
      expect(settled.find(({ agent }) => agent === "security")?.data).toMatchObject({ verdict: "mend" });
      expect(settled.find(({ agent }) => agent === "coverage")?.status).toBe("failed");
    });
  });

  it("a data pipeline fetches in parallel, then transforms, then reports in parallel", async () => {
    const clock = createSteppingClock();
    const registry = await registryOf({
      lead: lead("Runs pipelines.", "fetcher", "transformer", "reporter"),
      fetcher: file("fetcher", "Fetches a source."),
      transformer: file("transformer", "Makes one table of all."),
      reporter: file("reporter", "Writes a report in one format."),
    });
    const fetches = ["sales", "stock", "staff"];
    const formats = ["html", "csv", "pdf"];
    const tasks = [
      ...fetches.map((source) => ({ agent: "fetcher", task: `fetch ${source}`, name: source })),
      { agent: "transformer", task: "join them", name: "table", after: fetches },
      ...formats.map((format) => ({ agent: "reporter", task: `report as ${format}`, name: format, after: ["table"] })),
    ];
    const by = (prefix: string, latencies: Record<string, number>): ScenarioAgents[string] =>
      Object.entries(latencies).map(([word, latencyMs]) => ({
        when: { task: `${prefix} ${word}` },
        steps: [{ latencyMs, text: `did {{task}}` }],
      }));
    const scenario: ScenarioAgents = {
      lead: [{ steps: [{ calls: [{ tool: "delegate", args: { tasks } }] }, { text: "All reports are there." }] }],
      fetcher: by("fetch", { sales: 4_000, stock: 9_000, staff: 6_000 }),
      transformer: by("join", { them: 3_000 }),
      reporter: by("report as", { html: 2_000, csv: 1_000, pdf: 7_000 }),
    };
    await withTeam({ ...options(size, registry, clock), scenario }, async (team) => {
      const session = await team.begin("Run it.", { agent: "lead" });
      const response = await clock.until(session.response);
      expect(response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 8 } } });
      // The slowest of each phase: 9 + 3 + 7.
      expect(response.metrics.durationMs).toBe(19_000);
      const tables = askedOf(team, "transformer").map(wordsIn);
      expect(tables).toEqual([expect.stringMatching(/did fetch/)]);
      for (const source of fetches) expect(tables[0]).toContain(`did fetch ${source}`);
      const reports = askedOf(team, "reporter");
      expect(reports).toHaveLength(formats.length);
      for (const report of reports) {
        expect(wordsIn(report)).toContain("did join them");
        expect(wordsIn(report)).not.toContain("did fetch");
      }
      const statuses = (await team.tree(session)).map((entries) => responseIn(entries).status);
      expect(statuses).toEqual(Array.from({ length: 8 }, () => "completed"));
    });
  });
});
