import type { AgentProblem } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { parseAgent } from "./parse-agent.ts";

// The keys below troupe: limits, budget, retry and the rest. Each problem has its location.

/** A file with `troupe:` on line 4, and the given lines below it. */
function parse(...lines: string[]) {
  const indented = lines.map((line) => `  ${line}`);
  const text = ["---", "name: a", "description: d", "troupe:", ...indented, "---", "Do it.", ""].join("\n");
  return parseAgent({ path: "a.md", origin: "project", text });
}

function shortly({ severity, line, column, code, fix }: AgentProblem): string {
  return `${severity} ${line}:${column} ${code}: ${fix}`;
}

describe("valid keys below troupe", () => {
  const table: [line: string, settings: object][] = [
    [
      "budget: {tokens: 90000, costUsd: 0.5, toolCalls: 40, spawns: 0}",
      { budget: { tokens: 90_000, costUsd: 0.5, toolCalls: 40, spawns: 0 } },
    ],
    ["budget: {toolCalls: 0}", { budget: { toolCalls: 0 } }],
    ["budget: {}", { budget: {} }],
    ["promptFrom: parent", { promptFrom: "parent" }],
    ["temperature: 0", { temperature: 0 }],
    ["temperature: 2", { temperature: 2 }],
    ["temperature:", { temperature: null }],
    ["domain: email", { domain: "email" }],
    ["disabled: true", { disabled: true }],
    ["retry: {alternative: b}", { retry: { alternative: "b", maxAttempts: 2 } }],
    ["limits: {maxOutputTokens: 2000, maxChildren: 3}", { limits: { maxOutputTokens: 2_000, maxChildren: 3 } }],
    [
      "outputSchema: {type: array, items: {type: string}}",
      { outputSchema: { type: "array", items: { type: "string" } } },
    ],
  ];

  test.each(table)("%s", (line, settings) => {
    const { definition, problems } = parse(line);
    expect(problems).toEqual([]);
    expect(definition).toMatchObject(settings);
  });

  test("a budget and limits have the values of the file, and no defaults", () => {
    const { definition } = parse("budget: {tokens: 5}", "limits: {maxChildren: 3}");
    expect([definition?.budget, definition?.limits]).toEqual([{ tokens: 5 }, { maxChildren: 3 }]);
  });
});

describe("invalid keys below troupe", () => {
  const table: [line: string, problem: string][] = [
    ["budget: 5", "error 5:11 wrong-type: put keys below budget:, indented by two spaces"],
    ["budget: {token: 5}", "error 5:12 unknown-key: did you mean tokens?"],
    ["budget: {tokens: 0}", "error 5:20 invalid-value: write a number above 0"],
    ["budget: {tokens: 1.5}", "error 5:20 wrong-type: write tokens: and the value, or remove the line"],
    ["budget: {tokens: null}", "error 5:20 wrong-type: write tokens: and the value, or remove the line"],
    ["budget: {costUsd: -1}", "error 5:21 invalid-value: write a number above 0"],
    ["budget: {spawns: many}", "error 5:20 wrong-type: write spawns: and the value, or remove the line"],
    ["budget: {toolCalls: -1}", "error 5:23 invalid-value: write a number of at least 0"],
    ["promptFrom: user", "error 5:15 invalid-value: write promptFrom: own or promptFrom: parent"],
    ["promptfrom: parent", "error 5:3 unknown-key: did you mean promptFrom?"],
    ["budget:", "error 5:3 wrong-type: write budget: and the value, or remove the line"],
    ["temperature: 2.1", "error 5:16 invalid-value: write a number of at most 2"],
    ["temperature: -1", "error 5:16 invalid-value: write a number of at least 0"],
    ["temperature: warm", "error 5:16 wrong-type: write temperature: and the value, or remove the line"],
    ["domain: e mail", "error 5:11 invalid-id: write it in letters, digits, - and _ only"],
    ["domain: [email]", "error 5:11 wrong-type: write domain: and the value, or remove the line"],
    ["disabled: yes", "error 5:13 wrong-type: write disabled: true or disabled: false"],
    ["disable: true", "error 5:3 unknown-key: did you mean disabled?"],
    ["retry: {alternative: b c}", "error 5:24 invalid-id: write the id of an agent: letters, digits, - and _ only"],
    ["retry: {alternatives: b}", "error 5:11 unknown-key: did you mean alternative?"],
    ["limits: {maxOutputTokens: 0}", "error 5:29 invalid-value: write a number above 0"],
    ["limits: {max_children: 3}", "error 5:12 unknown-key: did you mean maxChildren?"],
    ["maxIterations: 3", "error 5:3 unknown-key: move it below limits:, indented by two spaces"],
    ["spawns: 3", "error 5:3 unknown-key: move it below budget:, indented by two spaces"],
    ["alternative: b", "error 5:3 unknown-key: move it below retry:, indented by two spaces"],
    ["outputSchema: text", "error 5:17 wrong-type: put keys below outputSchema:, indented by two spaces"],
    ["outputSchema: {const: .inf}", "error 5:25 invalid-value: write const: and the value, or remove the line"],
  ];

  test.each(table)("%s", (line, problem) => {
    const { definition, problems } = parse(line);
    expect(problems.map(shortly)).toEqual([problem]);
    expect(definition).toBeNull();
  });

  test("the message quotes a value that JSON does not have as written", () => {
    expect(parse("outputSchema: {const: .inf}").problems[0]?.message).toBe(
      "troupe.outputSchema.const is Infinity; expected a value that JSON supports",
    );
  });

  test.each([
    ["temperature: 0.2", "move it below troupe: as temperature"],
    ["disabled: true", "move it below troupe: as disabled"],
    ["output_schema: {}", "move it below troupe: as outputSchema"],
    ["costUsd: 1", "move it below budget:, below troupe:"],
    ["maxAttempts: 1", "move it below retry:, below troupe:"],
  ])("%s at the top → %s", (line, fix) => {
    const text = `---\nname: a\ndescription: d\n${line}\n---\nx`;
    expect(parseAgent({ path: "a.md", origin: "project", text }).problems).toMatchObject([
      { code: "unknown-key", fix },
    ]);
  });
});

