import { describe, expect, test } from "vitest";
import { aDefinition } from "../machines/fixtures.test-helper.ts";
import type { AgentDefinition } from "../protocol/agent.ts";
import { GrantLayer } from "../protocol/request.ts";
import { type EffectClass, ToolSpec } from "../protocol/tool.ts";
import { abilitiesOf, abilityOf, reachOf, toolChoiceOf } from "./agent-reach.ts";

const spec = (name: string, effect: EffectClass, ...groups: string[]): ToolSpec =>
  ToolSpec.parse({ name, description: `${name} does it. More text.`, risk: "low", effect, groups, inputSchema: {} });
const specs = [
  spec("read", "read", "filesystem"),
  spec("write", "verifiable", "filesystem"),
  spec("shell", "unsafe", "shell"),
  spec("git_diff", "read", "git"),
  spec("web_fetch", "read", "web"),
  spec("mcp__crm__lookup", "read"),
  spec("notes", "idempotent", "memory"),
];
const policy = GrantLayer.parse({ from: "policy", kind: "policy" });
const agent = (changes: Partial<AgentDefinition> = {}): AgentDefinition => ({
  ...aDefinition(),
  id: "clerk",
  ...changes,
});
const helper = { ...aDefinition(), id: "helper" };
const allowing = (allow: string[], deny: string[] = []): Partial<AgentDefinition> => ({
  subagents: { allow, deny, execution: "parallel", max_concurrent: 5 },
});

test.each([
  ["read", null],
  ["write", "changes_files"],
  ["shell", "runs_commands"],
  ["git_diff", null],
  ["web_fetch", "talks_outward"],
  ["mcp__crm__lookup", "talks_outward"],
  ["notes", "acts_otherwise"],
])("the ability of %s is %s", (name, ability) => {
  const found = specs.find((each) => each.name === name);
  expect(found && abilityOf(found)).toBe(ability);
});

test("a tool as a choice has the first sentence of its description", () => {
  expect(specs[1] && toolChoiceOf(specs[1])).toEqual({
    name: "write",
    description: "write does it.",
    groups: ["filesystem"],
    ability: "changes_files",
  });
});

describe("the abilities of an agent", () => {
  test.each<[string, Partial<AgentDefinition>, string[]]>([
    ["that reads", { tools: ["read"] }, []],
    ["without tools", { tools: [] }, []],
    ["with all tools", { tools: null }, ["changes_files", "runs_commands", "talks_outward", "acts_otherwise"]],
    [
      "with all tools but commands",
      { disallowedTools: ["Bash"] },
      ["changes_files", "talks_outward", "acts_otherwise"],
    ],
    ["with a pattern of commands", { tools: ["shell(git status:*)"] }, ["runs_commands"]],
    ["that may write nowhere", { tools: ["write"], writes: [] }, []],
    ["that only plans", { tools: null, permissionMode: "plan" }, ["talks_outward"]],
    ["that delegates", { tools: ["read"], ...allowing(["helper"]) }, ["delegates"]],
    ["whose only target is denied", { tools: ["read"], ...allowing(["helper"], ["helper"]) }, []],
    ["that denies delegating", { tools: ["read"], disallowedTools: ["Task"], ...allowing(["helper"]) }, []],
    ["of one domain", { tools: ["read"], domain: "mail", ...allowing(["helper"]) }, []],
  ])("%s", (_, changes, expected) => {
    const definition = agent(changes);
    expect(abilitiesOf(definition, specs, policy)).toEqual(expected);
    expect(reachOf(definition, { tools: specs, agents: [definition, helper] }, policy).abilities).toEqual(expected);
  });

  test("end where the policy of the machine ends", () => {
    const strict = { ...policy, denyTools: ["shell"], denyAgents: ["helper"] };
    const definition = agent({ tools: ["shell", "write"], ...allowing(["helper"]) });
    expect(abilitiesOf(definition, specs, strict)).toEqual(["changes_files"]);
    const { abilities, decisions } = reachOf(definition, { tools: specs, agents: [helper] }, strict);
    expect(abilities).toEqual(["changes_files"]);
    expect(decisions.find(({ name }) => name === "shell")?.reason).toBe("denied by this machine's policy");
    expect(decisions.filter(({ kind }) => kind === "agent")).toEqual([]);
  });
});
