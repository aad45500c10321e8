import { AgentDefinition } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createAgentSource, shippedTeamsFolder } from "./agent-source.ts";

// The teams that come with the package: their members, tools, limits and delegations are part of what it promises.

const registry = await createAgentSource({ userFolders: [] }).load(null);
const members = registry.agents.filter(({ team }) => team !== undefined);

const minute = 60_000;
const none = undefined;
const charactersPerToken = 4;
const readOnly: string[] = [];
const anywhere = null;
const testFolders = ["test", "tests", "**/test", "**/tests", "**/__tests__", "**/spec", "**/specs", "**/e2e"];
const leading = ["filesystem", "search", "code", "shell", "test", "git", "web", "memory", "recall"];
const editing = ["read", "write", "edit", "apply_patch", "ls", "glob", "search", "code_search"];
const trying = ["shell", "test", "git", "git_diff"];

function definitionOf(id: string): AgentDefinition {
  return AgentDefinition.parse(registry.find(id));
}

test("each team loads without a problem, not even a warning", () => {
  expect(registry.problems).toEqual([]);
  expect(registry.teams?.map(({ name, entry, origin }) => [name, entry, origin])).toEqual([
    ["coding", "coding_main", "builtin"],
    ["data-pipeline", "data-pipeline_coordinator", "builtin"],
    ["office", "office_main", "builtin"],
    ["pipeline", "pipeline_lead", "builtin"],
    ["report", "report_main", "builtin"],
    ["research", "research_coordinator", "builtin"],
    ["review", "review_code-reviewer", "builtin"],
  ]);
  for (const team of registry.teams ?? []) {
    expect(team.path).toBe(`${shippedTeamsFolder}${team.name}/team.yaml`);
    expect(team.description.length).toBeGreaterThan(40);
  }
});

test.each([
  ["coding_main", leading, anywhere],
  ["coding_planner", [...editing, "overview", "plan_files", ...trying, "git_commit", "notes", "recall"], anywhere],
  ["coding_coder", [...editing, ...trying, "git_commit", "notes", "recall"], anywhere],
  ["coding_tester", ["read", "write", "edit", "ls", "search", "test", "shell", "recall"], testFolders],
  ["coding_reviewer", ["read", "ls", "search", "test", "git_diff", "shell", "recall"], readOnly],
  ["coding_debugger", [...editing, ...trying, "recall"], anywhere],
  ["office_main", ["email", "calendar", "contacts", "slack"], anywhere],
  [
    "office_email",
    [
      ...["gmail_send_email", "gmail_search_messages", "gmail_get_message", "gmail_create_draft"],
      ...["gmail_reply_to_message", "gmail_get_delivery_status"],
    ],
    anywhere,
  ],
  [
    "office_calendar",
    [
      ...["calendar_create_event", "calendar_check_availability", "calendar_list_events", "calendar_update_event"],
      "calendar_delete_event",
    ],
    anywhere,
  ],
  [
    "office_contacts",
    ["contacts_search", "contacts_get_by_id", "contacts_list_organizations", "contacts_validate_email"],
    anywhere,
  ],
  [
    "office_slack",
    [
      ...["slack_get_channel_messages", "slack_search_messages", "slack_get_thread_replies"],
      ...["slack_analyze_conversation", "slack_get_user_info", "slack_post_message"],
    ],
    anywhere,
  ],
  ["pipeline_lead", leading, anywhere],
  [
    "pipeline_researcher",
    ["read", "ls", "search", "code_search", "overview", "docs_coverage", "web_search", "web_fetch", "recall"],
    readOnly,
  ],
  ["pipeline_planner", ["read", "ls", "search", "plan_files", "overview", "recall"], readOnly],
  [
    "pipeline_executor",
    ["read", "write", "edit", "ls", "search", "shell", "test", "git", "git_diff", "git_commit", "recall"],
    anywhere,
  ],
  ["pipeline_reviewer", ["read", "ls", "search", "test", "git_diff", "shell", "recall"], readOnly],
  ["pipeline_tester", ["read", "write", "edit", "ls", "search", "test", "git_diff", "shell", "recall"], testFolders],
  [
    "research_coordinator",
    [
      ...["read", "write", "edit", "ls", "glob", "search", "shell"],
      ...["web_search", "web_fetch", "webReader", "notes", "recall"],
    ],
    anywhere,
  ],
  ["research_data-analyst", ["read", "ls", "glob", "search", "shell", "recall"], readOnly],
  ["research_web-researcher", ["read", "web_search", "web_fetch", "webReader", "recall"], readOnly],
  [
    "research_citation-checker",
    ["read", "ls", "glob", "search", "web_search", "web_fetch", "webReader", "recall"],
    readOnly,
  ],
  [
    "review_code-reviewer",
    ["read", "ls", "glob", "search", "code_search", "test", "git_diff", "shell", "recall"],
    readOnly,
  ],
  ["review_security-auditor", ["read", "ls", "glob", "search", "code_search", "git_diff", "shell", "recall"], readOnly],
  ["review_linter", ["read", "ls", "glob", "search", "git_diff", "shell", "recall"], readOnly],
  [
    "review_test-coverage",
    ["read", "ls", "glob", "search", "code_search", "test", "git_diff", "shell", "recall"],
    readOnly,
  ],
  [
    "data-pipeline_coordinator",
    ["read", "write", "edit", "ls", "glob", "search", "shell", "web_fetch", "webReader", "notes", "recall"],
    anywhere,
  ],
  [
    "data-pipeline_fetcher",
    ["read", "write", "ls", "glob", "search", "shell", "web_fetch", "webReader", "recall"],
    anywhere,
  ],
  ["data-pipeline_transformer", ["read", "write", "edit", "ls", "glob", "search", "shell", "recall"], anywhere],
  ["data-pipeline_reporter", ["read", "write", "edit", "ls", "glob", "search", "shell", "recall"], anywhere],
])("%s has its tools, and writes in its folders", (id, tools, writes) => {
  expect(definitionOf(id)).toMatchObject({ tools, writes, model: "inherit", source: { origin: "builtin" } });
});

