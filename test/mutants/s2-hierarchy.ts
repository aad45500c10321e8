import type { Mutant } from "./mutant.ts";

const roles = "packages/roles/agents";
const shipped = "packages/roles/src/shipped-agents.test.ts";
const planBatch = "packages/core/src/machines/agent/plan-batch.ts";
const runSpec = "packages/runtime/src/host/claim/run-spec.ts";
const runSpecTest = "packages/runtime/src/host/claim/run-spec.test.ts";
const hostTest = "packages/runtime/src/host/actor-host.test.ts > a host";
const team = "packages/runtime/src/team";
const childContext = "test/delegation/context.test.ts > with one host";
const composeResponse = "packages/core/src/machines/agent/response.ts";
const delegateTest = "packages/core/src/machines/agent/delegate.test.ts";
const delegationResult = "packages/core/src/delegation/result.ts";

/** Breaks the promises of S2.1: parents, children and their isolation. */
export const mutants: readonly Mutant[] = [
  {
    name: "a parent reads no result of its child",
    rows: ["S2.1a"],
    file: delegationResult,
    find: "run_id: response.runId, ...toDelegationResult(response), details }",
    replace: 'run_id: response.runId, details: "" }',
    tests: [`${delegateTest} > a delegation > returns the JSON of the child's response to the model`],
  },
  {
    name: "a child does not know its parent",
    rows: ["S2.1a"],
    file: planBatch,
    find: "parent: { run: request.run, agent: request.agent, step, call, item },",
    replace: "parent: null,",
    tests: [`${delegateTest} > a delegation > is one request with all fields of the child`],
  },
  {
    name: "main has no file tools",
    rows: ["S2.1b"],
    file: `${roles}/main.md`,
    find: "tools: [filesystem, search,",
    replace: "tools: [search,",
    tests: [`${shipped} > main has its tools, and writes in its folders`],
  },
  {
    name: "main cannot ask the reviewer",
    rows: ["S2.1b"],
    file: `${roles}/main.md`,
    find: 'reviewer, debugger, general-purpose, "*"]',
    replace: "debugger, general-purpose]",
    tests: [
      `${shipped} > main delegates to everyone, planner and coder to their helpers, and no other agent delegates`,
    ],
  },
  {
    name: "every child gets the whole conversation",
    rows: ["S2.1c", "S2.15d"],
    file: planBatch,
    find: 'return target.domain === null ? (contextMode ?? target.contextMode) : "task_only";',
    replace: 'return target.domain === null ? (contextMode ?? "full") : "task_only";',
    tests: [`${childContext} > a child gets the task alone, by default`],
  },
  {
    name: "the conversation of a child begins with that of its parent",
    rows: ["S2.1c", "S2.10b", "S2.15d"],
    file: "packages/core/src/machines/agent/children.ts",
    find: `    case "task_only":
    case "selective":
      return null;`,
    replace: `    case "task_only":
    case "selective":
      return transcriptOf(context.messages.slice(0, -1));`,
    tests: [`${childContext} > a child gets the task alone, by default`],
  },
  {
    name: "an answer carries the child's whole work into its parent",
    rows: ["S2.1c", "S2.1g", "S2.15d"],
    file: composeResponse,
    find: 'const details = text || outcome.error?.message || "";',
    replace:
      'const details = context.messages.map((message) => message.text).join("\\n") || outcome.error?.message || "";',
    tests: [`${childContext} > a parent reads its child's answer, and nothing of the child's work`],
  },
  {
    name: "children run one after the other",
    rows: ["S2.1d"],
    file: runSpec,
    find: 'execution === "sequential" ? 1 : max_concurrent',
    replace: "1",
    tests: [`${hostTest} > has all children of one turn at work at the same time`],
  },
  {
    name: "a host has one slot",
    rows: ["S2.1d"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: "let used = 0;",
    replace: "let used = capacity - 1;",
    tests: [`${hostTest} > has all children of one turn at work at the same time`],
  },
  {
    name: "a child's reservation does not reduce the tree's budget",
    rows: ["S2.1e", "S2.15c"],
    file: "packages/core/src/budget/ledger.ts",
    find: "const reserved = reserves.reduce((sum, reserve) => sum + (reserve[kind] ?? 0), 0);",
    replace: "const reserved = 0 * reserves.length;",
    tests: ["packages/runtime/src/host/budget.test.ts > a budget for a whole tree"],
  },
  {
    name: "a child gets its parent's whole budget",
    rows: ["S2.1e", "S2.15c"],
    file: "packages/core/src/budget/ledger.ts",
    find: "left[kind] = Math.max(0, limit - (spent[kind] ?? Number.POSITIVE_INFINITY) - reserved);",
    replace: "left[kind] = Math.max(0, limit - reserved);",
    tests: ["packages/runtime/src/host/budget.test.ts > a budget for a whole tree"],
  },
  {
    name: "an agent without targets has the delegate tool",
    rows: ["S2.1f"],
    file: runSpec,
    find: "tools: targets.length > 0 ? [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))] : tools,",
    replace: "tools: [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))],",
    tests: [`${runSpecTest} > the grant > has no disabled agent, and no delegation without agents`],
  },
  {
    name: "an agent that works alone needs a target",
    rows: ["S2.1f"],
    file: "packages/core/src/machines/agent/response.ts",
    find: "status: outcome.status,",
    replace: 'status: context.pin.targets.length > 0 ? outcome.status : "failed",',
    tests: [`${hostTest} > runs an agent that has no sub-agents`],
  },
  {
    name: "a result of any length enters the parent's conversation",
    rows: ["S2.1g"],
    file: delegationResult,
    find: "const detailsCharactersMax = 20_000;",
    replace: "const detailsCharactersMax = 20_000_000;",
    tests: [
      "packages/core/src/delegation/result.test.ts > one result > has at most as much text as fits the parent, and reports the truncation",
    ],
  },
  {
    name: "only the first agent of a list can be asked",
    rows: ["S2.1h"],
    file: runSpec,
    find: "const targets = reachableAgents(request, grant.agents, limits)",
    replace: "const targets = reachableAgents(request, grant.agents, limits).slice(0, 1)",
    tests: [`${hostTest} > lets the model choose at each step whom it asks`],
  },
  {
    name: "delegation is possible in the first step only",
    rows: ["S2.1h"],
    file: "packages/runtime/src/host/effects/call-model.ts",
    find: "tools: lastTurn ? [] : pin.tools,",
    replace: 'tools: lastTurn ? [] : pin.tools.filter(({ name }) => step === 1 || name !== "delegate"),',
    tests: [`${hostTest} > lets the model choose at each step whom it asks`],
  },
  {
    name: "an aggregate counts no failure",
    rows: ["S2.1i", "S2.10d"],
    file: `${team}/aggregate.ts`,
    find: "success: succeeded === responses.length,",
    replace: "success: true,",
    tests: [`${team}/aggregate.test.ts > counts and adds up`],
  },
  {
    name: "an aggregate has the first summary only",
    rows: ["S2.1i", "S2.10d"],
    file: `${team}/aggregate.ts`,
    find: 'summary: responses.map((response) => paragraphOf(response, findings)).join("\\n\\n"),',
    replace: "summary: responses.slice(0, 1).map((response) => paragraphOf(response, findings)).join(),",
    tests: [`${team}/aggregate.test.ts > counts and adds up`],
  },
];
