import type { AgentProblem } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { parseAgent } from "./parse-agent.ts";

function parse(text: string, path = "sample.md") {
  return parseAgent({ path, origin: "project", text });
}

/** A file whose front matter holds a name, a description, and these lines from line 4 on. */
function withLines(...lines: string[]): string {
  return ["---", "name: a", "description: d", ...lines, "---", "Do it.", ""].join("\n");
}

function shortly({ severity, line, column, code }: AgentProblem): string {
  return `${severity} ${line}:${column} ${code}`;
}

describe("an invalid file gets an error with its place", () => {
  const table: [name: string, text: string, problems: string[]][] = [
    ["empty file", "", ["error 1:1 missing-front-matter"]],
    ["no front matter", "# Hello\n", ["error 1:1 missing-front-matter"]],
    ["text before the fence", "\n hi\n---\nname: a\n---\nx", ["error 2:2 missing-front-matter"]],
    ["indented fence", "  ---\nname: a\n---\nx", ["error 1:3 missing-front-matter"]],
    ["executable front matter", '---js\n{ name: "a" }\n---\nx', ["error 1:4 unsupported-front-matter"]],
    ["front matter never closed", "---\nname: a\ndescription: d\n", ["error 1:1 unterminated-front-matter"]],
    ["front matter without keys", "---\n---\nx", ["error 2:1 missing-description"]],
    ["front matter that is a list", "---\n- a\n- b\n---\nx", ["error 2:1 not-a-mapping"]],
    ["front matter that is a sentence", "---\nhello you\n---\nx", ["error 2:1 not-a-mapping"]],
    ["front matter too large", `---\nname: ${"a".repeat(40_000)}\n---\nx`, ["error 2:1 front-matter-too-large"]],
    ["tab for indentation", "---\n\tname: a\n---\nx", ["error 2:1 invalid-yaml"]],
    ["empty name", "---\nname:\ndescription: d\n---\nx", ["error 2:1 missing-name"]],
    ["no description", "---\nname: a\n---\nx", ["error 2:1 missing-description"]],
    ["blank description", '---\nname: a\ndescription: " "\n---\nx', ["error 3:1 missing-description"]],
    ["no prompt", "---\nname: a\ndescription: d\n---\n \n", ["error 5:1 empty-prompt"]],
    ["no prompt, file ends with the fence", "---\nname: a\ndescription: d\n---", ["error 4:4 empty-prompt"]],
    ["name is a number", "---\nname: 7\ndescription: d\n---\nx", ["error 2:7 wrong-type"]],
    ["description is a list", "---\nname: a\ndescription: [d]\n---\nx", ["error 3:14 wrong-type"]],
    ["name without a letter", '---\nname: "!!!"\ndescription: d\n---\nx', ["error 2:7 invalid-id"]],
    ["name that is not a valid id", "---\nname: My Agent\ndescription: d\n---\nx", ["warning 2:7 id-from-name"]],
    ["an invalid id", withLines("id: my agent"), ["error 4:5 invalid-id"]],
    ["id of a number", withLines("id: 12"), ["error 4:5 wrong-type"]],
    ["key given twice", withLines("model: opus", "model: haiku"), ["error 5:1 duplicate-key"]],
    [
      "key given twice, Windows lines",
      "---\r\nname: a\r\nname: b\r\ndescription: d\r\n---\r\nx",
      ["error 3:1 duplicate-key"],
    ],
    ["unknown key", withLines("colour: red"), ["warning 4:1 unknown-key"]],
    ["key of troupe at the top", withLines("limits: {}"), ["warning 4:1 unknown-key"]],
    ["alias", withLines("x: &x [1]", "y: *x"), ["error 5:4 yaml-alias"]],
    ["model is a list", withLines("model: [opus]"), ["error 4:8 wrong-type"]],
    ["maxTurns is text", withLines("maxTurns: many"), ["error 4:11 wrong-type"]],
    ["maxTurns is 0", withLines("maxTurns: 0"), ["error 4:11 invalid-value"]],
    ["tools are a map", withLines("tools: {read: true}"), ["error 4:8 wrong-type"]],
    ["a tool is a number", withLines("tools:", "  - read", "  - 3"), ["error 6:5 wrong-type"]],
    ["tools without a value", withLines("tools:"), ["warning 4:1 empty-tools"]],
    ["a sentence among the tools", withLines("tools: read, “all others”"), ["warning 4:14 invalid-tool"]],
    [
      "no tool but a sentence",
      withLines("tools: “all tools”"),
      ["warning 4:8 invalid-tool", "error 4:8 no-usable-tools"],
    ],
    ["a restricted tool", withLines("tools: [read, WebFetch(domain:a.org)]"), ["warning 4:15 restricted-tool"]],
    [
      "delegation, but an empty list of agents",
      withLines("tools: Read, Task", "subagents: {allow: []}"),
      ["warning 4:14 delegation-without-targets"],
    ],
    [
      "delegation of an expert",
      withLines("tools: Read, Task", "troupe: {domain: law}"),
      ["warning 4:14 delegation-without-targets"],
    ],
    ["a target that is not a valid id", withLines("tools: Agent(a b)"), ["error 4:8 invalid-id"]],
    ["a script for a model", withLines("model: scripted/./evil.yaml"), ["warning 4:8 script-as-model"]],
    ["a recording for a model", withLines('model: " replay/1"'), ["warning 4:8 script-as-model"]],
    ...["acceptEdits", "dontAsk", "bypassPermissions"].map((mode): [string, string, string[]] => [
      `a mode that asks less: ${mode}`,
      withLines(`permissionMode: ${mode}`),
      ["warning 4:17 ignored-permission-mode"],
    ]),
    ["a mode in another case", withLines("permissionMode: Plan"), ["error 4:17 invalid-value"]],
    ["no mode behind its key", withLines("permissionMode:"), ["error 4:1 invalid-value"]],
    ["a mode that is a list", withLines("permissionMode: [plan]"), ["error 4:17 invalid-value"]],
    ["an unknown isolation", withLines("isolation: container"), ["error 4:12 invalid-value"]],
    ["no isolation behind its key", withLines("isolation:"), ["error 4:1 invalid-value"]],
    [
      "an isolation that troupe's own key takes away",
      withLines("isolation: worktree", "troupe: {workspace: shared}"),
      ["error 4:12 contradictory-isolation"],
    ],
    ...["skills: [pdf]", "mcpServers: {a: {b: c}}", "hooks: {PreToolUse: []}", "memory: user"].map(
      (line): [string, string, string[]] => [
        `${line}, which has no effect yet`,
        withLines(line),
        ["warning 4:1 unsupported-key"],
      ],
    ),
    [
      "keys of subagents not indented",
      withLines("subagents:", "deny: [b]"),
      ["warning 5:1 unknown-key", "error 4:1 wrong-type"],
    ],
    ["subagents is a list", withLines("subagents: [a]"), ["error 4:12 wrong-type"]],
    ["unknown key in subagents", withLines("subagents:", "  alow: [b]"), ["error 5:3 unknown-key"]],
    ["a subagent that is not a valid id", withLines("subagents:", "  allow: [b, c d]"), ["error 5:14 invalid-id"]],
    ["unknown execution", withLines("subagents:", "  execution: both"), ["error 5:14 invalid-value"]],
    ["no child at once", withLines("subagents:", "  max_concurrent: 0"), ["error 5:19 invalid-value"]],
    ["unknown key in troupe", withLines("troupe:", "  limit: {}"), ["error 5:3 unknown-key"]],
    ["unknown limit", withLines("troupe:", "  limits:", "    maxIteration: 5"), ["error 6:5 unknown-key"]],
    ["a limit is text", withLines("troupe:", "  limits:", "    maxDurationMs: 5 min"), ["error 6:20 wrong-type"]],
    ["a limit without a value", withLines("troupe:", "  limits:", "    maxDurationMs:"), ["error 6:5 wrong-type"]],
    ["a limit below 0", withLines("troupe: {limits: {maxCostUsd: -1}}"), ["error 4:31 invalid-value"]],
    ["no denials behind their key", withLines("disallowedTools:"), ["error 4:1 wrong-type"]],
    ["no turns behind their key", withLines("maxTurns:"), ["error 4:1 wrong-type"]],
    ["no denied agents behind their key", withLines("subagents:", "  deny:"), ["error 5:3 wrong-type"]],
    ["no allowed agents behind their key", withLines("subagents:", "  allow:"), ["warning 5:3 empty-allow"]],
    ...["limits", "budget", "writes", "verifiers", "outputSchema", "domain", "patterns", "handler"].map(
      (key): [string, string, string[]] => [
        `nothing behind ${key}`,
        withLines("troupe:", `  ${key}:`),
        ["error 5:3 wrong-type"],
      ],
    ),
    ["a cap without a number", withLines("troupe:", "  budget:", "    tokens:"), ["error 6:5 wrong-type"]],
    ["patterns without a pattern", withLines("troupe:", "  intent: patterns"), ["error 5:11 intent-without-patterns"]],
    [
      "an empty list of patterns",
      withLines("troupe:", "  intent: patterns", "  patterns: []"),
      ["error 5:11 intent-without-patterns"],
    ],
    [
      "patterns that no intent uses",
      withLines("troupe:", "  patterns: [{pattern: mail, risk: low}]"),
      ["error 5:13 patterns-without-intent"],
    ],
    [
      "a handler that no intent uses",
      withLines("troupe:", "  handler: calendar"),
      ["error 5:12 handler-without-intent"],
    ],
    ["patterns of a handler", withLines("troupe:", "  intent: patterns", "  handler: calendar"), []],
    [
      "a misspelt handler",
      withLines("troupe:", "  intent: patterns", "  handler: calender"),
      ["warning 6:12 unknown-handler"],
    ],
    [
      "a pattern that is not a regular expression",
      withLines("troupe:", "  intent: patterns", '  patterns: [{pattern: "(", risk: low}]'),
      ["error 6:24 invalid-value"],
    ],
    [
      "a pattern without a risk",
      withLines("troupe:", "  intent: patterns", "  patterns: [{pattern: mail}]"),
      ["error 6:14 invalid-value"],
    ],
    ["an unknown intent", withLines("troupe:", "  intent: guess"), ["error 5:11 invalid-value"]],
    ["too many attempts", withLines("troupe:", "  retry: {maxAttempts: 99}"), ["error 5:24 invalid-value"]],
    ["a verifier without a name", withLines("troupe:", "  verifiers:", "    - params: {}"), ["error 6:7 wrong-type"]],
    ["a # within a word", "---\nname: a\ndescription: Mends issue#12\n---\nx", []],
    ["a description cut at # ", "---\nname: a\ndescription: Mends C #12\n---\nx", ["warning 3:14 cut-by-comment"]],
  ];

  test.each(table)("%s", (_name, text, expected) => {
    const parsed = parse(text);
    expect(parsed.problems.map(shortly)).toEqual(expected);
    expect(parsed.definition === null).toBe(expected.some((problem) => problem.startsWith("error")));
    for (const problem of parsed.problems) {
      expect(problem.path).toBe("sample.md");
      expect(problem.fix).toBeTruthy();
    }
  });

  test("the message quotes the value", () => {
    const wrong = parse(withLines("troupe:", "  limits:", "    maxDurationMs: 5 min"));
    expect(wrong.problems[0]?.message).toBe(
      'troupe.limits.maxDurationMs is "5 min"; expected milliseconds, or a duration such as 250ms, 30s, 5m, 2h or 1h30m',
    );
  });

  test("an unknown handler is named with the nearest one, and the agent stays usable", () => {
    const { problems, definition } = parse(withLines("troupe:", "  intent: patterns", "  handler: calender"));
    expect(problems).toMatchObject([{ fix: "did you mean calendar?", message: expect.stringContaining('"calender"') }]);
    expect(definition).toMatchObject({ intent: "patterns", handler: "calender" });
  });

  test("intent: patterns without patterns names the value and the fix", () => {
    const [problem] = parse(withLines("troupe:", "  intent: patterns")).problems;
    expect(problem).toMatchObject({
      line: 5,
      message: "intent is patterns, but the agent has no patterns and no handler, so no request would be assessed",
      fix: 'add patterns: [{pattern: "send .*mail", tools: [], risk: high}] or a handler, or write intent: model or intent: direct',
    });
  });

  test.each([
    ["tolls: read", "did you mean tools?"],
    ["Description: x", "did you mean description?"],
    ["allowed-tools: Read", "did you mean tools?"],
    ["max_turns: 3", "did you mean maxTurns?"],
    ["limits: {}", "move it below troupe: as limits"],
    ["deny: [b]", "move it below subagents:, indented by two spaces"],
    ["maxDurationMs: 1", "move it below limits:, below troupe:"],
    ["zzzzzz: 1", "remove it, or move it below troupe: if it is a key of troupe"],
    ["subagents: {max_concurent: 3}", "did you mean max_concurrent?"],
    ["troupe: {limits: {max_iterations: 3}}", "did you mean maxIterations?"],
  ])("%s → %s", (line, fix) => {
    expect(parse(withLines(line)).problems.map((problem) => problem.fix)).toEqual([fix]);
  });
});

