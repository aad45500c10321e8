/** Agent files as other programs write them: Claude Code, its plugins, Copilot and Gemini. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grantOf, type ToolSpec } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgentSource } from "./agent-source.ts";
import { parseAgent } from "./parse-agent.ts";
import { validateAgents } from "./validate-agents.ts";

const spec = (name: string, effect: ToolSpec["effect"] = "read", groups: string[] = []): ToolSpec => ({
  ...{ name, description: name, groups, risk: "low", effect },
  inputSchema: {},
});

/** The tools of this machine, in the tests of this file. */
const specs: readonly ToolSpec[] = [
  ...["read", "ls", "glob", "search", "code_search", "web_fetch", "web_search", "git_diff"].map((name) => spec(name)),
  ...["write", "edit"].map((name) => spec(name, "verifiable", ["filesystem"])),
  ...["shell", "git", "test"].map((name) => spec(name, "unsafe")),
  spec("notes", "idempotent", ["memory"]),
  spec("mcp__docs__find"),
];

function parse(lines: readonly string[], path = "wild.md") {
  return parseAgent({ path, origin: "claude", text: ["---", ...lines, "---", "Do it."].join("\n") });
}

function toolsOf(list: string): string[] {
  const { definition } = parse(["name: a", "description: d", `tools: ${list}`]);
  if (!definition) throw new Error(`no agent has the tools ${list}`);
  return grantOf([], definition, { tools: specs, agents: [] }).tools;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-wild-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.join("\n"));
  return path;
}

async function problemsOf(...lines: string[]): Promise<AgentProblem[]> {
  const path = await write("a.md", "---", "description: d", ...lines, "---", "Do it.");
  return (await validateAgents([path], { tools: specs })).problems;
}

describe("a list of tools means our tools", () => {
  test.each([
    ["Claude Code", "Read, Write, Edit, MultiEdit, Glob, Grep, LS", "read ls glob search write edit"],
    ["Claude Code", "Bash, WebFetch, WebSearch, TodoWrite, NotebookRead", "read web_fetch web_search shell notes"],
    ["Copilot", "['codebase', 'search', 'usages', 'changes', 'fetch']", "search code_search web_fetch git_diff"],
    ["Copilot", "['editFiles', 'runCommands', 'runTests']", "edit shell test"],
    ["Copilot's sets", "['edit/editFiles', 'search/codebase', 'execute/runInTerminal']", "search edit shell"],
    ["Gemini", "[read_file, write_file, replace, list_directory, glob]", "read ls glob write edit"],
    ["Gemini", "[search_file_content, read_many_files, run_shell_command]", "read search shell"],
    ["Gemini", "[google_web_search, web_fetch, save_memory]", "web_fetch web_search notes"],
  ])("%s: %s", (_program, list, expected) => {
    expect(toolsOf(list)).toEqual(expected.split(" "));
  });

  test.each([
    ["TodoRead, TaskList, TaskGet, Read", "notes is not granted for reading a list", ["read"]],
    ["NotebookEdit, Read", "nor edit for notebooks", ["read"]],
    ["BashOutput, KillShell, KillBash, Read", "nor shell for its output", ["read"]],
    ["ExitPlanMode, githubRepo, new, problems, Read", "nor anything for a missing counterpart", ["read"]],
    ["'run*', read", "nor shell for the prefix of a name of Copilot", ["read"]],
  ])("never more than was meant: %s (%s)", (list, _rule, expected) => {
    expect(toolsOf(list)).toEqual(expected);
  });

  test("a tool of the user comes before the tool of ours that has this name elsewhere", () => {
    const { definition } = parse(["name: a", "description: d", "tools: fetch"]);
    if (!definition) throw new Error("no agent");
    const own = [...specs, spec("fetch")];
    expect(grantOf([], definition, { tools: own, agents: [] }).tools).toEqual(["fetch"]);
    expect(grantOf([], definition, { tools: specs, agents: [] }).tools).toEqual(["web_fetch"]);
  });
});