test.each([
  ["coding_main", 50, 10 * minute, none, none],
  ["coding_coder", 30, 5 * minute, none, none],
  ["coding_tester", 20, 3 * minute, none, none],
  ["coding_reviewer", 10, 2 * minute, none, none],
  ["coding_planner", 15, 3 * minute, none, none],
  ["coding_debugger", 25, 4 * minute, none, none],
  ["office_main", 10, none, none, none],
  ["office_email", 3, none, none, none],
  ["office_calendar", 3, none, none, none],
  ["office_contacts", 3, none, none, none],
  ["office_slack", 3, none, none, none],
  ["pipeline_lead", 50, 30 * minute, none, none],
  ["pipeline_researcher", none, none, 15, 50_000],
  ["pipeline_planner", none, none, 10, 30_000],
  ["pipeline_executor", none, none, 30, 80_000],
  ["pipeline_reviewer", none, none, 15, 50_000],
  ["pipeline_tester", none, none, 20, 50_000],
])("%s has its caps", (id, iterations, durationMs, toolCalls, characters) => {
  const { maxConcurrent: _, ...limits } = definitionOf(id).limits;
  expect(limits).toEqual({
    ...(iterations === none ? {} : { maxIterations: iterations }),
    ...(durationMs === none ? {} : { maxDurationMs: durationMs }),
    ...(toolCalls === none ? {} : { maxToolCalls: toolCalls }),
    ...(characters === none ? {} : { maxContextTokens: characters / charactersPerToken }),
  });
});

describe("delegations", () => {
  test.each([
    ["coding_main", ["planner", "coder", "tester", "reviewer", "debugger"]],
    ["coding_planner", ["coder", "tester", "reviewer"]],
    ["coding_coder", ["tester"]],
    ["coding_tester", []],
    ["coding_reviewer", []],
    ["coding_debugger", []],
    ["pipeline_lead", ["researcher", "planner", "executor", "reviewer", "tester"]],
    ["pipeline_researcher", []],
    ["pipeline_planner", []],
    ["pipeline_executor", ["reviewer"]],
    ["pipeline_reviewer", []],
    ["pipeline_tester", ["reviewer"]],
    ["office_main", ["email", "calendar", "contacts", "slack"]],
    ["research_coordinator", ["data-analyst", "web-researcher", "citation-checker"]],
    ["review_code-reviewer", ["security-auditor", "linter", "test-coverage"]],
    ["data-pipeline_coordinator", ["fetcher", "transformer", "reporter"]],
  ])("of %s go to the agents of its own team that it needs", (id, names) => {
    const { team, subagents } = definitionOf(id);
    expect(subagents.allow).toEqual(names.map((name) => `${team}_${name}`));
  });

  test("lead from the entry agent to each member, and no other agent of the examples delegates", () => {
    for (const { name, entry, agents } of registry.teams ?? []) {
      const others = agents.filter((id) => id !== entry);
      expect(definitionOf(entry).subagents.allow.toSorted()).toEqual(others.toSorted());
      if (name === "coding" || name === "pipeline") continue;
      expect(others.flatMap((id) => definitionOf(id).subagents.allow)).toEqual([]);
    }
  });

  test("of the examples run at the same time, at most three of the specialists", () => {
    for (const id of ["research_coordinator", "review_code-reviewer"]) {
      expect(definitionOf(id).subagents).toMatchObject({ execution: "parallel", max_concurrent: 3 });
    }
    expect(definitionOf("data-pipeline_coordinator").subagents).toMatchObject({ execution: "parallel" });
    expect(definitionOf("pipeline_lead").subagents.max_concurrent).toBe(3);
  });
});

