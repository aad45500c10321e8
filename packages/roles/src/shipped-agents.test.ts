import { AgentDefinition } from "@troupe/core";
import { expect, test } from "vitest";
import { createCompanySource, shippedAgentsFolder } from "./company-source.ts";
import { validateAgents } from "./validate-agents.ts";

// The agents that come with the package: their caps and their arrows are part of what it promises.

const company = await createCompanySource({ userFolders: [] }).load(null);

test("the lint finds nothing, not even a warning", async () => {
  const { agents, problems } = await validateAgents([shippedAgentsFolder]);
  expect(problems).toEqual([]);
  expect(agents).toHaveLength(8);
  expect(company.problems).toEqual([]);
});

const minute = 60_000;
test.each([
  ["main", ["read", "write", "shell"], 50, 10 * minute],
  ["general-purpose", null, undefined, undefined],
  ["researcher", ["read"], 15, undefined],
  ["planner", ["read"], 15, undefined],
  ["coder", ["read", "write", "shell"], 30, 5 * minute],
  ["tester", ["read", "write", "shell"], 20, 3 * minute],
  ["reviewer", ["read", "shell"], 10, 2 * minute],
  ["debugger", ["read", "write", "shell"], 25, 4 * minute],
])("%s has its tools and caps, and the default model", (id, tools, maxIterations, maxDurationMs) => {
  const definition = AgentDefinition.parse(company.find(id));
  expect(definition).toMatchObject({ id, tools, model: "inherit", source: { origin: "builtin" } });
  expect(company.find(id)?.limits.maxIterations).toBe(maxIterations);
  expect(company.find(id)?.limits.maxDurationMs).toBe(maxDurationMs);
});

test("main delegates to everyone, coder to the tester, and nobody else delegates", () => {
  const arrows = company.agents.filter(({ subagents }) => subagents.allow.length > 0);
  expect(Object.fromEntries(arrows.map(({ id, subagents }) => [id, subagents.allow.toSorted()]))).toEqual({
    main: ["coder", "debugger", "general-purpose", "planner", "researcher", "reviewer", "tester"],
    coder: ["tester"],
  });
});
