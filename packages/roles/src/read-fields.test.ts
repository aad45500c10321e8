import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { parseAgent } from "./parse-agent.ts";

// Many agent files are not valid YAML. They must still work, and their problems must be reported.

function parse(...lines: string[]) {
  return parseAgent({ path: "wild.md", origin: "claude", text: ["---", ...lines, "---", "Do it."].join("\n") });
}

describe("front matter that is not YAML", () => {
  test("an unquoted description with examples is kept whole", () => {
    const examples =
      'Use for notes. Examples: <example>Context: a talk. user: "Write it down" assistant: "Yes"</example>';
    const { definition, problems } = parse(
      "name: notes",
      `description: ${examples}`,
      "tools: Read, Write",
      "color: red",
    );
    expect(definition).toMatchObject({ id: "notes", description: examples, tools: ["read", "write"] });
    expect(problems).toMatchObject([{ severity: "warning", code: "invalid-yaml", line: 3, column: 14 }]);
    expect(problems[0]?.fix).toBe(`quote the value: description: ${JSON.stringify(examples)}`);
  });

  test("the suggested line is YAML with the same meaning", () => {
    const { problems, definition } = parse("name: a", 'description: "say "hi": now"');
    const line = problems[0]?.fix?.replace("quote the value: ", "") ?? "";
    expect(parseDocument(line).toJS()).toEqual({ description: definition?.description });
    expect(definition?.description).toBe('say "hi": now');
  });

  test("a multi-line description, even with lines like keys, ends at the next known key", () => {
    const { definition, problems } = parse(
      "name: a",
      "description: First: one",
      "Context: two",
      "user: three: 3",
      "model: opus",
    );
    expect(definition).toMatchObject({ description: "First: one\nContext: two\nuser: three: 3", model: "opus" });
    expect(problems).toHaveLength(1);
  });

  test("a long value gets the advice without the line", () => {
    const { problems } = parse("name: a", `description: Long: ${"word ".repeat(80)}: end`);
    expect(problems[0]?.fix).toContain("description: >-");
  });

  test.each([
    ["tools: *", null],
    ["tools: [Read, Bash", ["read", "shell"]],
  ])("%s", (line, tools) => {
    const { definition, problems } = parse("name: a", "description: d", line);
    expect(definition?.tools).toEqual(tools);
    expect(problems).toMatchObject([{ severity: "warning", code: "invalid-yaml", line: 4 }]);
  });

  test.each(["*bold* words", "*bold*", "@someone", "!important thing", "`code` first", "it's: fine", "'it's'"])(
    "description: %s",
    (words) => {
      const { definition, problems } = parse("name: a", `description: ${words}`);
      expect(definition?.description).toBe(words.replace(/^'(.*)'$/, "$1"));
      expect(problems).toMatchObject([{ severity: "warning", code: "invalid-yaml", line: 3 }]);
    },
  );

  test("valid keys keep their structure", () => {
    const { definition } = parse(
      "name: a",
      "description: x: y: z",
      "subagents:",
      "  deny: [b]",
      "  allow: [c]",
      "tools:",
      "  - Read",
    );
    expect(definition).toMatchObject({ subagents: { allow: ["c"], deny: ["b"] }, tools: ["read"] });
  });

  test("the permissions of an agent are never guessed", () => {
    const { definition, problems } = parse("name: a", "description: d", "subagents:", "  allow: [b", "model: opus");
    expect(definition).toBeNull();
    expect(problems).toMatchObject([{ severity: "error", code: "invalid-yaml" }]);
    expect(problems[0]?.line).toBeGreaterThanOrEqual(4);
  });

  test("a duplicate key is an error here too", () => {
    const { definition, problems } = parse("name: a", "description: x: y", "name: b");
    expect(definition).toBeNull();
    expect(problems).toMatchObject([{ code: "invalid-yaml" }, { code: "duplicate-key", line: 4, column: 1 }]);
  });

  test("no field is found if no line begins with a known key", () => {
    expect(parse("{ name: a", "x")).toMatchObject({
      definition: null,
      problems: [{ severity: "error", code: "invalid-yaml" }],
    });
  });
});