describe("an unknown tool is named, with its place", () => {
  test.each([
    ["Raed", 'a: tools names "Raed", but no tool here has that name', "did you mean read?"],
    ["ExitPlanMode", 'a: tools names "ExitPlanMode", which has no counterpart here', "remove ExitPlanMode"],
    ["NotebookEdit", "edit does that, and more", "add edit if the agent may use all of it, or remove NotebookEdit"],
    [
      "mcp__jira__get",
      'no MCP server "jira" is configured here',
      "configure the server jira, or remove mcp__jira__get",
    ],
    ["mcp__jira__*", 'no MCP server "jira" is configured here', "configure the server jira, or remove mcp__jira__*"],
    ["mcp__docs__fnd", 'the MCP server "docs" has no such tool', "did you mean mcp__docs__find?"],
    ["Microsoft Docs", 'tools names "Microsoft Docs", but', "remove it; the tools here: read"],
    ["read write", "which is not a name of a tool", "separate the names with commas: read, write"],
  ])("%s", async (name, message, fix) => {
    const problems = await problemsOf(`tools: read, ${name}`);
    expect(problems).toMatchObject([{ line: 3, column: 14, severity: "warning", code: "unknown-tool" }]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.fix).toContain(fix);
  });

  test("a denial of an unknown tool says that it denies nothing; one of a tool that cannot exist here says nothing", async () => {
    expect((await problemsOf("disallowedTools: Wrte"))[0]?.message).toContain("so this denies nothing");
    expect(await problemsOf("disallowedTools: NotebookEdit, ExitPlanMode")).toEqual([]);
  });

  test("an agent with no usable tool is an error, and no agent may delegate to it", async () => {
    const problems = await problemsOf("tools: [githubRepo, problems]");
    expect(problems[0]).toMatchObject({
      ...{ line: 3, column: 9, severity: "error", code: "no-usable-tools" },
      message: 'a cannot be used: none of its tools exists here: "githubRepo", "problems"',
    });
    const [none, main] = [
      parse(["name: none", "description: d", "tools: problems"]),
      parse(["name: b", "description: d", "tools: Task"]),
    ];
    if (!none.definition || !main.definition) throw new Error("no agents");
    const grantable = { tools: specs, agents: [none.definition] };
    expect(grantOf([], main.definition, grantable).agents).toEqual([]);
    expect(grantOf([], main.definition, { ...grantable, tools: [...specs, spec("problems")] }).agents).toEqual([
      "none",
    ]);
  });
});

describe("a restriction in parentheses", () => {
  test.each([
    ["Bash(git diff:*), Read", ["shell(git diff:*)", "read"]],
    ["Bash(git log), Bash(npm run test:*)", ["shell(git log)", "shell(npm run test:*)"]],
    ["Bash(*), Read(**)", ["shell", "read"]],
  ])("that can be enforced is kept: %s", (list, tools) => {
    const { definition, problems } = parse(["name: a", "description: d", `tools: ${list}`]);
    expect(definition?.tools).toEqual(tools);
    expect(problems).toEqual([]);
  });

  test("limits the shell to these commands", () => {
    const { definition } = parse(["name: a", "description: d", "tools: Bash(git diff:*)"]);
    if (!definition) throw new Error("no agent");
    expect(grantOf([], definition, { tools: specs, agents: [] })).toMatchObject({
      tools: ["shell"],
      commands: [{ from: "a", allow: ["shell(git diff:*)"], deny: [] }],
    });
  });

  test.each([
    ["Edit(docs/**), Read", ["read", "edit"], ["docs"]],
    ["Edit(./docs/**), Write(./docs/**)", ["edit", "write"], ["docs"]],
    ["Write(**/test/**), Bash", ["shell", "write"], ["**/test"]],
  ])("to folders becomes the scope of the agent: %s", (list, tools, writes) => {
    const { definition, problems } = parse(["name: a", "description: d", `tools: ${list}`]);
    expect(definition).toMatchObject({ tools, writes });
    expect(problems).toEqual([]);
  });

  test.each([
    ["Read(./src/**), LS", ["ls"]],
    ["WebFetch(domain:example.org), LS", ["ls"]],
    ["Edit(src/*.ts), LS", ["ls"]],
    ["Edit(//etc/**), LS", ["ls"]],
    ["Edit(../other/**), LS", ["ls"]],
    ["Edit(docs/**), Write", ["write"]],
    ["Edit(docs/**), Write(src/**), LS", ["ls"]],
    ["editFiles(docs/**), LS", ["ls"]],
  ])("that cannot be enforced takes the tool away, and says so: %s", (list, tools) => {
    const { definition, problems } = parse(["name: a", "description: d", `tools: ${list}`]);
    expect(definition).toMatchObject({ tools, writes: null });
    expect(problems.map(({ code }) => code)).toContain("restricted-tool");
    expect(problems[0]?.message).toMatch(/not granted$/);
  });
});

