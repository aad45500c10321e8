import type { Mutant } from "./mutant.ts";

const planBatch = "packages/core/src/machines/agent/plan-batch.ts";
const runSpec = "packages/runtime/src/host/claim/run-spec.ts";
const runSpecTest = "packages/runtime/src/host/claim/run-spec.test.ts";
const team = "packages/runtime/src/team";
const teamTest = "packages/runtime/src/team/team.test.ts";
const delegateTest = "packages/core/src/machines/agent/delegate.test.ts";
const pipeline = "test/delegation/pipeline.test.ts > with one host";
const research =
  "test/delegation/use-cases.test.ts > with one host > a research coordinator asks three specialists at once and reports their findings";
const delegationResult = "packages/core/src/delegation/result.ts";

/** Breaks the promises of S2.11 to S2.13: teams from a program. */
export const mutants: readonly Mutant[] = [
  {
    name: "a budget of its own is ignored",
    rows: ["S2.11a"],
    file: `${team}/plan-request.ts`,
    find: "tightenBudget(tightenBudget(most, budget), maxBudgetOf({ ...agent, subagents }))",
    replace: "tightenBudget(tightenBudget(most, {}), maxBudgetOf({ ...agent, subagents }))",
    tests: [`${team}/budget.test.ts > a team's budget > gives a task less if its options say so`],
  },
  {
    name: "a role has no limits of its own",
    rows: ["S2.11b"],
    file: runSpec,
    find: "const own = Limits.parse({ ...ofDomain, ...definition.limits });",
    replace: "const own = Limits.parse({ ...ofDomain });",
    tests: [`${teamTest} > a task > has the tools and the limits of its role, or fewer`],
  },
  {
    name: "a role has all tools",
    rows: ["S2.11b"],
    file: "packages/core/src/permissions/grant.ts",
    find: '    kind: "agent",\n    tools,',
    replace: '    kind: "agent",\n    tools: null,',
    tests: [`${teamTest} > a task > has the tools and the limits of its role, or fewer`],
  },
  {
    name: "a child has another model than its parent",
    rows: ["S2.11c", "S2.16b"],
    file: planBatch,
    find: "model: request.plan ? request.model : pin.model,",
    replace: 'model: "scripted/demo",',
    tests: [`${delegateTest} > a delegation > is one request with all fields of the child`],
  },
  {
    name: "an agent does not inherit its temperature",
    rows: ["S2.11c"],
    file: runSpec,
    find: "temperature: definition.temperature ?? request.temperature,",
    replace: "temperature: definition.temperature,",
    tests: [`${runSpecTest} > the model > is the request's for an agent that inhe…`],
  },
  {
    name: "an agent inherits no model",
    rows: ["S2.11c"],
    file: runSpec,
    find: "inherited: request.model, agent",
    replace: 'inherited: "test/other", agent',
    tests: [`${runSpecTest} > the model > is the request's for an agent that inhe…`],
  },
  {
    name: "a run is told of tools that it may not use",
    rows: ["S2.11d"],
    file: runSpec,
    find: "const tools = specs.filter(({ name }) => grant.tools.includes(name));",
    replace: "const tools = [...specs];",
    tests: [`${runSpecTest} > the grant > is the intersection of every layer and the definition`],
  },
  {
    name: "a tool that was not granted runs",
    rows: ["S2.11d", "S2.15b"],
    file: "packages/tools/src/tool-host.ts",
    find: "if (!grant.tools.includes(call.name)) throw notGranted(call.name, grant.tools);",
    replace: "",
    tests: [`${teamTest} > a task > cannot run a tool that it was not granted`],
  },
  {
    name: "an active task is not listed",
    rows: ["S2.11e"],
    file: `${team}/team.ts`,
    find: "active.set(run, { session, agent: input.agent, task: input.task, startedAt: scope.deps.clock.now() });",
    replace: "void session;",
    tests: [`${teamTest} > a task > is active from its start until it has settled`],
  },
  {
    name: "a settled task stays in the list",
    rows: ["S2.11e"],
    file: `${team}/team.ts`,
    find: "response: track(spawned.response.finally(() => active.delete(run)))",
    replace: "response: track(spawned.response)",
    tests: [`${teamTest} > a task > is active from its start until it has settled`],
  },
  {
    name: "a fan-out answers in the order of the ends",
    rows: ["S2.12a"],
    file: `${team}/team.ts`,
    find: "for (const [i, input] of queue) responses[i] = await start(input, claims[i] as BudgetClaim, stops).response;",
    replace:
      "for (const [i, input] of queue) responses.push(await start(input, claims[i] as BudgetClaim, stops).response);",
    tests: [`${team}/fan-out.test.ts > a fan-out > returns responses in the order of the tasks, failures included`],
  },
  {
    name: "a fan-out runs four at once",
    rows: ["S2.12b"],
    file: `${team}/team.ts`,
    find: "const maxConcurrentDefault = 3;",
    replace: "const maxConcurrentDefault = 4;",
    tests: [
      `${team}/fan-out.test.ts > a fan-out > with maxConcurrent undefined of 20 tasks runs 3 at once, never more`,
    ],
  },
  {
    name: "a fan-out ignores its concurrency",
    rows: ["S2.12b"],
    file: `${team}/team.ts`,
    find: "Array.from({ length: Math.min(maxConcurrent, tasks.length) }, work)",
    replace: "Array.from({ length: Math.min(maxConcurrent + 1, tasks.length) }, work)",
    tests: [`${team}/fan-out.test.ts > a fan-out > with maxConcurrent 7 of 20 tasks runs 7 at once, never more`],
  },
  {
    name: "an exception ends a fan-out",
    rows: ["S2.12c", "S2.18b"],
    file: `${team}/spawn.ts`,
    find: "return notStartedFor(draft, thrown);",
    replace: "throw thrown;",
    tests: [`${team}/fan-out.test.ts > a fan-out > returns responses in the order of the tasks, failures included`],
  },
  {
    name: "a sum leaves the tool calls out",
    rows: ["S2.13b"],
    file: `${team}/aggregate.ts`,
    find: "toolCalls: sum(totals.map(({ toolCalls }) => toolCalls)),",
    replace: "toolCalls: totals[0]?.toolCalls ?? 0,",
    tests: [`${team}/aggregate.test.ts > counts and adds up`],
  },
  {
    name: "a failed child reads like a success",
    rows: ["S2.13a"],
    file: "packages/core/src/machines/agent/calls.ts",
    find: "return { text: JSON.stringify(resultOf(first.response, detailsOf)), isError: !first.response.success };",
    replace: "return { text: JSON.stringify(resultOf(first.response, detailsOf)), isError: false };",
    tests: [`${pipeline} > stops at a plan that failed: nothing is carried out`],
  },
  {
    name: "an agent of the first step cannot be asked again",
    rows: ["S2.13a", "S2.13d"],
    file: planBatch,
    find: "if (!ids.includes(id)) return delegateRefusal",
    replace: "if (!ids.includes(id) || context.step > 2) return delegateRefusal",
    tests: [
      `${pipeline} > plans, carries out each step, has the changes reviewed, and counts the tool calls of all`,
      `${pipeline} > researches, plans, implements, has it reviewed and mends the finding, each with the result before it`,
    ],
  },
  {
    name: "the calls of children are not added to their parent's",
    rows: ["S2.13b"],
    file: "packages/core/src/machines/agent/usage.ts",
    find: "toolCalls: a.toolCalls + b.toolCalls,\n    inputTokens",
    replace: "toolCalls: a.toolCalls,\n    inputTokens",
    tests: [`${pipeline} > plans, carries out each step, has the changes reviewed, and counts the tool calls of all`],
  },
  {
    name: "a child does not read its context files",
    rows: ["S2.13d"],
    file: "packages/runtime/src/host/effects/child-request.ts",
    find: "if (request.contextFiles.length === 0) return request;",
    replace: "if (request.contextFiles.length >= 0) return request;",
    tests: [`${pipeline} > drives a function by its tests: the coder reads the tests, and then the tester runs them`],
  },
  {
    name: "researchers work one after the other",
    rows: ["S2.13c", "S2.17g"],
    file: runSpec,
    find: 'execution === "sequential" ? 1 : max_concurrent',
    replace: "1",
    tests: [research],
  },
  {
    name: "a report lacks the findings of the children",
    rows: ["S2.13c"],
    file: delegationResult,
    find: "run_id: response.runId, ...toDelegationResult(response), details }",
    replace: 'run_id: response.runId, status: response.status, details: "" }',
    tests: [research],
  },
];
