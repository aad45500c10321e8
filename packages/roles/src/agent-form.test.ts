import type { AgentForm } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { applyAgentForm, readAgentForm } from "./agent-form.ts";
import { parseAgent } from "./parse-agent.ts";

const file = `---
# Who it is.
name: clerk # mine
colour: blue
description: Files documents
tools: Read, Agent(reviewer), shell(git log:*)
maxTurns: 12
troupe:
  # Its limits.
  limits: {maxDurationMs: 2m} # short
# Before the targets.
subagents:
  allow: [reviewer] # one
---

You file.
`;

const changed = (changes: Partial<AgentForm>): string[] => {
  const after = applyAgentForm(file, { ...readAgentForm(file), ...changes }).split("\n");
  const before = file.split("\n");
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
};

test("a form has the values as the file writes them", () => {
  expect(readAgentForm(file)).toEqual({
    description: "Files documents",
    model: "",
    tools: ["Read", "Agent(reviewer)", "shell(git log:*)"],
    disallowedTools: [],
    allow: ["reviewer"],
    deny: [],
    execution: "",
    maxConcurrent: "",
    limits: { maxIterations: "12", maxDurationMs: "2m" },
    writes: null,
    disabled: false,
    prompt: "You file.",
  });
});

test("a form without changes leaves the file as it is, byte for byte", () => {
  const windows = `\uFEFF${file.replaceAll("\n", "\r\n")}`;
  expect(applyAgentForm(file, readAgentForm(file))).toBe(file);
  expect(applyAgentForm(windows, readAgentForm(windows))).toBe(windows);
});

describe("a change of a field changes its own lines alone", () => {
  test.each<[string, Partial<AgentForm>, string[]]>([
    ["the description", { description: "a: b # c" }, ["- description: Files documents", '+ description: "a: b # c"']],
    ["a model", { model: "haiku" }, ["+ model: haiku"]],
    [
      "the tools",
      { tools: ["read", "write"] },
      ["- tools: Read, Agent(reviewer), shell(git log:*)", "+ tools: [read, write]"],
    ],
    ["no tools", { tools: [] }, ["- tools: Read, Agent(reviewer), shell(git log:*)", "+ tools: []"]],
    ["all tools", { tools: null }, ["- tools: Read, Agent(reviewer), shell(git log:*)"]],
    ["a denied tool", { disallowedTools: ["shell"] }, ["+ disallowedTools: [shell]"]],
    [
      "another target",
      { allow: ["reviewer", "coder"] },
      ["-   allow: [reviewer] # one", "+   allow: [reviewer, coder] # one"],
    ],
    ["a denied target", { deny: ["coder"] }, ["+   deny: [coder]"]],
    ["the mode", { execution: "sequential" }, ["+   execution: sequential"]],
    ["the number at once", { maxConcurrent: "2" }, ["+   max_concurrent: 2"]],
    [
      "a limit under its short name",
      { limits: { maxIterations: "9", maxDurationMs: "2m" } },
      ["- maxTurns: 12", "+ maxTurns: 9"],
    ],
    [
      "another limit",
      { limits: { maxIterations: "12", maxDurationMs: "2m", maxDepth: "1" } },
      ["-   limits: {maxDurationMs: 2m} # short", "+   limits: {maxDurationMs: 2m, maxDepth: 1} # short"],
    ],
    ["folders", { writes: ["docs"] }, ["+   writes: [docs]"]],
    ["off", { disabled: true }, ["+   disabled: true"]],
    ["the prompt", { prompt: "You file.\n\nTwice." }, ["+ Twice."]],
  ])("%s", (_, changes, expected) => {
    expect(changed(changes)).toEqual(expected);
  });

  test("and the result is the agent that the form describes", () => {
    const form: AgentForm = {
      ...readAgentForm(file),
      ...{ model: "opus", tools: ["read"], disallowedTools: ["web"], allow: ["coder"], deny: ["tester"] },
      ...{ execution: "sequential", maxConcurrent: "3", writes: ["docs"], disabled: true, prompt: "New." },
    };
    const text = applyAgentForm(file, form);
    expect(parseAgent({ path: "clerk.md", origin: "user", text }).definition).toMatchObject({
      ...{ id: "clerk", model: "opus", tools: ["read"], disallowedTools: ["web"], disabled: true, prompt: "New." },
      ...{ subagents: { allow: ["coder"], deny: ["tester"], execution: "sequential", max_concurrent: 3 } },
      ...{ writes: ["docs"], limits: { maxIterations: 12, maxDurationMs: 120_000 } },
    });
    expect(readAgentForm(text)).toEqual(form);
    expect(text).toContain("# Who it is.\nname: clerk # mine\ncolour: blue\n");
  });
});

test.each([
  ["no front matter", "Do it."],
  ["YAML with an error", "---\ndescription: a: b\n---\nx"],
  ["a list in place of keys", "---\n- a\n---\nx"],
  ["a key that appears twice", "---\nmodel: a\nmodel: b\n---\nx"],
  ["a list of lists", "---\ntools: [[read]]\n---\nx"],
  ["troupe that is a text", "---\ntroupe: yes please\n---\nx"],
  ["limits that are a number", "---\ntroupe: {limits: 3}\n---\nx"],
  ["an unknown mode", "---\nsubagents: {execution: sideways}\n---\nx"],
])("a file with %s has no fields", (_, text) => {
  expect(() => readAgentForm(text)).toThrow(expect.objectContaining({ code: "INVALID_AGENT" }));
});
