import type { Mutant } from "./mutant.ts";

const hostTest = "packages/runtime/src/host/actor-host.test.ts > a host";
const team = "packages/runtime/src/team";
const teamTest = "packages/runtime/src/team/team.test.ts";
const composeResponse = "packages/core/src/machines/agent/response.ts";
const respondTest = "packages/core/src/machines/agent/respond.test.ts";

/** Breaks the promises of S2.8 to S2.10: the settings, the result and the life of a child. */
export const mutants: readonly Mutant[] = [
  {
    name: "a spawned task has other words",
    rows: ["S2.8a", "S2.11a"],
    file: `${team}/spawn.ts`,
    find: "const draft = rootRequest(team.ids, { agent: agentIdOf(agent), task, layers: [], model, workspace });",
    replace:
      "const draft = rootRequest(team.ids, { agent: agentIdOf(agent), task: agentIdOf(agent), layers: [], model, workspace });",
    tests: [`${teamTest} > a task > is a session of its own, and has the response of its run`],
  },
  {
    name: "a list of tools is not kept",
    rows: ["S2.8b", "S2.11a", "S2.15b"],
    file: `${team}/plan-request.ts`,
    find: "...(tools ? { tools } : {}), ",
    replace: "",
    tests: [`${teamTest} > a task > cannot run a tool that it was not granted`],
  },
  {
    name: "a number of tool calls is not kept",
    rows: ["S2.8c", "S2.11a"],
    file: `${team}/plan-request.ts`,
    find: "Object.entries({ maxToolCalls, maxContextTokens,",
    replace: "Object.entries({ maxContextTokens,",
    tests: [`${teamTest} > a task > can use its number of tool calls and no more`],
  },
  {
    name: "a limit of the conversation is not kept",
    rows: ["S2.8d"],
    file: `${team}/plan-request.ts`,
    find: "Object.entries({ maxToolCalls, maxContextTokens,",
    replace: "Object.entries({ maxToolCalls,",
    tests: [`${teamTest} > a task > has a conversation of its own, which its limit keeps short`],
  },
  {
    name: "a task may spawn by default",
    rows: ["S2.8e"],
    file: `${team}/plan-request.ts`,
    find: "checkSpawn({ task: draft.task, options: given })",
    replace: "checkSpawn({ task: draft.task, options: { delegates: true, ...given } })",
    tests: [`${teamTest} > a task > asks other agents only if its options say so`],
  },
  {
    name: "a folder of its own is ignored",
    rows: ["S2.8f"],
    file: `${team}/plan-request.ts`,
    find: "const workspace = options.workspace ?? settings.workspace;",
    replace: "const { workspace } = settings;",
    tests: [`${teamTest} > a task > works in the folder of its options, or else of the team`],
  },
  {
    name: "a task without a time limit may run for an hour",
    rows: ["S2.8g", "S2.16d"],
    file: "packages/core/src/protocol/limits.ts",
    find: "maxDurationMs: caps.shape.maxDurationMs.default(300_000),",
    replace: "maxDurationMs: caps.shape.maxDurationMs.default(3_600_000),",
    tests: [
      `${teamTest} > a run that ends badly is a response, not an exception: > taking too long with {}: after 300000 ms`,
    ],
  },
  {
    name: "every run is a success",
    rows: ["S2.9a"],
    file: composeResponse,
    find: 'success: outcome.status === "completed",',
    replace: "success: true,",
    tests: [`${respondTest} > verifiers > fail repeatedly: the answer is returned twice, and then the run fails`],
  },
  {
    name: "a summary may be longer",
    rows: ["S2.9b"],
    file: composeResponse,
    find: "const summaryCharsMax = 500;",
    replace: "const summaryCharsMax = 510;",
    tests: [`${respondTest} > the response > summary: cut at 500`],
  },
  {
    name: "the details are the summary",
    rows: ["S2.9c"],
    file: composeResponse,
    find: "    details,\n    data,",
    replace: "    details: sections.summary || details,\n    data,",
    tests: [
      "packages/core/src/machines/agent/answer-sections.test.ts > the response > has the sections, and its own words as details",
    ],
  },
  {
    name: "the tools that were used are not named",
    rows: ["S2.9c"],
    file: composeResponse,
    find: "toolsUsed: usage.toolsUsed,",
    replace: "toolsUsed: [],",
    tests: [
      `${respondTest} > the metrics of a response > count the run's tool calls, its time and the size of its conversation`,
    ],
  },
  {
    name: "a response has no findings",
    rows: ["S2.9d"],
    file: composeResponse,
    find: "findings: sections.findings,",
    replace: "findings: [],",
    tests: [
      "packages/core/src/machines/agent/answer-sections.test.ts > the response > has the sections, and its own words as details",
    ],
  },
  {
    name: "the tool calls are not counted",
    rows: ["S2.9e"],
    file: composeResponse,
    find: "toolCalls: own.toolCalls,",
    replace: "toolCalls: 0,",
    tests: [
      `${respondTest} > the metrics of a response > count the run's tool calls, its time and the size of its conversation`,
    ],
  },
  {
    name: "the size of the conversation is unknown",
    rows: ["S2.9e"],
    file: composeResponse,
    find: "contextSize: context.contextTokens,",
    replace: "contextSize: 0,",
    tests: [
      `${respondTest} > the metrics of a response > count the run's tool calls, its time and the size of its conversation`,
    ],
  },
  {
    name: "the duration is that of the last step",
    rows: ["S2.9e"],
    file: composeResponse,
    find: "const durationMs = Math.max(0, context.lastAt - context.openedAt);",
    replace: "const durationMs = 0 * context.lastAt;",
    tests: [
      `${respondTest} > the metrics of a response > count the run's tool calls, its time and the size of its conversation`,
    ],
  },
  {
    name: "an error is kept from the parent",
    rows: ["S2.9f"],
    file: composeResponse,
    find: "error: outcome.error,",
    replace: "error: null,",
    tests: [`${respondTest} > verifiers > fail repeatedly: the answer is returned twice, and then the run fails`],
  },
  {
    name: "the tool of the model says nothing of an error",
    rows: ["S2.9f"],
    file: "packages/core/src/protocol/response.ts",
    find: "...(response.error ? { error: toSnakeCase(response.error) } : {}),",
    replace: "",
    tests: [
      "packages/core/src/protocol/response.test.ts > the result of a child for its parent's model > a failure has its error, in the same format",
    ],
  },
  {
    name: "two tasks share a session",
    rows: ["S2.10a"],
    file: `${team}/spawn.ts`,
    find: "    session: draft.session,\n    response: settle(),",
    replace: "    session: draft.run,\n    response: settle(),",
    tests: [`${teamTest} > a task > is a session of its own, and has the response of its run`],
  },
  {
    name: "the model of a child is given the conversation of the team's other tasks",
    rows: ["S2.10b"],
    file: "packages/runtime/src/host/effects/call-model.ts",
    find: "      messages,\n      tools: lastTurn",
    replace: '      messages: [{ role: "user", text: "before" }, ...messages],\n      tools: lastTurn',
    tests: [`${teamTest} > a task > has a conversation of its own, which its limit keeps short`],
  },
  {
    name: "findings are never aggregated",
    rows: ["S2.10d"],
    file: `${team}/aggregate.ts`,
    find: 'findings: findings ? collect(responses, "findings") : [],',
    replace: "findings: [],",
    tests: [`${team}/aggregate.test.ts > returns findings if asked, without duplicates`],
  },
  {
    name: "a completed run tells nothing",
    rows: ["S2.10c"],
    file: composeResponse,
    find: "status: outcome.status,",
    replace: 'status: "failed",',
    tests: [`${hostTest} > runs one agent from request to response, every step in its journal`],
  },
];
