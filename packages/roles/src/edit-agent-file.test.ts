import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentFileChanges, editAgentFile, readKeyValue } from "./edit-agent-file.ts";
import { newAgentFile } from "./new-agent-file.ts";
import { parseAgent } from "./parse-agent.ts";

const file = `---
# Who it is.
name: a # mine

description: >-
  Long text
  on two lines
tools: [read,   write] # keep
troupe:
  # Its limits.
  limits:
    maxIterations: 3 # few
  disabled: false # now
  # The end of troupe.
# Before the model.
model:    opus
---
Do it: # really
`;

function diff(changes: AgentFileChanges): string[] {
  const [before, after] = [file.split("\n"), editAgentFile(file, changes).split("\n")];
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
}

describe("an edit changes its own lines alone", () => {
  test.each<[AgentFileChanges, string[]]>([
    [{ model: "haiku" }, ["- model:    opus", "+ model: haiku"]],
    [{ model: undefined }, ["- model:    opus"]],
    [{ name: "b" }, ["- name: a # mine", "+ name: b # mine"]],
    [{ tools: ["read"] }, ["- tools: [read,   write] # keep", "+ tools: [read] # keep"]],
    [{ "troupe.disabled": true }, ["-   disabled: false # now", "+   disabled: true # now"]],
    [{ "troupe.limits.maxIterations": 9 }, ["-     maxIterations: 3 # few", "+     maxIterations: 9 # few"]],
    [{ "troupe.writes": ["docs"] }, ["+   writes: [docs]"]],
    [{ "subagents.allow": ["b"] }, ["+ subagents:", "+   allow: [b]"]],
    [
      { description: "x: y # z" },
      ["- description: >-", "-   Long text", "-   on two lines", '+ description: "x: y # z"'],
    ],
    [{ missing: undefined }, []],
    [{ "hooks.before": undefined }, []],
    [{ "troupe.limits.maxCost": undefined }, []],
    [{ "troupe.missing.below": undefined }, []],
  ])("%j", (changes, expected) => {
    expect(diff(changes)).toEqual(expected);
  });

  test("Windows lines and a byte order mark stay", () => {
    expect(editAgentFile("\uFEFF---\r\nname: a\r\nmodel:\r\n---\r\nx", { model: "opus", effort: "low" })).toBe(
      "\uFEFF---\r\nname: a\r\nmodel: opus\r\neffort: low\r\n---\r\nx",
    );
  });

  test("of an empty front matter adds the key", () => {
    expect(editAgentFile("---\n---\nx", { "troupe.limits.maxTokens": 3 })).toBe(
      "---\ntroupe:\n  limits:\n    maxTokens: 3\n---\nx",
    );
  });

  test("any printable text can be a description, and is read back", () => {
    const word = fc.string({ minLength: 1, unit: fc.constantFrom(..."-:[]{}&*!|>'\"%@`,?# \na\\ü漢😀") });
    fc.assert(
      fc.property(word, (description) => {
        fc.pre(description.trim() === description && description !== "");
        const { definition } = parseAgent({ path: "a.md", origin: "user", text: editAgentFile(file, { description }) });
        expect(definition).toMatchObject({ id: "a", description, model: "opus", limits: { maxIterations: 3 } });
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ["no front matter", "Do it."],
  ["front matter that is not YAML", "---\ndescription: a: b\n---\nx"],
  ["a list", "---\n- a\n---\nx"],
])("%s is refused", (_name, text) => {
  expect(() => editAgentFile(text, { model: "opus" })).toThrow(expect.objectContaining({ code: "INVALID_AGENT" }));
});

test.each([
  ["maxTurns", "3", 3],
  ["tools", "[read, write]", ["read", "write"]],
  ["tools", "read, write", "read, write"],
  ["disabled", "true", true],
  ["description", "Use it when: always", "Use it when: always"],
  ["name", "3", "3"],
  ["effort", "[", "["],
])("the value of %s %s is %j", (key, text, value) => {
  expect(readKeyValue(key, text)).toEqual(value);
});

test.each([
  ["---\nname: a\n---\n", { "troupe.disabled": undefined }, "---\nname: a\n---\n"],
  ["---\ntroupe:\n---\n", { "troupe.disabled": undefined }, "---\ntroupe:\n---\n"],
  ["---\ntroupe:\nname: a\n---\n", { "troupe.disabled": true }, "---\ntroupe:\n  disabled: true\nname: a\n---\n"],
])("a file %j without the key takes %j", (text, changes, expected) => {
  expect(editAgentFile(text, changes)).toBe(expected);
});

describe("a new file", () => {
  test("of the template is valid and has comments", () => {
    const text = newAgentFile({ name: "archivist", description: "Use it: always" });
    const { definition, problems } = parseAgent({ path: "x.md", origin: "project", text });
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({ id: "archivist", description: "Use it: always" });
    expect(text).toContain("\n# When to delegate to this agent.");
  });

  test("of another agent keeps everything but its id", () => {
    const from = file.replace("name: a # mine", "name: Some Name\nid: some-id");
    const { definition } = parseAgent({ path: "x.md", origin: "user", text: newAgentFile({ name: "b", from }) });
    expect(definition).toMatchObject({ id: "b", name: "b", description: "Long text on two lines", model: "opus" });
  });

  test.each(["", "../x", "a b", "a/b"])("%j is not a name", (name) => {
    expect(() => newAgentFile({ name })).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});
