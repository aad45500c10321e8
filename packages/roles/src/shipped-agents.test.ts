import { AgentDefinition } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createAgentSource, shippedAgentsFolder } from "./agent-source.ts";
import { validateAgents } from "./validate-agents.ts";

// The agents that come with the package: their caps and their arrows are part of what it promises.

const registry = await createAgentSource({ userFolders: [] }).load(null);
const shipped = registry.agents.filter(({ team }) => team === undefined);

test("the lint reports nothing, not even a warning", async () => {
  const { agents, problems } = await validateAgents([shippedAgentsFolder]);
  expect(problems).toEqual([]);
  expect(agents).toHaveLength(9);
  expect(registry.problems).toEqual([]);
});

const minute = 60_000;
const none = undefined;
const readOnly: string[] = [];
const testFolders = ["test", "tests", "**/test", "**/tests", "**/__tests__", "**/spec", "**/specs", "**/e2e"];
const edits = [
  "read",
  "write",
  "edit",
  "apply_patch",
  "ls",
  "glob",
  "search",
  "code_search",
  "shell",
  "test",
  "git",
  "git_diff",
];

test.each([
  ["main", ["filesystem", "search", "code", "shell", "test", "git", "web", "memory", "recall"], none],
  ["general-purpose", null, none],
  [
    "researcher",
    [
      "read",
      "ls",
      "search",
      "code_search",
      "overview",
      "docs_coverage",
      "web_search",
      "web_fetch",
      "webReader",
      "recall",
    ],
    readOnly,
  ],
  [
    "planner",
    [...edits.slice(0, 8), "overview", "plan_files", ...edits.slice(8), "git_commit", "notes", "recall"],
    none,
  ],
  ["coder", [...edits, "git_commit", "notes", "recall"], none],
  ["tester", ["read", "write", "edit", "ls", "search", "test", "shell", "recall"], testFolders],
  ["reviewer", ["read", "ls", "search", "test", "git_diff", "shell", "recall"], readOnly],
  ["debugger", [...edits, "recall"], none],
  [
    "report-creation-expert",
    [
      "crawl_parallel",
      "save_corpus",
      "read_corpus",
      "write_local_file",
      "workbench_download",
      "workbench_upload",
      "webReader",
    ],
    none,
  ],
])("%s has its tools, and writes in its folders", (id, tools, writes) => {
  const definition = AgentDefinition.parse(registry.find(id));
  expect(definition).toMatchObject({
    id,
    tools,
    writes: writes ?? null,
    model: "inherit",
    source: { origin: "builtin" },
  });
});

test.each([
  ["main", 50, 10 * minute, none, none],
  ["general-purpose", none, none, none, none],
  ["researcher", 15, none, 15, 50_000],
  ["planner", 15, 3 * minute, none, none],
  ["coder", 30, 5 * minute, 30, 80_000],
  ["tester", 20, 3 * minute, 20, 50_000],
  ["reviewer", 10, 2 * minute, 15, 50_000],
  ["debugger", 25, 4 * minute, none, none],
  ["report-creation-expert", 30, 9 * minute, none, none],
])("%s has its caps", (id, iterations, durationMs, toolCalls, characters) => {
  const charactersPerToken = 4;
  expect(registry.find(id)?.limits).toEqual({
    ...(iterations === none ? {} : { maxIterations: iterations }),
    ...(durationMs === none ? {} : { maxDurationMs: durationMs }),
    ...(toolCalls === none ? {} : { maxToolCalls: toolCalls }),
    ...(characters === none ? {} : { maxContextTokens: characters / charactersPerToken }),
  });
});

test("general-purpose works with its parent's prompt and tools, and does not delegate", () => {
  expect(registry.find("general-purpose")).toMatchObject({
    promptFrom: "parent",
    tools: null,
    disallowedTools: [],
    subagents: { allow: [] },
  });
  const others = shipped.filter(({ id }) => id !== "general-purpose");
  expect(others.every(({ promptFrom }) => promptFrom === "own")).toBe(true);
});

