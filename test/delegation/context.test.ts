/** Tests which parts of its parent's conversation a child receives. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createAgentSource, shippedAgentsFolder } from "@troupe/roles";
import { beforeAll, describe, expect, it } from "vitest";
import { askedOf, openedIn, settledIn, wordsIn } from "./journal-queries.ts";
import { type Answer, call, calling, delegate, toolResultsIn } from "./scripted-agents.ts";
import { teamSizes, withTeam } from "./team.ts";

const agents = [
  { id: "main", subagents: { allow: ["helper", "expert"] } },
  { id: "helper" },
  { id: "expert", domain: "email" },
];
const request = "The treasure is under the oak.";

/** Looks into a file, says something, and then asks for a child. */
function afterSomeWords(...calls: ReturnType<typeof delegate>[]): Answer {
  return ({ origin, messages }) => {
    if (origin.purpose === "summary") return `in short: ${messages.map(({ text }) => text.length).length} part`;
    if (origin.agent !== "main") return "dug";
    if (origin.step === 1) return { text: "I look at the map first.", calls: [call("read", { path: "map.md" })] };
    return origin.step === 2 ? { text: "Now I ask.", calls } : "done";
  };
}

describe.each(teamSizes)("with $what", (size) => {
  it.each([
    {
      what: "the task alone, by default",
      more: {},
      has: [],
      lacks: ["oak", "map", "lake", "in short"],
    },
    { what: "the task alone", more: { context: "task_only" }, has: [], lacks: ["oak", "lake", "in short"] },
    {
      what: "the whole conversation, without the call that requests it",
      more: { context: "full" },
      has: ["The treasure is under the oak.", "I look at the map first.", "[calls read", "the lake is in the north"],
      lacks: ["Now I ask.", "[calls delegate", "in short"],
    },
    {
      what: "the whole conversation under its other name",
      more: { context: "full_history" },
      has: ["The treasure is under the oak.", "the lake is in the north"],
      lacks: ["Now I ask."],
    },
    {
      what: "a summary, and nothing else",
      more: { context: "summary" },
      has: ["in short: "],
      lacks: ["oak", "lake", "I look"],
    },
    {
      what: "its selected files, and nothing else",
      more: { context_files: ["map.md"] },
      has: ["File map.md:", "the lake is in the north"],
      lacks: ["oak", "I look", "in short"],
    },
    {
      what: "conversation and files",
      more: { context: "full", context_files: ["map.md"] },
      has: ["under the oak", "File map.md:"],
      lacks: ["in short"],
    },
  ])("a child gets $what", async ({ more, has, lacks }) => {
    const answer = afterSomeWords(delegate("helper", "dig", { success_criteria: "it is found", ...more }));
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin(request);
      await writeFile(path.join(session.workspace, "map.md"), "the lake is in the north\n");
      expect(await session.response).toMatchObject({ status: "completed" });
      const [question] = askedOf(team, "helper");
      expect(question?.messages).toHaveLength(1);
      const words = wordsIn(question as NonNullable<typeof question>);
      for (const part of ["dig", "it is found", ...has]) expect(words).toContain(part);
      for (const part of lacks) expect(words).not.toContain(part);
    });
  });

  it("a parent reads its child's answer, and nothing of the child's work", async () => {
    const answer: Answer = ({ origin }) => {
      if (origin.agent === "main") return origin.step === 1 ? calling(delegate("helper", "dig")) : "done";
      const reading = { text: "Let me look at the map.", calls: [call("read", { path: "map.md" })] };
      return origin.step === 1 ? reading : "## Summary\nIt is found.\n\n## Details\nIt lay under the oak.";
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin("Find it.");
      await writeFile(path.join(session.workspace, "map.md"), "the lake is in the north\n");
      expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { toolCalls: 2 } } });
      expect(askedOf(team, "helper").map(wordsIn).at(-1)).toContain("the lake is in the north");
      const words = askedOf(team, "main").map(wordsIn).at(-1);
      for (const part of ["It is found.", "It lay under the oak."]) expect(words).toContain(part);
      for (const part of ["the lake", "Let me look"]) expect(words).not.toContain(part);
    });
  });

  it("the system prompt of every model call has the role, the date and the folder of the session", async () => {
    const registry = await createAgentSource({ userFolders: [] }).load(null);
    const answer: Answer = ({ origin }) =>
      origin.agent === "main" && origin.step === 1 ? calling(delegate("researcher", "look")) : "done";
    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    await withTeam({ ...size, agentSource: { load: async () => registry }, answer }, async (team) => {
      const session = await team.begin("Find it.");
      expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 2 } } });
      expect(team.questions.map(({ origin }) => origin.agent)).toEqual(["main", "researcher", "main"]);
      for (const { system, origin } of team.questions) {
        expect(system.startsWith(registry.find(origin.agent)?.prompt ?? "no prompt")).toBe(true);
        expect([before, today()]).toContain(/^Date: (.*)$/m.exec(system)?.[1]);
        expect(/^CURRENT_SESSION_WORKSPACE: (.*)$/m.exec(system)?.[1]).toBe(session.workspace);
      }
    });
  });

  it("an expert of one domain gets its message alone, for any requested context", async () => {
    const answer = afterSomeWords(
      delegate("expert", "write to the captain", { context: "full", context_files: ["map.md"] }),
    );
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin(request);
      await writeFile(path.join(session.workspace, "map.md"), "the lake is in the north\n");
      expect(await session.response).toMatchObject({ status: "completed" });
      const [question] = askedOf(team, "expert");
      expect(question?.messages).toEqual([{ role: "user", text: "write to the captain" }]);
    });
  });

  it("an expert of one domain works alone, whatever agents its file allows", async () => {
    const experts = [...agents.slice(0, 2), { id: "expert", domain: "email", subagents: { allow: ["helper"] } }];
    const answer: Answer = ({ origin }) => {
      if (origin.step > 1) return "done";
      return { calls: [origin.agent === "main" ? delegate("expert", "write") : delegate("helper", "help")] };
    };
    await withTeam({ ...size, agents: experts, answer }, async (team) => {
      const session = await team.begin(request);
      expect(await session.response).toMatchObject({ status: "completed" });
      const [question, next] = askedOf(team, "expert");
      expect(question?.tools.map(({ name }) => name)).not.toContain("delegate");
      expect(next && toolResultsIn(next)).toMatchObject([{ isError: true }]);
      expect(askedOf(team, "helper")).toEqual([]);
    });
  });

  it("one summary serves all children of a turn, and is charged to the parent", async () => {
    const summaries = ["a", "b", "c"].map((task) => delegate("helper", task, { context: "summary" }));
    await withTeam({ ...size, agents, answer: afterSomeWords(...summaries) }, async (team) => {
      const session = await team.begin(request);
      const { metrics } = await session.response;
      const purposes = askedOf(team, "main").map(({ origin }) => origin.purpose ?? "turn");
      expect(purposes).toEqual(["turn", "turn", "summary", "turn"]);
      expect(metrics.totalTokens).toBe(4 * 15);
      const contexts = new Set((await team.tree(session)).slice(1).map((entries) => openedIn(entries).request.context));
      expect(contexts.size).toBe(1);
    });
  });

  it("an answer has to fit the schema in its parent's call", async () => {
    const output_schema = { type: "object", properties: { steps: { type: "integer" } }, required: ["steps"] };
    const answer: Answer = (question) => {
      const { agent, step, task } = question.origin;
      if (agent === "main") {
        return step === 1
          ? calling(...["fits", "is mended", "never fits"].map((each) => delegate("helper", each, { output_schema })))
          : "done";
      }
      const fits = task === "fits" || (task === "is mended" && step === 2);
      return fits ? '{"steps": 3}' : "three steps";
    };
    await withTeam({ ...size, agents, answer }, async (team) => {
      const session = await team.begin(request);
      await session.response;
      const of = new Map(settledIn(await team.entries(session)).map((response) => [response.request, response]));
      expect(of.get("fits")).toMatchObject({ status: "completed", data: { steps: 3 }, metrics: { iterations: 1 } });
      expect(of.get("is mended")).toMatchObject({
        status: "completed",
        data: { steps: 3 },
        metrics: { iterations: 2 },
      });
      expect(of.get("never fits")).toMatchObject({ status: "failed", error: { type: "verification" } });
      const told = askedOf(team, "main").flatMap(toolResultsIn);
      expect(told.map(({ isError }) => isError)).toEqual([false, false, true]);
      const mending = askedOf(team, "helper").find(({ origin }) => origin.task === "is mended" && origin.step === 2);
      expect(mending?.messages.at(-1)?.text).toContain("the answer is not JSON");
    });
  });

  describe("general-purpose", () => {
    let agentSource: Awaited<ReturnType<ReturnType<typeof createAgentSource>["load"]>>;
    beforeAll(async () => {
      agentSource = await createAgentSource({ userFolders: [] }).load(null);
    });

    it("has its parent's prompt and tools, and knows the task alone", async () => {
      const own = (await readFile(path.join(shippedAgentsFolder, "general-purpose.md"), "utf8"))
        .split("---")[2]
        ?.trim()
        .split("\n")[0];
      const answer: Answer = ({ origin }) => {
        if (origin.agent !== "main") return "did it as you would have";
        return origin.step === 1 ? calling(delegate("general-purpose", "sort the shells")) : "done";
      };
      await withTeam({ ...size, agentSource: { load: async () => agentSource }, answer }, async (team) => {
        const session = await team.begin(request);
        expect(await session.response).toMatchObject({ status: "completed", metrics: { subtree: { runs: 2 } } });
        const [parent, child] = (await team.tree(session)).map(openedIn);
        const words = agentSource.find("main")?.prompt ?? "";
        expect(parent?.pin.prompt.startsWith(words)).toBe(true);
        expect(child?.pin.prompt.startsWith(words)).toBe(true);
        expect(own).toBeTruthy();
        expect(child?.pin.prompt).not.toContain(own);
        expect(child?.pin.grant.tools).toEqual(parent?.pin.grant.tools);
        expect(child?.pin.targets).toEqual([]);
        const [question] = askedOf(team, "general-purpose");
        expect(question?.messages).toEqual([{ role: "user", text: "sort the shells" }]);
        expect(wordsIn(question as NonNullable<typeof question>)).not.toContain("oak");
      });
    });
  });
});
