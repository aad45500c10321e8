/** The shipped roles in the flows that they were made for: plan, carry out, review; research first; tests first. */
import { createAgentSource } from "@troupe/roles";
import { describe, expect, it } from "vitest";
import { askedOf, wordsIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, type ModelOutput, toolResultsIn } from "./scripted-agents.ts";
import { type Team, teamSizes, withTeam } from "./team.ts";

const registry = await createAgentSource({ userFolders: [] }).load(null);
const agentSource = { load: async () => registry };

/** What main reads of its children: each result with its error flag. */
function resultsIn(question: Parameters<Answer>[0]) {
  return toolResultsIn(question).map(({ text, isError }) => ({ ...JSON.parse(text), isError }));
}

/** The words of a result. Its details are empty if the summary has them all. */
function textOf({ details, summary }: { details: string; summary: string }): string {
  return details || summary;
}

/** Each child answers by its role, and reads one file first. */
function children(answers: Record<string, (task: string) => ModelOutput>): Answer {
  return ({ origin }) =>
    origin.step === 1 ? calling(call("read", { path: "a.md" })) : (answers[origin.agent]?.(origin.task) ?? "done");
}

const tasksOf = (team: Team, agent: string): string[] => [
  ...new Set(askedOf(team, agent).map(({ origin }) => origin.task)),
];

describe.each(teamSizes.slice(0, 1))("with $what", (size) => {
  const plan = "## Details\n1. add the key\n2. check the key";

  /** Asks for a plan, has each step carried out and the whole reviewed, and reports; stops if there is no plan. */
  const flow: Answer = (question) => {
    const [first, ...more] = resultsIn(question);
    switch (question.origin.step) {
      case 1:
        return calling(delegate("planner", "Plan: sign the tokens"));
      case 2: {
        if (first.isError) return `No plan: ${first.error.message}`;
        const steps = [...textOf(first).matchAll(/^\d\. (.*)$/gm)].map(([, step = ""]) => step);
        return calling(...steps.map((step) => delegate("coder", step)));
      }
      case 3: {
        const done = [first, ...more].map(({ summary }) => summary).join(" ");
        return calling(delegate("reviewer", `Review: ${done}`));
      }
      default:
        return `Reviewed: ${first.summary}`;
    }
  };

  it("plans, carries out each step, has the changes reviewed, and counts the tool calls of all", async () => {
    const work = children({
      planner: () => plan,
      coder: (task) => `Done: ${task}.`,
      reviewer: (task) => `Keep it (${task})`,
    });
    const answer: Answer = (question, signal) => (question.origin.agent === "main" ? flow : work)(question, signal);
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("Sign the tokens.");
      const response = await session.response;
      expect(response).toMatchObject({
        status: "completed",
        details: "Reviewed: Keep it (Review: Done: add the key. Done: check the key.)",
        // Four children that read one file each, and four delegations.
        metrics: { subtree: { runs: 5, toolCalls: 8 } },
      });
      expect(tasksOf(team, "coder").sort()).toEqual(["add the key", "check the key"]);
      const { runs } = await team.rows(session.session);
      const spanOf = (agent: string) => {
        const rows = runs.filter((row) => row.agent === agent);
        return [Math.min(...rows.map(({ order }) => order)), Math.max(...rows.map(({ order }) => order))];
      };
      expect([spanOf("planner"), spanOf("coder"), spanOf("reviewer")]).toEqual([
        [1, 1],
        [2, 3],
        [4, 4],
      ]);
    });
  });

  it("stops at a plan that failed: nothing is carried out", async () => {
    const answer: Answer = (question, signal) => {
      if (question.origin.agent === "main") return flow(question, signal);
      throw new Error("the planner cannot think");
    };
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("Sign the tokens.");
      expect(await session.response).toMatchObject({ details: "No plan: the planner cannot think" });
      const { runs } = await team.rows(session.session);
      expect(new Set(runs.map(({ agent }) => agent))).toEqual(new Set(["main", "planner"]));
    });
  });

  it("researches, plans, implements, has it reviewed and mends the finding, each with the result before it", async () => {
    const found = "Basic authentication in auth.ts, no tokens.";
    const finding = "## Summary\nAdd an expiry check.\n\n## Findings\n- tokens never expire";
    const work = children({
      researcher: () => found,
      planner: () => "1. add tokens",
      coder: (task) => (task.startsWith("Mend") ? "Expiry added." : "Tokens added."),
      reviewer: () => finding,
    });
    const answer: Answer = (question, signal) => {
      if (question.origin.agent !== "main") return work(question, signal);
      const said = resultsIn(question)[0];
      const next = [
        () => delegate("researcher", "How do users sign in?"),
        () => delegate("planner", `Plan tokens. Known: ${textOf(said)}`),
        () => delegate("coder", `Follow this plan: ${textOf(said)}`),
        () => delegate("reviewer", `Review: ${textOf(said)}`),
        () => delegate("coder", `Mend: ${said.summary}`),
      ][question.origin.step - 1];
      return next ? calling(next()) : `${textOf(said)}`;
    };
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      expect(await team.ask("Add tokens.")).toMatchObject({
        details: "Expiry added.",
        metrics: { subtree: { runs: 6 } },
      });
      expect(tasksOf(team, "planner")).toEqual([`Plan tokens. Known: ${found}`]);
      expect(tasksOf(team, "coder")).toEqual(["Follow this plan: 1. add tokens", "Mend: Add an expiry check."]);
      expect(tasksOf(team, "reviewer")).toEqual(["Review: Tokens added."]);
    });
  });

  it("drives a function by its tests: the coder reads the tests, and then the tester runs them", async () => {
    const tests = "assert.equal(discount(100, 10), 90)";
    const written = call("write", { path: "test/discount.test.js", content: tests });
    const source = call("write", { path: "src/discount.js", content: "export const discount = …" });
    /** The first call of each child, and then its answer. */
    const children: Record<string, [ReturnType<typeof call>, string]> = {
      "Write tests for discount(price, percent).": [written, "Wrote test/discount.test.js."],
      "Make them pass.": [source, "Implemented it."],
      "Run the tests.": [call("read", { path: "src/discount.js" }), "All pass."],
    };
    const asked = [
      delegate("tester", "Write tests for discount(price, percent)."),
      delegate("coder", "Make them pass.", { context_files: ["test/discount.test.js"] }),
      delegate("tester", "Run the tests."),
    ];
    const answer: Answer = (question) => {
      const { agent, step, task } = question.origin;
      const [toolCall, said] = children[task] ?? [];
      if (agent !== "main") return step === 1 && toolCall ? calling(toolCall) : (said ?? "");
      const next = asked[step - 1];
      return next ? calling(next) : `${textOf(resultsIn(question)[0])}`;
    };
    await withTeam({ ...size, agentSource, answer }, async (team) => {
      const session = await team.begin("Implement discount with tests.");
      expect(await session.response).toMatchObject({
        details: "All pass.",
        filesCreated: ["test/discount.test.js", "src/discount.js"],
        metrics: { subtree: { runs: 4 } },
      });
      expect(askedOf(team, "coder").map(wordsIn)[0]).toContain(tests);
    });
  });
});
