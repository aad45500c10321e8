import type { AgentFileRow, AgentForm, AgentProblem } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { findAgents, isSameForm, projectFolders, suggestionFor, toolsByAbility } from "./agent-editor.ts";

const problem = (code: string, message: string, fix: string | null): AgentProblem => ({
  ...{ path: "/a.md", line: 5, column: 1, severity: "warning", code, message, fix },
});

describe("an unknown name", () => {
  const problems = [
    problem("unknown-key", 'something about "Raed"', "did you mean other?"),
    problem("unknown-tool", 'clerk: tools names "Raed", but no tool here has that name', "did you mean read?"),
    problem("unknown-target", 'clerk may delegate to "revewer", which does not exist', "did you mean reviewer?"),
    problem("disabled-target", 'clerk may delegate to "tester", which is disabled', "remove tester, or enable it"),
  ];

  it.each([
    ["Raed", "read"],
    ["revewer", "reviewer"],
    ["tester", null],
  ])("%s has the nearest known name, if there is one", (name, nearest) => {
    expect(suggestionFor(name, problems)?.name).toBe(nearest);
  });

  it("is only one that a problem names", () => {
    expect(suggestionFor("read", problems)).toBeNull();
    expect(suggestionFor("Rae", problems)).toBeNull();
  });
});

describe("the search", () => {
  const row = (id: string, more: Partial<AgentFileRow> = {}): AgentFileRow => ({
    ...{
      id,
      name: id,
      description: `does ${id}`,
      tools: null,
      subagents: [],
      model: "inherit",
      origin: "user",
      path: id,
    },
    ...{ disabled: false, broken: false, abilities: [], editing: "file", reason: null, replaces: null, ...more },
  });
  const rows = [
    row("coder"),
    row("clerk", { description: "Files documents" }),
    row("x_lead", { team: "x", origin: "builtin" }),
  ];
  const ids = (text: string, origin = ""): string[] => findAgents(rows, text, origin).map(({ id }) => id);

  it("finds all words, in ids and descriptions", () => {
    expect(ids("")).toEqual(["coder", "clerk", "x_lead"]);
    expect(ids("DOCUMENTS clerk")).toEqual(["clerk"]);
    expect(ids("documents coder")).toEqual([]);
  });

  it("knows the groups", () => {
    expect([ids("", "user"), ids("", "team"), ids("", "builtin")]).toEqual([["coder", "clerk"], ["x_lead"], []]);
  });
});

it("tools are grouped by the ability that they give", () => {
  const tools = [
    { name: "read", description: "", groups: [], ability: null },
    { name: "shell", description: "", groups: [], ability: "runs_commands" as const },
  ];
  expect([...toolsByAbility(["read", "shell", "gone"], tools)]).toEqual([
    [null, ["read", "gone"]],
    ["runs_commands", ["shell"]],
  ]);
});

it("the order of the limits does not make another form", () => {
  const form = {
    description: "d",
    limits: { maxDepth: "1", maxTokens: "2" },
    tools: ["b", "a"],
  } as unknown as AgentForm;
  expect(isSameForm(form, { ...form, limits: { maxTokens: "2", maxDepth: "1" } })).toBe(true);
  expect(isSameForm(form, { ...form, limits: { maxTokens: "2", maxDepth: "3" } })).toBe(false);
  expect(isSameForm(form, { ...form, tools: ["a", "b"] })).toBe(false);
  expect(isSameForm(form, null)).toBe(false);
});

it("folders of sessions are projects, unless the daemon made them", () => {
  const home = "/home/me/.troupe";
  expect(projectFolders(["/b", "/a", "/b", "", home, `${home}/workspaces/1`, "/home/me/.troupe-other"], home)).toEqual([
    "/a",
    "/b",
    "/home/me/.troupe-other",
  ]);
});
