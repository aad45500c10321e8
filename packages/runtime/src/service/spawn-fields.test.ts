/** The sub-agent that a `/spawn` names: found by its name in the agent's reach, or refused before anything starts. */
import { AgentDefinition, type AgentRegistry, GrantLayer } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { spawnFields } from "./spawn-fields.ts";

const definition = (id: string, changes: Partial<AgentDefinition> = {}): AgentDefinition =>
  AgentDefinition.parse({
    ...{ id, name: id, description: id, prompt: id, source: { origin: "builtin", path: `${id}.md` } },
    ...changes,
  });
const agents = [
  definition("main", { subagents: { allow: ["researcher", "coder"] } as AgentDefinition["subagents"] }),
  definition("researcher"),
  definition("coder"),
  definition("debugger"),
  definition("news_lead", { team: "news", subagents: { allow: ["*"] } as AgentDefinition["subagents"] }),
  definition("news_coder", { team: "news" }),
];
const problems = [
  {
    ...{ path: "/w/.troupe/agents/broken.md", line: 2, column: 1, severity: "error" as const, code: "invalid-yaml" },
    ...{ message: "a value needs quotes", fix: "quote it" },
  },
];
const find = (id: string) => agents.find((agent) => agent.id === id);
const registry: AgentRegistry = { agents, teams: [], problems, find, renderPrompt: () => "" };
const scope = { registry, layers: [], specs: [] };
const [main, lead] = [agents[0], agents[4]] as [AgentDefinition, AgentDefinition];

describe("a /spawn names", () => {
  test("an agent in reach", () => {
    expect(spawnFields({ task: "/spawn coder Go" }, main, scope)).toEqual({ spawn: { agent: "coder", task: "Go" } });
  });

  test("an agent of the same team first, in any of its forms", () => {
    for (const name of ["coder", "news/coder", "news_coder"]) {
      expect(spawnFields({ task: `/spawn ${name} Go` }, lead, scope).spawn?.agent).toBe("news_coder");
    }
  });
});

describe("a /spawn is refused", () => {
  const errorOf = (task: string, agent = main, layers: readonly GrantLayer[] = []): unknown => {
    try {
      return spawnFields({ task }, agent, { ...scope, layers });
    } catch (error) {
      return error;
    }
  };

  test("with a wrong name, which lists the agents and suggests one", () => {
    expect(errorOf("/spawn codr Go")).toMatchObject({
      code: "UNKNOWN_AGENT",
      message: '/spawn: no agent is called "codr"; available: coder, researcher',
      fix: "did you mean coder?",
    });
  });

  test("for an agent whose file has a mistake, which names the line", () => {
    expect(errorOf("/spawn broken Go")).toMatchObject({
      code: "INVALID_AGENT",
      message: expect.stringContaining("/w/.troupe/agents/broken.md:2"),
    });
  });

  test("for an agent that the agent may not delegate to", () => {
    expect(errorOf("/spawn debugger Go")).toMatchObject({
      code: "USAGE",
      message: "main may not delegate to debugger; it may delegate to: coder, researcher",
      fix: 'troupe run --agent debugger "…"',
    });
  });

  test("for the agent itself", () => {
    expect(errorOf("/spawn main Go")).toMatchObject({
      code: "USAGE",
      fix: expect.stringContaining("leave /spawn out"),
    });
    expect(errorOf("/spawn lead Go", lead)).toMatchObject({ code: "USAGE" });
  });

  test("for an agent that the session's grant leaves out", () => {
    const layers = [GrantLayer.parse({ from: "session", kind: "session", agents: ["researcher"] })];
    expect(errorOf("/spawn coder Go", main, layers)).toMatchObject({
      code: "USAGE",
      message: "main may not delegate to coder; it may delegate to: researcher",
    });
  });

  test("without a task, and the error shows the form and the agents", () => {
    expect(errorOf("/spawn coder")).toMatchObject({
      code: "USAGE",
      message: "/spawn coder needs a task for the agent: /spawn AGENT [--context full|summary|task_only] TASK",
      fix: "the agents are: coder, researcher",
    });
  });
});

test.each([
  { task: "explain /spawn coder" },
  { task: "/spawned coder" },
  { task: "/spawn coder Go", makesPlan: true as const },
])("%j starts nothing by itself", (submission) => {
  expect(spawnFields(submission, main, scope)).toEqual({});
});
