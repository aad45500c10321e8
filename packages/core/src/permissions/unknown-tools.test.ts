import { describe, expect, test } from "vitest";
import { AgentDefinition } from "../protocol/agent.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { agentSummaryOf } from "./agent-summary.ts";
import { explainGrant, lackOfTools } from "./grant.ts";
import { explainUnknownTool } from "./unknown-tools.ts";

const specOf = (name: string, effect: ToolSpec["effect"], groups: string[]): ToolSpec => ({
  ...{ name, description: name, groups, risk: "low", effect },
  inputSchema: {},
});
const specs = [
  specOf("read", "read", ["files"]),
  specOf("write", "verifiable", ["files"]),
  specOf("shell", "unsafe", []),
];

function agent(fields: Partial<AgentDefinition>): AgentDefinition {
  const essentials = { id: "a", name: "a", description: "d", prompt: "p" };
  return AgentDefinition.parse({ ...essentials, source: { origin: "project", path: "a.md" }, ...fields });
}

test.each(["read", "Read", "files", "*", "Task", "shell(git log:*)", "Bash(git log:*)", "runCommands", "re*"])(
  "%s means a tool here",
  (item) => {
    expect(explainUnknownTool(item, specs)).toBeNull();
  },
);

test.each(["Raed", "mcp__x", "mcp__x__*", "TodoRead", "githubRepo", "edit", "a b", "fly(git:*)"])(
  "%s means none",
  (item) => {
    expect(explainUnknownTool(item, specs)).not.toBeNull();
  },
);

describe("an agent lacks tools", () => {
  test.each<[string, Partial<AgentDefinition>, string | null]>([
    [
      "if none of its tools exists",
      { tools: ["Raed", "problems"] },
      'none of its tools exists here: "Raed", "problems"',
    ],
    ["but not if one does", { tools: ["Raed", "Read"] }, null],
    ["but not if it has a group", { tools: ["files"] }, null],
    ["but not if it has none on purpose", { tools: [] }, null],
    ["but not if it has all", { tools: null }, null],
    ["but not if it delegates", { tools: ["Raed"], subagents: { ...agent({}).subagents, allow: ["b"] } }, null],
    ["but not if another host has it", { tools: ["Raed"], source: { origin: "remote", path: "h" } }, null],
  ])("%s", (_case, fields, lack) => {
    expect(lackOfTools(agent(fields), specs)).toBe(lack);
    expect(agentSummaryOf(agent(fields), undefined, specs).unusable ?? null).toBe(lack);
  });

  test("and explain says so", () => {
    const parent = agent({ id: "p", subagents: { ...agent({}).subagents, allow: ["*"] } });
    const decisions = explainGrant([], parent, { tools: specs, agents: [agent({ tools: ["Raed"] })] });
    expect(decisions.find(({ kind }) => kind === "agent")).toMatchObject({
      granted: false,
      reason: 'not usable: none of its tools exists here: "Raed"',
    });
  });
});

test("explain shows the commands and folders to which a granted tool is restricted", () => {
  const fields = { tools: ["shell(git diff:*)", "write"], disallowedTools: ["shell(git push:*)"], writes: ["docs"] };
  const decisions = explainGrant([], agent(fields), { tools: specs, agents: [] });
  expect(decisions.map(({ name, reason }) => [name, reason])).toEqual([
    ["read", "not among the tools of the agent a"],
    ["write", "every layer lets it through; a lets it write only in docs"],
    ["shell", "every layer lets it through; a allows only shell(git diff:*); a denies shell(git push:*)"],
  ]);
});