test.each([
  ["coder", [/features/, /several files/, /refactoring/, /Not for a one-line edit/]],
  ["tester", [/unit and integration tests/, /runs them/, /by tests first/, /failures mean/, /Not for mending/]],
  ["reviewer", [/before a change is kept/, /security/, /architecture/, /Not for style/]],
  [
    "planner",
    [/large goal into steps/, /many files/, /architecture/, /roadmap/, /Not for work whose steps are obvious/],
  ],
  ["debugger", [/failure/, /crash/, /slowness/, /Not for building/]],
  ["researcher", [/many files/, /before a plan/, /Not for a fact in one known file/]],
])("%s has a description of when to use it, and when not", (id, words) => {
  for (const word of words) expect(registry.find(id)?.description).toMatch(word);
});

test("main delegates to everyone, planner and coder to their helpers, and no other agent delegates", () => {
  const arrows = shipped.filter(({ subagents }) => subagents.allow.length > 0);
  expect(Object.fromEntries(arrows.map(({ id, subagents }) => [id, subagents.allow.toSorted()]))).toEqual({
    main: ["*", "coder", "debugger", "general-purpose", "planner", "researcher", "reviewer", "tester"],
    planner: ["coder", "reviewer", "tester"],
    coder: ["tester"],
  });
});

describe("each role has a prompt of its own", () => {
  test.each([
    ["researcher", [/never write|change nothing/, /search/i, /path and line|source/, /question/]],
    ["planner", [/do not edit files/, /steps/i, /steps\s+before it/, /risk/i, /check/]],
    ["coder", [/code/, /small steps/, /tests/, /commit/i, /report/i]],
    ["reviewer", [/edit nothing|never edit/, /tests?/, /verdict/i, /finding/i]],
    ["tester", [/write tests/, /fold(er|ers) of tests|test folders/, /fail/, /report/i]],
    [
      "report-creation-expert",
      [
        /kind of request/i,
        /crawl_parallel/,
        /save_corpus[\s\S]*mandatory/,
        /read_corpus/,
        /theme/,
        /citation/,
        /contradict/,
      ],
    ],
    ["debugger", [/reproduce/i, /cause/, /prove|evidence/i]],
  ])("%s knows its duties", (id, duties) => {
    const prompt = registry.find(id)?.prompt ?? "";
    for (const duty of duties) expect(prompt).toMatch(duty);
  });

  test("no two of them are the same", () => {
    const prompts = shipped.map(({ prompt }) => prompt);
    expect(new Set(prompts).size).toBe(prompts.length);
  });
});

describe("a report from the web", () => {
  const words = ["report", "comprehensive", "detailed", "in-depth", "analysis", "summary of * search results"];

  test.each(["main", "report_main"])("%s has to delegate it, after a search, and checks its corpus", (id) => {
    const team = id.startsWith("report_") ? "report_" : "";
    const agent = `${team}report-creation-expert`;
    expect(registry.find(id)).toMatchObject({
      triggers: [{ words: expect.arrayContaining(words), agent, after: ["web_search"] }],
      childVerifiers: [{ name: "report-corpus", agent, words: ["report", "comprehensive", "html", "work_products"] }],
      observers: [{ name: "save-search-results" }],
    });
  });

  test.each([
    ["themes", /write by theme, not article by article/],
    ["citations", /Each claim has a citation beside it: a link .* to an address of the corpus/],
    ["numbers and dates", /exact numbers with their units, and dates/],
    ["quotes", /Quote the sentences .* word for word, in quotation marks, with their source/],
    ["contradictions", /Where sources contradict each other, give both versions/],
    ["an executive summary first", /in this order:\s+1\. `<section id="executive-summary">`/],
    ["styles in its one file", /Its styles are in the page itself/],
  ])("is asked for with %s", (_, words) => {
    expect(registry.find("report-creation-expert")?.prompt).toMatch(words);
  });

  test("is checked for its corpus, its citations and its form", () => {
    expect(registry.find("report-creation-expert")).toMatchObject({
      verifiers: [
        { name: "report-corpus", params: { before: ["work_products"] } },
        { name: "citations-resolve" },
        { name: "report-form" },
      ],
      observers: [{ name: "save-workbench-activity" }, { name: "enrich-corpus" }],
    });
  });
});