describe("Task without names", () => {
  const targets = (...lines: string[]) => parse(["name: a", "description: d", ...lines]).definition?.subagents;

  test.each(["Task", "Agent", "Read, Task", "[read, 'Agent(*)']", "['codebase', 'runSubagent']"])(
    "means every agent: %s",
    (list) => {
      expect(targets(`tools: ${list}`)).toMatchObject({ allow: ["*"], deny: [] });
    },
  );

  test("means the named ones beside names, and none after a denial", () => {
    expect(targets("tools: Task, Agent(b)")?.allow).toEqual(["b"]);
    expect(targets("tools: Task", "subagents: {allow: [c]}")?.allow).toEqual(["c"]);
    expect(targets("tools: Task", "subagents: {deny: [c]}")).toMatchObject({ allow: ["*"], deny: ["c"] });
    expect(targets("tools: Task, Read", "disallowedTools: Task")?.allow).toEqual([]);
  });

  test("agents of plugins and teams have names with their team", () => {
    expect(targets("tools: Agent(docs:writer), Agent(coding/planner, b)")?.allow).toEqual([
      "docs_writer",
      "coding_planner",
      "b",
    ]);
  });
});

describe("names of files and keys", () => {
  test.each([
    ["reviewer.md", "reviewer"],
    ["Code Reviewer.agent.md", "code-reviewer"],
    ["plan.chatmode.md", "plan"],
  ])("without a name, %s is %s", (path, id) => {
    const { definition, problems } = parse(["description: 'Plans work'", "tools: ['codebase']"], path);
    expect(definition).toMatchObject({ id, name: id });
    expect(problems).toEqual([]);
  });

  test("a missing description is an error that names the file", () => {
    const { definition, problems } = parse(["name: a"], "folder/plan.chatmode.md");
    expect(definition).toBeNull();
    expect(problems).toMatchObject([{ code: "missing-description" }]);
    expect(problems[0]?.message).toContain("the agent of plan.chatmode.md has no description");
  });

  test("a file without front matter beside agents is a note; one with the name of an agent gets a warning", async () => {
    const agents = join(folder, ".claude", "agents");
    await mkdir(agents, { recursive: true });
    await writeFile(join(agents, "CONTRIBUTING.md"), "# How to write agents\n");
    await writeFile(join(agents, "coder.md"), "Our coder works with care.\n");
    const registry = await createAgentSource({ userFolders: [] }).load(folder);
    expect(registry.find("coder")?.source.origin).toBe("builtin");
    expect(registry.problems).toMatchObject([{ severity: "warning", code: "missing-front-matter" }]);
    expect(registry.problems[0]?.message).toContain("coder.md has no front matter");
    // Named on its own, it is meant as an agent.
    const { problems } = await validateAgents([join(agents, "CONTRIBUTING.md")]);
    expect(problems).toMatchObject([{ severity: "error", code: "missing-front-matter" }]);
  });

  test("a file that has keys but no front matter is still an error", () => {
    expect(
      parseAgent({ path: "a.md", origin: "claude", text: "name: a\ndescription: d\n\nDo it." }).isNote,
    ).toBeUndefined();
  });

  test("metadata gives one line", () => {
    const lines = ["color: red", "version: 1.2.0", "author: me", "tags: [a, b]", "category: x", "capabilities: [y]"];
    const { problems } = parse(["name: a", "description: d", ...lines]);
    expect(problems).toMatchObject([{ line: 5, severity: "warning", code: "metadata-keys" }]);
    expect(problems[0]?.message).toContain("version, author, tags, category, capabilities: ");
  });

  test.each([
    ["permissions: all", "remove it"],
    ["names: b", "remove it"],
    ["permission_mode: plan", "did you mean permissionMode?"],
    ["discription: x", "did you mean description?"],
  ])("no hint changes who the agent is: %s", (line, fix) => {
    expect(parse(["name: a", "description: d", line]).problems[0]?.fix).toContain(fix);
  });

  test("invalid YAML does not swallow the next key", () => {
    const { definition, problems } = parse([
      "name: a",
      "description: Use this when: a page is slow",
      "capabilities:",
      "  - measures: pages",
      "model: opus",
      "expected-inputs:",
      "- url",
    ]);
    expect(definition).toMatchObject({ description: "Use this when: a page is slow", model: "opus" });
    expect(problems.map(({ code }) => code)).toEqual(["invalid-yaml", "metadata-keys", "unknown-key"]);
  });
});