describe("a valid file", () => {
  test("without optional keys has the defaults of the schema and no caps of its own", () => {
    const { definition, problems } = parse(withLines());
    expect(problems).toEqual([]);
    expect(definition).toEqual({
      id: "a",
      name: "a",
      description: "d",
      prompt: "Do it.",
      tools: null,
      disallowedTools: [],
      model: "inherit",
      subagents: { allow: [], deny: [], execution: "parallel", max_concurrent: 5 },
      intent: "direct",
      limits: {},
      budget: {},
      retry: {
        maxAttempts: 2,
        backoffMs: 1_000,
        on: ["network", "rate_limit", "crashed", "model"],
        alternative: null,
      },
      promptFrom: "own",
      temperature: null,
      effort: null,
      outputSchema: null,
      domain: null,
      disabled: false,
      contextMode: "task_only",
      workspace: null,
      writes: null,
      verifiers: [],
      source: { origin: "project", path: "sample.md" },
    });
  });

  test("a byte order mark does not count as a column", () => {
    const { definition, problems } = parse("\uFEFF---\nname: a\ndescription: d\n---\nx");
    expect([definition?.id, problems]).toEqual(["a", []]);
    expect(parse("\uFEFF# Hello").problems.map(shortly)).toEqual(["error 1:1 missing-front-matter"]);
  });

  test("a byte order mark, Windows lines and blank lines before the fence change nothing", () => {
    const { definition, problems } = parse("\uFEFF\r\n---\r\nname: a\r\ndescription: d\r\n---\r\nOne\r\ntwo\r\n");
    expect(problems).toEqual([]);
    expect(definition?.prompt).toBe("One\ntwo");
  });

  test("durations can have units", () => {
    const { definition, problems } = parse(
      withLines("troupe:", "  limits: {maxDurationMs: 1h30m}", "  retry: {backoffMs: 250ms}"),
    );
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({ limits: { maxDurationMs: 5_400_000 }, retry: { backoffMs: 250 } });
  });

  test("all keys of troupe's own are read", () => {
    const { definition, problems } = parse(
      withLines(
        "id: own-id",
        "maxTurns: 9",
        "subagents: {allow: [b, c], deny: [c], execution: sequential, max_concurrent: 2}",
        "troupe:",
        "  limits: {maxTokens: null, maxDurationMs: 1000}",
        "  intent: model",
        "  retry: {maxAttempts: 1}",
        "  contextMode: full_history",
        "  workspace: isolated",
        "  verifiers: [{name: files-exist, params: {paths: [corpus.json]}}]",
      ),
    );
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      id: "own-id",
      name: "a",
      subagents: { allow: ["b", "c"], deny: ["c"], execution: "sequential", max_concurrent: 2 },
      limits: { maxIterations: 9, maxConcurrent: 2, maxTokens: null, maxDurationMs: 1000 },
      intent: "model",
      retry: { maxAttempts: 1, backoffMs: 1_000 },
      contextMode: "full",
      workspace: "isolated",
      verifiers: [{ name: "files-exist", params: { paths: ["corpus.json"] } }],
    });
    expect(Object.keys(definition?.limits ?? {})).toHaveLength(4);
  });

  test("patterns are read with their tools and risks", () => {
    const { definition, problems } = parse(
      withLines(
        "troupe:",
        "  intent: patterns",
        "  patterns:",
        "    - {pattern: send .*mail, tools: [send_mail], risk: high}",
        "    - {pattern: search .*mail, risk: low}",
      ),
    );
    expect(problems).toEqual([]);
    expect(definition?.patterns).toEqual([
      { pattern: "send .*mail", tools: ["send_mail"], risk: "high" },
      { pattern: "search .*mail", tools: [], risk: "low" },
    ]);
  });

  test.each<[string, string[] | null, string[]]>([
    ["model: opus", null, []],
    ["tools: []", [], []],
    ["tools: Read, Write, Bash", ["read", "write", "shell"], []],
    ["tools: [Read, read, mcp__web__*]", ["read", "mcp__web__*"], []],
    ['tools: "*"', null, []],
    ["tools: Agent(b), Task(c, d), read", ["read"], ["b", "c", "d"]],
    ["tools: [Agent(b)]", [], ["b"]],
    ["tools: [read, 'Bash(git diff, git log)']", ["read"], []],
    ["subagents: {allow: 'b, c'}", null, ["b", "c"]],
    ["subagents:\n  allow:", null, []],
    ["disallowedTools: Task\nsubagents: {allow: [b]}", null, []],
    ['disallowedTools: "*"', [], []],
  ])("%s", (line, tools, targets) => {
    const { definition } = parse(withLines(...line.split("\n")));
    expect([definition?.tools, definition?.subagents.allow]).toEqual([tools, targets]);
  });

  test("the denials include every written one", () => {
    const { definition } = parse(withLines("disallowedTools: [Write, Bash(rm *), Agent(b)]"));
    expect(definition?.disallowedTools).toEqual(["write", "shell(rm *)"]);
    expect(definition?.subagents.deny).toEqual(["b"]);
  });

  test("Claude Code's other keys are ignored without a warning", () => {
    const lines = ["color: red", "effort: high", "skills: []", "mcpServers: {}", "hooks: {}", "memory:"];
    const more = ["background: true", "permissionMode: default", "initialPrompt: hi"];
    expect(parse(withLines(...lines, ...more)).problems).toEqual([]);
  });
});