describe("contradictory settings", () => {
  test.each([
    ["domain: email", "subagents: {allow: [b]}", ["error 5:21 domain-agent-delegates"]],
    ["domain: email", "tools: [read, Agent(b)]", ["error 5:15 domain-agent-delegates"]],
    ["domain: email", "subagents: {deny: [b]}", []],
    ["domain: email, contextMode: full", "model: opus", ["warning 4:38 ignored-context-mode"]],
    ["contextMode: full", "model: opus", []],
    ["retry: {alternative: a}", "model: opus", ["error 4:31 self-alternative"]],
  ])("troupe: {%s}, %s", (troupe, line, expected) => {
    const text = `---\nname: a\ndescription: d\ntroupe: {${troupe}}\n${line}\n---\nx`;
    const { definition, problems } = parseAgent({ path: "a.md", origin: "project", text });
    expect(problems.map((problem) => shortly(problem).split(": ")[0])).toEqual(expected);
    expect(definition === null).toBe(expected.some((problem) => problem.startsWith("error")));
    for (const { fix } of problems) expect(fix).toBeTruthy();
  });
});

const parseEffort = (effort: string) =>
  parseAgent({
    path: "a.md",
    origin: "project",
    text: `---\nname: a\ndescription: d\neffort: ${effort}\n---\nDo it.\n`,
  });

test.for<[string, string | null]>([
  ["", null],
  ["none", "none"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["max", "max"],
  ["High", "high"],
  ["xhigh", "high"],
  ["minimal", "low"],
  ["0", "none"],
  ["20", "low"],
  ["50", "medium"],
  ["80", "high"],
  ["100", "max"],
  ["2000", "low"],
  ["10000", "medium"],
  ["32000", "high"],
  ["100000", "max"],
])("effort: %s is %s", ([written, effort]) => {
  const { definition, problems } = parseEffort(written);
  expect(problems).toEqual([]);
  expect(definition?.effort).toBe(effort);
});

describe("an invalid effort is reported with its place", () => {
  test.for([
    ["hgh", "did you mean high?"],
    ["-1", "write effort: medium, or remove the line"],
    ["2.5", "write effort: medium, or remove the line"],
    ["[low]", "low"],
    ["constructor", "write effort: medium, or remove the line"],
  ])("%s", ([written = "", fix]) => {
    const { definition, problems } = parseEffort(written);
    expect(definition).toBeNull();
    expect(problems).toMatchObject([
      { severity: "error", line: 4, column: 9, fix: expect.stringContaining(fix ?? "") },
    ]);
  });
});

describe("triggers and checks of children", () => {
  const lead = (...lines: string[]) =>
    parseAgent({
      path: "a.md",
      origin: "project",
      text: ["---", "name: a", "description: d", "subagents: {allow: [b]}", "troupe:", ...lines, "---", "Do it."].join(
        "\n",
      ),
    });

  test("are read with their defaults", () => {
    const { definition, problems } = lead(
      "  triggers: [{words: [report], agent: b}]",
      "  childVerifiers: [{name: files-exist, params: {paths: [a.txt]}}]",
      "  observers: [{name: save-search-results}]",
    );
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      triggers: [{ words: ["report"], agent: "b", after: [] }],
      childVerifiers: [{ name: "files-exist", agent: null, words: [], params: { paths: ["a.txt"] } }],
      observers: [{ name: "save-search-results", params: {} }],
    });
  });

  test.each([
    ["  triggers: [{words: [report], agent: c}]", "triggers"],
    ["  childVerifiers: [{name: files-exist, params: {paths: [a]}, agent: c}]", "childVerifiers"],
  ])("%s: the agent is out of reach", (line, key) => {
    const { definition, problems } = lead(line);
    expect(definition).toBeNull();
    expect(problems.map(({ code, message, fix }) => [code, message, fix])).toEqual([
      [
        "unreachable-agent",
        `troupe.${key} names c, and this agent may not delegate to it`,
        "add c to subagents.allow, or name another agent",
      ],
    ]);
  });

  test.each(["  triggers: [{words: [], agent: b}]", "  triggers: [{word: [report], agent: b}]", "  triggers: report"])(
    "%s is an error",
    (line) => {
      expect(lead(line).definition).toBeNull();
    },
  );
});