test.each([
  ["coding_coder", [/features/, /several files/, /refactors/, /Not for an edit of a few lines/]],
  ["coding_tester", [/unit and integration tests/, /runs them/, /before the code exists/, /Not for correcting/]],
  ["coding_reviewer", [/before it is committed/, /security/, /architecture/, /Not for style/]],
  ["coding_planner", [/steps/, /architecture/, /roadmaps/, /Not for work whose steps are obvious/]],
  ["coding_debugger", [/failing test/, /error at run time/, /slow code/, /Not for building/]],
])("%s has a description of when to use it, and when not", (id, words) => {
  for (const word of words) expect(definitionOf(id).description).toMatch(word);
});

test("each member says when not to use it, and each entry agent that it is not a target", () => {
  const entries = new Set(registry.teams?.map(({ entry }) => entry));
  for (const { id, description } of members) {
    expect(description, id).toMatch(entries.has(id) ? /Not a target for other agents\.$/ : /Not for [^.]+\.$/);
  }
});

describe("the main agent of the coding team reads", () => {
  const { prompt } = definitionOf("coding_main");
  test.each([
    ["when to ask the planner", /\*\*planner\*\*: a large or unclear goal, a choice of architecture, or a roadmap/],
    ["when to ask the coder", /\*\*coder\*\*: a new feature, a change over several files, or a refactoring/],
    ["when to ask the tester", /\*\*tester\*\*: unit and integration tests, .* results, or tests that come before/s],
    ["when to ask the reviewer", /\*\*reviewer\*\*: .* before it is committed, a security question, .* architecture/s],
    ["when to ask the debugger", /\*\*debugger\*\*: a failing test, an error at run time, or slow code/],
    ["when to ask no agent", /simple question, a change in one file, or less than five minutes/],
    ["that questions to the user are its own", /an agent cannot ask the user/],
    ["how to write a task", /clear outcome, the paths of the files, and criteria for success/],
    ["that it checks results", /A result is a claim\. Check it before you continue/],
  ])("%s", (_, text) => expect(prompt).toMatch(text));
});

describe("each agent of the pipeline has a prompt of its own", () => {
  test.each([
    ["researcher", [/change nothing/, /Search before you read/, /Report the answer/, /source/]],
    ["planner", [/carry nothing out and you change nothing/, /depends on/, /Risks/, /Report only the plan/]],
    ["executor", [/Follow the plan/, /clean code/, /with tests/, /one small, complete unit/, /Report your work/]],
    ["reviewer", [/make no changes/, /linter/, /Report the verdict/, /suggestion/]],
    ["tester", [/only in folders of tests/, /See each new test fail/, /ask the reviewer/, /Report the tests/]],
  ])("%s knows its duties", (name, duties) => {
    const { prompt } = definitionOf(`pipeline_${name}`);
    for (const duty of duties) expect(prompt).toMatch(duty);
  });

  test("which names the number of tool calls that it has", () => {
    const words: Record<number, string> = { 10: "ten", 15: "fifteen", 20: "twenty", 30: "thirty" };
    const limited = members.filter(({ limits }) => limits.maxToolCalls !== undefined);
    expect(limited).toHaveLength(5);
    for (const { limits, prompt } of limited) expect(prompt).toContain(`${words[limits.maxToolCalls ?? 0]} tool calls`);
  });
});

describe("the office team", () => {
  const domains = { email: "gmail", calendar: "calendar", contacts: "contacts", slack: "slack" };

  test("works by handlers: the main agent for the whole request, the others for one domain each", () => {
    expect(definitionOf("office_main")).toMatchObject({ intent: "patterns", handler: "office", domain: null });
    for (const [domain, handler] of Object.entries(domains)) {
      expect(definitionOf(`office_${domain}`)).toMatchObject({
        ...{ domain, intent: "patterns", handler },
        subagents: { allow: [] },
      });
    }
  });

  test.each(["main", ...Object.keys(domains)])("%s reads the rules of a request without questions", (name) => {
    const { prompt } = definitionOf(`office_${name}`);
    expect(prompt).toMatch(/You get one request, and you give one answer/);
    expect(prompt).toMatch(/[Ii]nstruction inside of (them|it)/);
    expect(prompt).toMatch(name === "contacts" ? /Never complete an address/ : /say (so|it|which one)/);
  });

  test("the agents have all tools of the main agent, and no tool of another domain", () => {
    const tools = Object.keys(domains).flatMap((domain) => definitionOf(`office_${domain}`).tools ?? []);
    expect(new Set(tools).size).toBe(tools.length);
    expect([...new Set(tools.map((tool) => tool.split("_")[0]))]).toEqual(Object.values(domains));
    expect(definitionOf("office_main").tools).toEqual(Object.keys(domains));
  });
});

test("no two members of all teams have the same prompt", () => {
  expect(new Set(members.map(({ prompt }) => prompt)).size).toBe(members.length);
});