describe("limits of what is reported", () => {
  test.each([
    ["a:", "a: ".repeat(10_900)],
    ["a: on lines", "a:\n".repeat(10_900)],
    ["nested lists", `troupe: {x: ${"[".repeat(4_000)}${"]".repeat(4_000)}}`],
    ["a nested name", `name: ${"[".repeat(4_000)}${"]".repeat(4_000)}`],
    ["nested mappings", `description: d\ntools: ${"{a: ".repeat(5_000)}${"}".repeat(5_000)}`],
    ["nested keys", `model: ${"{a: ".repeat(1_500)}1${"}".repeat(1_500)}`],
  ])("a file of 32 KB that repeats %s has a located error without the stack of the parser", async (_name, yaml) => {
    const path = await write("deep.md", "---", yaml, "---", "x");
    const { agents, problems } = await validateAgents([path]);
    expect(agents).toEqual([]);
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]?.line).toBeGreaterThan(1);
    for (const { message } of problems) expect(message).not.toMatch(/call stack/i);
  });

  test("50 problems are listed, errors before warnings, and then their number", () => {
    const keys = Array.from({ length: 80 }, (_, i) => `zzzzzzzz${i}: 1`);
    const { problems } = parse(["name: a", "description: d", ...keys, "maxTurns: x", "effort: y"]);
    expect(problems).toHaveLength(51);
    expect(problems.filter(({ severity }) => severity === "error").map(({ code }) => code)).toHaveLength(2);
    expect(problems.at(-1)).toMatchObject({ code: "more-problems", severity: "warning" });
    expect(problems.at(-1)?.message).toBe("32 more problems in this file are not listed");
  });

  test("errors that are not listed make the last line an error", () => {
    const { definition, problems } = parse([
      "name: a",
      "description: d",
      ...Array.from({ length: 80 }, () => "name: b"),
    ]);
    expect(definition).toBeNull();
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toMatchObject({ code: "more-problems", severity: "error" });
    expect(problems.at(-1)?.message).toContain("30 of them errors");
  });

  test("warnings about other agents count too", async () => {
    const names = Array.from({ length: 90 }, (_, i) => `missing${i}`).join(", ");
    const problems = await problemsOf(`subagents: {allow: [${names}]}`);
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)?.message).toBe("40 more problems in this file are not listed");
  });
});