describe("limits of Claude Code's files are kept:", () => {
  test.each([
    ["permissionMode: plan", { permissionMode: "plan" }],
    ["isolation: worktree", { workspace: "worktree" }],
    ["isolation: worktree\ntroupe: {workspace: worktree}", { workspace: "worktree" }],
  ])("%s", (lines, expected) => {
    const { definition, problems } = parse(withLines(...lines.split("\n")));
    expect(definition).toMatchObject(expected);
    expect(problems).toEqual([]);
  });

  test.each(["default", "acceptEdits", "dontAsk", "bypassPermissions"])("%s changes no agent", (mode) => {
    const { definition } = parse(withLines(`permissionMode: ${mode}`));
    expect(definition).toEqual(parse(withLines()).definition);
  });
});

describe("an invalid file still claims an id", () => {
  test.each([
    ["coder.md", "no front matter", "coder"],
    ["x.md", "---\nname: coder\n---\nx", "coder"],
    ["x.md", "---\nname: My Coder\nmodel: [a]\n---\nx", "my-coder"],
    ["x.md", "---\nid: coder\nname: Other\n---\n", "coder"],
    ["x.md", "---\nname: [a]\n---\n", "a"],
    ["Prüfer 2.md", "---\n---\n", "prufer-2"],
  ])("%s %j", (path, text, id) => {
    expect(parse(text, path)).toMatchObject({ definition: null, claimedId: id });
  });
});

test("a scenario as a model counts in the user's agents, and never in a project's", () => {
  const text = withLines("model: scripted/mine");
  const modelOf = (origin: "user" | "project" | "claude" | "builtin") =>
    parseAgent({ path: "sample.md", origin, text }).definition?.model;
  expect(["user", "builtin", "project", "claude"].map((origin) => modelOf(origin as "user"))).toEqual([
    "scripted/mine",
    "scripted/mine",
    "inherit",
    "inherit",
  ]);
});
