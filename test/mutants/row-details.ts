import type { Mutant } from "./mutant.ts";

const agents = "packages/roles/agents";
const shipped = "packages/roles/src/shipped-agents.test.ts";
const expert = `${agents}/report-creation-expert.md`;
const asked = `${shipped} > a report from the web > is asked for with`;
const roles = "test/tools/shipped-roles.test.ts > a shipped role";
const mail = "packages/connectors/src/tools/email";
const onceForCall = `${mail}/mail-tools.test.ts > a mail > is answered, and stored as a draft, once for each call`;
const schema = "packages/recorder/src/record/record-store.test.ts > the schema";
const migrations = "packages/recorder/src/record/table-migrations.ts";
const aggregate = "packages/runtime/src/team/aggregate.ts";
const aggregateTest = "packages/runtime/src/team/aggregate.test.ts";
const response = "packages/core/src/machines/agent/response.ts";
const statuses =
  "packages/core/src/machines/agent/intent.test.ts > the context of a run moves through its statuses > cancelled at work: failed, with the reason as its summary";

/** Breaks halves of rows that the mutants of the other files leave whole. */
export const mutants: readonly Mutant[] = [
  {
    name: "no run is a success",
    rows: ["S2.9a"],
    file: response,
    find: 'success: outcome.status === "completed",',
    replace: "success: false,",
    tests: [
      "packages/core/src/machines/agent/execute.test.ts > one turn after another > an answer without calls completes the run",
    ],
  },
  {
    name: "the summary of a failure is the last text of the model",
    rows: ["S4.3c"],
    file: response,
    find: 'outcome.status === "completed" ? ofPlan || sections.summary || details : (outcome.error?.message ?? details),',
    replace: "ofPlan || sections.summary || details || outcome.status,",
    tests: [
      statuses,
      "packages/core/src/machines/agent/intent.test.ts > the context of a run moves through its statuses > denied: failed, with the reason as its summary",
    ],
  },
  {
    name: "a run that was stopped has a summary without its reason",
    rows: ["S4.3c"],
    file: "packages/core/src/machines/agent/run-context.ts",
    find: "summary: settled?.summary ?? null,",
    replace: 'summary: status === "failed" ? "failed" : (settled?.summary ?? null),',
    tests: [statuses],
  },
  {
    name: "the reviewer of the pipeline may write",
    rows: ["S2.5b"],
    file: "packages/roles/teams/pipeline/reviewer.md",
    find: "  writes: []\n",
    replace: "",
    tests: [`${roles} > pipeline_reviewer may run commands, and may write nowhere`],
  },
  {
    name: "the reviewer of the pipeline has a tool that commits",
    rows: ["S2.5b"],
    file: "packages/roles/teams/pipeline/reviewer.md",
    find: "tools: [read, ls, search, test, git_diff, shell, recall]",
    replace: "tools: [read, ls, search, test, git_diff, git_commit, shell, recall]",
    tests: [`${roles} > pipeline_reviewer may run commands, and may write nowhere`],
  },
  {
    name: "findings of failures are lost",
    rows: ["S2.10d"],
    file: aggregate,
    find: 'findings: findings ? collect(responses, "findings") : [],',
    replace: 'findings: findings ? collect(responses.filter(({ success }) => success), "findings") : [],',
    tests: [`${aggregateTest} > returns findings if asked, without duplicates`],
  },
  {
    name: "a combined summary hides how a failure ended",
    rows: ["S2.10d"],
    file: aggregate,
    find: '${success ? "" : ` (${status.replace("_", " ")})`}',
    replace: '${success || status ? "" : " (failed)"}',
    tests: [`${aggregateTest} > counts and adds up`],
  },
  {
    name: "a reply has a key of its own for each try",
    rows: ["S4.9c"],
    file: `${mail}/send-mail-tools.ts`,
    find: "port.replyToMessage(message_id, reply, call.key)",
    replace: "port.replyToMessage(message_id, reply, { idempotencyKey: `${Math.random()}` })",
    tests: [onceForCall],
  },
  {
    name: "a draft has a key of its own for each try",
    rows: ["S4.9c"],
    file: `${mail}/send-mail-tools.ts`,
    find: "port.createDraft(content, call.key)",
    replace: "port.createDraft(content, { idempotencyKey: `${Math.random()}` })",
    tests: [onceForCall],
  },
  {
    name: "the index on status is one on the start",
    rows: ["S5.1a"],
    file: migrations,
    find: "CREATE INDEX idx_messages_status ON messages (status);",
    replace: "CREATE INDEX idx_messages_status ON messages (started_at);",
    tests: [`${schema} > of messages has these indexes and foreign keys, and ids that never come back`],
  },
  {
    name: "an iteration count has no default",
    rows: ["S5.1a"],
    file: migrations,
    find: "  iteration_count INTEGER DEFAULT 0,",
    replace: "  iteration_count INTEGER,",
    tests: [`${schema} > of messages has these columns, types and defaults, and no others`],
  },
  {
    name: "the planner is not for breaking down a goal",
    rows: ["S5.10a"],
    file: `${agents}/planner.md`,
    find: "Breaks a large goal into steps, decides on architecture",
    replace: "Decides on architecture",
    tests: [`${shipped} > planner has a description of when to use it, and when not`],
  },
  {
    name: "the tester is not for the results of tests",
    rows: ["S5.10a"],
    file: `${agents}/tester.md`,
    find: ", to drive a feature by tests first, or to find out what a suite's failures mean.",
    replace: ", or to drive a feature by tests first.",
    tests: [`${shipped} > tester has a description of when to use it, and when not`],
  },
  {
    name: "a plan mode does not reach the agents below",
    rows: ["SEC.3e"],
    file: "packages/core/src/permissions/grant.ts",
    find: "return [...above, { ...ownLayer(parent), agents: null }];",
    replace:
      "const { readOnly: _, ...own } = ownLayer(parent);\n  return [...above, { ...own, agents: null, writes: null }];",
    tests: ["test/troupe/imported-limits.test.ts > permissionMode: plan"],
  },
  {
    name: "each model of a provider has its own limits",
    rows: ["S2.16c"],
    file: "packages/troupe/src/models/open-models.ts",
    find: "  return createReliableProvider({ provider: adapter, limits: provider.settings.limits, clock, random: Math.random });",
    replace: `  const { limits } = provider.settings;
  const byModel = new Map<string, ModelProvider>();
  const call: ModelProvider["call"] = (request, options) => {
    const known = byModel.get(request.model) ?? createReliableProvider({ provider: adapter, limits, clock, random: Math.random });
    byModel.set(request.model, known);
    return known.call(request, options);
  };
  return { ...adapter, call };`,
    tests: [
      "packages/troupe/src/models/open-models.test.ts > all agents of a process share the rate limits of a provider",
    ],
  },
  {
    name: "the median time is the mean",
    rows: ["S5.12e"],
    file: "packages/recorder/src/record/agent-stats.ts",
    find: "low === undefined || high === undefined ? null : (low + high) / 2",
    replace:
      "low === undefined || high === undefined ? null : sorted.reduce((sum, one) => sum + one, 0) / sorted.length",
    tests: [
      "packages/recorder/src/record/agent-stats.test.ts > the statistics of agents > the median time of [1,1,1,1000] is 1",
    ],
  },
  {
    name: "a report has no quotes",
    rows: ["S1.12"],
    file: expert,
    find: "- Quote the sentences that carry a point word for word, in quotation marks, with their source.\n",
    replace: "",
    tests: [`${asked} quotes`],
  },
  {
    name: "a report has no dates",
    rows: ["S1.12"],
    file: expert,
    find: "exact numbers with their units, and dates.",
    replace: "exact numbers with their units.",
    tests: [`${asked} numbers and dates`],
  },
  {
    name: "a report hides contradictions",
    rows: ["S1.12"],
    file: expert,
    find: "- Where sources contradict each other, give both versions, and say which one is better supported and why.\n",
    replace: "",
    tests: [`${asked} contradictions`],
  },
  {
    name: "a task may ask other agents unless it says no",
    rows: ["S2.8e"],
    file: "packages/runtime/src/team/plan-request.ts",
    find: "{ tools, delegates = false }: CheckedSpawnOptions",
    replace: "{ tools, delegates = true }: CheckedSpawnOptions",
    tests: ['packages/runtime/src/team/team.test.ts > a task > of lead in a team {} with {} may use {"agents":[]}'],
  },
  {
    name: "a helper of a helper does not work with the prompt of the first parent",
    rows: ["S3.6b"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: 'return pin.definition.promptFrom === "parent" && request.parentPrompt ? request.parentPrompt : pin.definition.prompt;',
    replace: 'return request.depth < 0 ? (request.parentPrompt ?? "") : pin.definition.prompt;',
    tests: ["packages/core/src/machines/agent/plan-batch.test.ts > an agent that works with its parent's prompt"],
  },
  {
    name: "a failure of the host says milliseconds",
    rows: ["S4.6a"],
    file: "packages/connectors/src/tools/calls/error-output.ts",
    find: "retryAfterS: retryAfterMs / 1_000",
    replace: "retryAfterS: retryAfterMs",
    tests: ["packages/connectors/src/tools/calls/error-output.test.ts > the error of a failed call"],
  },
  {
    name: "an unknown failure counts as a lost connection",
    rows: ["S4.6a"],
    file: "packages/connectors/src/tools/calls/error-output.ts",
    find: 'known.success ? known.data : "tool_error"',
    replace: 'known.success ? known.data : "network"',
    tests: ["packages/connectors/src/tools/calls/error-output.test.ts > the error of a failed call"],
  },
  {
    name: "an exception of a connector counts as a lost connection",
    rows: ["S4.6a"],
    file: "packages/connectors/src/tools/calls/error-output.ts",
    find: 'return new ConnectorError("tool_error", messageOf(thrown), { cause: thrown });',
    replace: 'return new ConnectorError("network", messageOf(thrown), { cause: thrown });',
    tests: ["packages/connectors/src/tools/calls/error-output.test.ts > the error of a failed call"],
  },
  {
    name: "the terminal shows the calls of the first agent only",
    rows: ["S2.17e"],
    file: "packages/cli/src/render/progress.ts",
    find: 'if (event.kind === "tool.finished" && run)',
    replace: 'if (event.kind === "tool.finished" && run?.parentRun === null)',
    tests: [
      "packages/cli/src/render/render.test.ts > progress > shows each finished call of a sub-agent with its argument, time and result",
    ],
  },
  {
    name: "the tree at the terminal shows no running call",
    rows: ["S2.17e"],
    file: "packages/cli/src/render/live-tree.ts",
    find: 'activities.set(event.run, { text: `⚙ ${words.join(": ")}`, sinceMs: nowMs });',
    replace: 'activities.set(event.run, { text: words.length > 9 ? "⚙" : "", sinceMs: nowMs });',
    tests: [
      "packages/cli/src/render/live-tree.test.ts > the live tree > shows the running call with its argument and its time, until it has ended",
    ],
  },
  {
    name: "a parent goes on with the first of its calls",
    rows: ["S3.8a"],
    file: "packages/core/src/machines/agent/setup/tools.ts",
    find: 'context.calls.every(({ phase }) => phase === "settled")',
    replace: 'context.calls.some(({ phase }) => phase === "settled")',
    tests: [
      "packages/core/src/machines/agent/delegate.test.ts > siblings do not disturb each other > one fails, the others continue, and the results are in call order",
    ],
  },
  {
    name: "an excerpt of a conversation has its beginning",
    rows: ["S3.3c"],
    file: "packages/core/src/machines/agent/conversation.ts",
    find: "text.slice(-charactersMax)",
    replace: "text.slice(0, charactersMax)",
    tests: [
      "packages/runtime/src/host/effects/summarise.test.ts > without a summary, the newest part of the conversation replaces it:",
    ],
  },
  {
    name: "a stored rule by prefix allows a line that sets a variable",
    rows: ["SEC.3d"],
    file: "packages/core/src/permissions/command-pattern.ts",
    find: "!command.assigns && !command.writes &&",
    replace: "!command.writes &&",
    tests: ["packages/tools/src/policy/command-rules.test.ts > a stored rule"],
  },
];
