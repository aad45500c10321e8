import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const batch = `${agent}/batch.test.ts`;
const delegate = `${agent}/delegate.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const streaming = `${agent}/streaming.test.ts`;
const retry = "packages/core/src/machines/delegation/machine.test.ts";
const stopping = "packages/core/src/machines/delegation/stopping.test.ts";
const scheduler = "packages/core/src/machines/batch/scheduler.test.ts";
const result = "packages/core/src/delegation/result.test.ts";
const args = "packages/core/src/delegation/arguments.test.ts";
const response = "packages/core/src/protocol/response.test.ts";
const grant = "packages/core/src/permissions/grant.test.ts";
const parse = "packages/roles/src/parse-agent.test.ts";
const source = "packages/roles/src/agent-source.test.ts";
const shipped = "packages/roles/src/shipped-agents.test.ts";
const prompt = "packages/roles/src/render-prompt.test.ts";
const spec = "packages/runtime/src/host/claim/run-spec.test.ts";
const host = "packages/runtime/src/host/actor-host.test.ts";
const wire = "packages/runtime/src/host/wire.test.ts";
const summary = "packages/runtime/src/host/effects/summarise.test.ts";
const context = "test/delegation/context.test.ts > with one host";
const limits = "test/delegation/pains-limits.test.ts > with one host";
const tree = "test/delegation/pains-tree.test.ts > with one host";
const batches = "test/delegation/batches.test.ts > with one host";
const uses = "test/delegation/use-cases.test.ts > with one host";

const allKeys = `${parse} > a valid file > all keys of troupe's own are read`;
const defaults = `${parse} > a valid file > without optional keys has the defaults of the schema and no caps of its own`;
const callMode = `${batch} > sequential > the mode of a call wins over the mode of the agent`;
const passed = `${plan} > the context from the conversation`;
const parentPrompt = `${plan} > an agent that works with its parent's prompt`;
const general = `${context} > general-purpose > has its parent's prompt and tools, and knows the task alone`;
const request = `${delegate} > a delegation > is one request with all fields of the child`;
const returned = `${delegate} > a delegation > returns the JSON of the child's response to the model`;
const siblings = `${delegate} > siblings do not disturb each other > one fails, the others continue, and the results are in call order`;
const queue = `${delegate} > delegations queue beyond maxConcurrent`;
const refused = `${delegate} > an invalid call gets an error at once`;
const retried = `${delegate} > a recoverable failure is retried`;
const inOrder = `${batch} > a batch > has its result when all tasks have ended, in the order of the tasks`;
const summarised = `${summary} > one call creates it, outside the conversation and without tools`;
const capacity = `${host} > a host > calls models for at most as many runs at once as it has capacity, over all sessions and their children`;
const trace =
  "test/delegation/trace.test.ts > with one host > the trace of a delegation has parent, child, task, passed context, result and duration, in every branch";
const coordinator = `${uses} > a research coordinator asks three specialists at once and reports their findings`;
const review = `${uses} > a review of a change combines three parts, each with the change as context, though one of them fails`;
const pipeline = `${uses} > a data pipeline fetches in parallel, then transforms, then reports in parallel`;

const frontMatter: readonly Mutant[] = [
  {
    name: "the id of an agent file is its name",
    rows: ["S3.1a"],
    file: "packages/roles/src/parse-agent.ts",
    find: "return { id, name: name ?? id };",
    replace: "return { id: name ?? id, name: name ?? id };",
    tests: [allKeys],
  },
  {
    name: "an agent file needs neither id nor name",
    rows: ["S3.1a"],
    file: "packages/roles/src/parse-agent.ts",
    find: "  if (name === null) return null;",
    replace: '  if (name === null) return { id: "a", name: "a" };',
    tests: [`${parse} > an invalid file gets an error with its place`],
  },
  {
    name: "the default of max_concurrent is 3",
    rows: ["S3.1b"],
    file: "packages/core/src/defaults.ts",
    find: "maxConcurrentChildrenDefault = 5",
    replace: "maxConcurrentChildrenDefault = 3",
    tests: [defaults],
  },
  {
    name: "the default mode of an agent file is sequential",
    rows: ["S3.1b"],
    file: "packages/core/src/protocol/agent.ts",
    find: '"sequential"]).default("parallel"),',
    replace: '"sequential"]).default("sequential"),',
    tests: [defaults],
  },
  {
    name: "the list of denied agents is not read",
    rows: ["S3.1b", "S3.15.1"],
    file: "packages/roles/src/parse-agent.ts",
    find: "deny: [...new Set([...subagents.deny, ...(denied?.targets ?? []).map(({ id }) => id)])],",
    replace: "deny: [...new Set((denied?.targets ?? []).map(({ id }) => id))],",
    tests: [allKeys],
  },
  {
    name: "the list of allowed agents is not read",
    rows: ["S3.1b", "S3.15.1"],
    file: "packages/roles/src/parse-agent.ts",
    find: "[...listed, ...(granted?.targets ?? [])] : [];",
    replace: "[...listed.slice(0, 0), ...(granted?.targets ?? [])] : [];",
    tests: [allKeys],
  },
  {
    name: "the mode of an agent file does not reach a batch",
    rows: ["S3.1c", "S3.8d"],
    file: `${agent}/plan-batch.ts`,
    find: 'mode: mode ?? (batch ? context.pin.definition.subagents.execution : "parallel"),',
    replace: 'mode: mode ?? "parallel",',
    tests: [callMode],
  },
  {
    name: "max_concurrent of an agent file does not reach the limits of a run",
    rows: ["S3.1c", "S3.9b"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: 'maxConcurrent: execution === "sequential" ? 1 : max_concurrent',
    replace: 'maxConcurrent: execution === "sequential" ? 1 : max_concurrent * 100',
    tests: [`${spec} > the limits`],
  },
  {
    name: "a list of allowed agents restricts nothing",
    rows: ["S3.1c", "S3.2d", "S3.13a", "S3.15.1"],
    file: "packages/core/src/permissions/grant.ts",
    find: "if (layer.agents !== null && !namesAgent(layer.agents, id)) {",
    replace: 'if (layer.agents !== null && layer.kind !== "agent" && !namesAgent(layer.agents, id)) {',
    tests: [`${grant} > agents`],
  },
];

const rights: readonly Mutant[] = [
  {
    name: "the layers of a child lack the lists of its parent",
    rows: ["S3.2a", "S3.15.8"],
    file: "packages/core/src/permissions/grant.ts",
    find: "return [...above, { ...ownLayer(parent), agents: null }];",
    replace: "return [...above, { ...ownLayer(parent), agents: null, tools: null, denyTools: [] }];",
    tests: [`${grant} > tools`, `${grant} > properties`],
  },
  {
    name: "the grant of a run ignores the layers of its request",
    rows: ["S3.2a", "S3.13c", "S3.15.8"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "grantOf([...request.layers, ...machine], definition",
    replace: "grantOf([...machine], definition",
    tests: [`${spec} > the grant`],
  },
  {
    name: "the request of a child has no layers of its parent",
    rows: ["S3.13c"],
    file: `${agent}/plan-batch.ts`,
    find: "layers: layersForChild(request.layers, pin.definition),",
    replace: "layers: layersForChild(request.layers, pin.definition).slice(0, 0),",
    tests: [`${plan} > the request of a child`],
  },
  {
    name: "a host does not apply its own policy",
    rows: ["S3.2a"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "return [{ ...policyLayer, from: hostId }];",
    replace: "return [{ ...policyLayer, tools: null, denyTools: [], from: hostId }];",
    tests: [`${spec} > the machine that opens a run`],
  },
  {
    name: "a list of allowed tools beats a denial",
    rows: ["S3.2b", "S3.15b"],
    file: "packages/core/src/permissions/grant.ts",
    find: "if (namesTool(layer.denyTools, spec)) return",
    replace: "if (layer.tools === null && namesTool(layer.denyTools, spec)) return",
    tests: [`${grant} > tools`],
  },
  {
    name: "a list of allowed agents beats a denial",
    rows: ["S3.2b", "S3.15.1"],
    file: "packages/core/src/permissions/grant.ts",
    find: "if (namesAgent(layer.denyAgents, id)) return",
    replace: "if (layer.agents === null && namesAgent(layer.denyAgents, id)) return",
    tests: [`${grant} > agents`],
  },
  {
    name: "an agent can delegate to a disabled one",
    rows: ["S3.2c"],
    file: "packages/core/src/permissions/grant.ts",
    find: "if (disabled) return {",
    replace: "if (disabled && id === parent.id) return {",
    tests: [`${grant} > agents`, `${spec} > the grant`],
  },
  {
    name: "an agent file cannot disable its agent",
    rows: ["S3.2c"],
    file: "packages/roles/src/agent-settings.ts",
    find: "  disabled: definition.disabled,",
    replace: "  disabled: definition.disabled.transform(() => false),",
    tests: ["packages/roles/src/delegation-lint.test.ts > disabled agents"],
  },
  {
    name: "an agent without a list may delegate to every agent",
    rows: ["S3.2d"],
    file: "packages/core/src/protocol/agent.ts",
    find: "allow: z.array(z.union([allAgents, Token])).default([]),",
    replace: 'allow: z.array(z.union([allAgents, Token])).default(["*"]),',
    tests: [defaults, `${limits} > pain 1: three children are three runs, however many more they request`],
  },
  {
    name: "a group of tools cannot be granted",
    rows: ["S3.2e"],
    file: "packages/core/src/permissions/grant.ts",
    find: "matches(item, name) || groups.includes(item) ||",
    replace: 'matches(item, name) || groups.includes("") ||',
    tests: [`${grant} > tools`],
  },
  {
    name: "the tools of an MCP server cannot be granted together",
    rows: ["S3.2e"],
    file: "packages/core/src/permissions/grant.ts",
    find: 'return item === name || (item.endsWith("*") && name.startsWith(item.slice(0, -1)));',
    replace: "return item === name;",
    tests: [`${grant} > tools`],
  },
  {
    name: "a tool host runs tools that are not granted",
    rows: ["S3.15b"],
    file: "packages/tools/src/tool-host.ts",
    find: "if (!grant.tools.includes(call.name)) throw notGranted",
    replace: "if (grant.tools.length > 1_000) throw notGranted",
    tests: ["packages/tools/src/tool-host.test.ts > a call is refused before anything runs"],
  },
];

const contexts: readonly Mutant[] = [
  {
    name: "a child gets the whole conversation by default",
    rows: ["S3.3a"],
    file: "packages/core/src/protocol/agent.ts",
    find: 'contextMode: ContextMode.default("task_only"),',
    replace: 'contextMode: ContextMode.default("full"),',
    tests: [context],
  },
  {
    name: "an agent file without a context mode means the whole conversation",
    rows: ["S3.3a"],
    file: "packages/roles/src/agent-settings.ts",
    find: 'ContextMode.default("task_only")',
    replace: 'ContextMode.default("full")',
    tests: [defaults],
  },
  {
    name: "task_only passes the conversation",
    rows: ["S3.3a", "S3.4b", "S3.15.4"],
    file: `${agent}/children.ts`,
    find: '    case "selective":\n      return null;',
    replace: '    case "selective":\n      return transcriptOf(context.messages.slice(0, 1));',
    tests: [`${passed} > task_only: is empty`],
  },
  {
    name: "the conversation of mode full is not passed on",
    rows: ["S3.3b", "S3.15.4"],
    file: `${agent}/children.ts`,
    find: "return transcriptOf(context.messages.slice(0, -1));",
    replace: "return transcriptOf(context.messages.slice(0, 0));",
    tests: [passed],
  },
  {
    name: "full_history means summary",
    rows: ["S3.3b"],
    file: "packages/core/src/delegation/arguments.ts",
    find: '(mode === "full_history" ? "full" : mode)',
    replace: '(mode === "full_history" ? "summary" : mode)',
    tests: [`${args} > one task`],
  },
  {
    name: "the summary is made and not passed on",
    rows: ["S3.3c", "S3.15.4"],
    file: `${agent}/children.ts`,
    find: "return context.summary?.text ?? null;",
    replace: "return context.summary?.text.slice(0, 0) ?? null;",
    tests: [passed],
  },
  {
    name: "the summariser reads only the first message",
    rows: ["S3.3c", "S3.15c"],
    file: "packages/runtime/src/host/effects/summarise.ts",
    find: "text: transcriptOf(messages), step",
    replace: "text: transcriptOf(messages.slice(0, 1)), step",
    tests: [summarised],
  },
  {
    name: "without a summary a child gets nothing",
    rows: ["S3.3c", "S3.15c"],
    file: "packages/runtime/src/host/effects/summarise.ts",
    find: "reply.error ? transcriptOf(messages, excerptCharactersMax) : reply.text",
    replace: 'reply.error ? "" : reply.text',
    tests: [`${summary} > without a summary, the newest part of the conversation replaces it:`],
  },
  {
    name: "the context mode of the agent wins over that of the call",
    rows: ["S3.3d"],
    file: `${agent}/plan-batch.ts`,
    find: "return target.domain === null ? (contextMode ?? target.contextMode)",
    replace: "return target.domain === null ? (contextMode && target.contextMode) || target.contextMode",
    tests: [`${passed} > the agent's own mode applies if the call has none`],
  },
  {
    name: "the context mode of the agent is ignored",
    rows: ["S3.3d"],
    file: `${agent}/plan-batch.ts`,
    find: "return target.domain === null ? (contextMode ?? target.contextMode)",
    replace: 'return target.domain === null ? (contextMode ?? "task_only")',
    tests: [`${passed} > the agent's own mode applies if the call has none`],
  },
  {
    name: "named files are not read for a child",
    rows: ["S3.15.4"],
    file: "packages/runtime/src/host/effects/child-request.ts",
    find: "const context = [request.context, ...parts].filter(",
    replace: "const context = [request.context, ...parts.slice(0, 0)].filter(",
    tests: [
      "packages/runtime/src/host/effects/child-request.test.ts > files are read in order by the parent's tools, under its grant, and follow the rest of the context",
    ],
  },
];

const results: readonly Mutant[] = [
  {
    name: "a retry has the id of the first attempt",
    rows: ["S3.4a"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "run: childRunId({ parentRun, step, call, item, attempt }) };",
    replace: "run: childRunId({ parentRun, step, call, item, attempt: 1 }) };",
    tests: [
      `${retry} > a retry > happens as often as the policy allows, with a doubling backoff and a new run each time`,
    ],
  },
  {
    name: "a child reads the words of its parent besides the task",
    rows: ["S3.4a", "S3.4b"],
    file: `${agent}/plan-batch.ts`,
    find: "      task: task.task,",
    replace: '      task: [...context.messages.map(({ text }) => text), task.task].join(" "),',
    tests: [request, `${tree} > pain 20: a second run of an agent knows nothing of the first`],
  },
  {
    name: "every child gets the prompt of its parent",
    rows: ["S3.4b"],
    file: `${agent}/plan-batch.ts`,
    find: '.some((agent) => agent?.promptFrom === "parent") ?',
    replace: ".some((agent) => agent?.promptFrom !== undefined) ?",
    tests: [`${parentPrompt} > is the only kind that gets it`],
  },
  {
    name: "a second response of a child counts",
    rows: ["S3.4c", "S3.15.6"],
    file: `${agent}/children.ts`,
    find: "return child ? child.reserve !== null && child.attempt === event.attempt : event.attempt === 1;",
    replace: "return child !== null;",
    tests: [retried],
  },
  {
    name: "a response has no data",
    rows: ["S3.4c"],
    file: `${agent}/response.ts`,
    find: "    data,\n",
    replace: "    data: null,\n",
    tests: [`${context} > an answer has to fit the schema in its parent's call`],
  },
  {
    name: "the result of a failed child has no error",
    rows: ["S3.4c", "S3.5a"],
    file: "packages/core/src/protocol/response.ts",
    find: "...(response.error ? { error: toSnakeCase(response.error) } : {}),",
    replace: "...(response.error ? {} : {}),",
    tests: [`${response} > the result of a child for its parent's model`],
  },
  {
    name: "a summary may have 5,000 characters",
    rows: ["S3.4d"],
    file: `${agent}/response.ts`,
    find: "const summaryCharsMax = 500;",
    replace: "const summaryCharsMax = 5_000;",
    tests: [`${agent}/respond.test.ts > the response`],
  },
  {
    name: "the parent's model reads every detail of a child",
    rows: ["S3.4d", "S3.13e"],
    file: "packages/core/src/delegation/result.ts",
    find: "const detailsCharactersMax = 20_000;",
    replace: "const detailsCharactersMax = 20_000_000;",
    tests: [`${result} > one result`],
  },
  {
    name: "the prompt of a child does not ask for a short summary",
    rows: ["S3.4d"],
    file: "packages/roles/src/render-prompt.ts",
    find: "the outcome in a few sentences, at most 500 characters.",
    replace: "the outcome.",
    tests: [`${prompt} > the prompt of a sub-agent`],
  },
  {
    name: "the model reads an empty result",
    rows: ["S3.13e", "S3.15.5"],
    file: `${agent}/calls.ts`,
    find: "text: JSON.stringify(resultOf(first.response)), isError:",
    replace: "text: JSON.stringify(resultOf(first.response)).slice(0, 0), isError:",
    tests: [returned],
  },
  {
    name: "the result of a child comes back as the response of another run",
    rows: ["S3.15.5"],
    file: "packages/core/src/delegation/result.ts",
    find: "const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response) };",
    replace:
      'const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response), summary: "" };',
    tests: [returned],
  },
];

const failures: readonly Mutant[] = [
  {
    name: "a refused circle has the wrong type",
    rows: ["S3.5a"],
    file: `${agent}/plan-batch.ts`,
    find: 'if (chain.includes(id)) return delegateRefusal("permission",',
    replace: 'if (chain.includes(id)) return delegateRefusal("params",',
    tests: [`${plan} > a refused delegation starts no task:`],
  },
  {
    name: "every type of error is retried",
    rows: ["S3.5b"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "if (success || !error || !retry.on.includes(error.type) || request.agent",
    replace: "if (success || !error || request.agent",
    tests: [`${retry} > a retry`],
  },
  {
    name: "the pauses between attempts do not grow",
    rows: ["S3.5b"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "retry.backoffMs * 2 ** (request.attempt - 1)",
    replace: "retry.backoffMs * request.attempt ** 0",
    tests: [`${retry} > a retry`],
  },
  {
    name: "the retry policy of a call is ignored",
    rows: ["S3.5b"],
    file: `${agent}/plan-batch.ts`,
    find: "retry: { ...target.retry, ...task.retry, alternative:",
    replace: "retry: { ...target.retry, alternative:",
    tests: [`${plan} > the retry policy`],
  },
  {
    name: "the retry policy of an agent file is ignored",
    rows: ["S3.5b"],
    file: `${agent}/plan-batch.ts`,
    find: "retry: { ...target.retry, ...task.retry, alternative:",
    replace: "retry: { ...target.retry, backoffMs: 1, ...task.retry, alternative:",
    tests: [`${plan} > the retry policy`],
  },
  {
    name: "the alternative is the same agent again",
    rows: ["S3.5c"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "return alternative === null ? null : { ...next, agent: alternative, workspace };",
    replace: "return alternative === null ? null : { ...next, workspace };",
    tests: [
      `${stopping} > the alternative`,
      `${plan} > the retry policy > uses another agent at the end, with a run of its own`,
    ],
  },
  {
    name: "no alternative is tried",
    rows: ["S3.5c", "S3.5e"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "return alternative === null ? null : { ...next, agent: alternative, workspace };",
    replace: "return alternative === null ? null : alternative === request.task ? { ...next, workspace } : null;",
    tests: [`${batches} > a failing agent is retried as often as its policy allows, and then an alternative runs`],
  },
  {
    name: "a failed child is a success for the parent's model",
    rows: ["S3.5d", "S3.5e", "S3.15.11"],
    file: `${agent}/calls.ts`,
    find: "JSON.stringify(resultOf(first.response)), isError: !first.response.success };",
    replace: "JSON.stringify(resultOf(first.response)), isError: false };",
    tests: [siblings],
  },
  {
    name: "the record keeps no error of a run",
    rows: ["S3.5e"],
    file: "packages/recorder/src/record/projection.ts",
    find: "error: error?.message ?? null,",
    replace: "error: null,",
    tests: [trace],
  },
  {
    name: "the record counts no attempts",
    rows: ["S3.5e"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "return queued({ ...shared, requestType, attempt, maxAttempts: attempt }, atMs);",
    replace: "return queued({ ...shared, requestType, attempt: 1, maxAttempts: attempt }, atMs);",
    tests: [`${batches} > a failing agent is retried as often as its policy allows, and then an alternative runs`],
  },
  {
    name: "an unknown agent is refused without the known ones",
    rows: ["S3.15.11"],
    file: `${agent}/plan-batch.ts`,
    find: 'ids.join(", ")',
    replace: "ids.length",
    tests: [`${plan} > a refused delegation starts no task:`],
  },
];

const generalPurpose: readonly Mutant[] = [
  {
    name: "general-purpose has a list of tools of its own",
    rows: ["S3.6a", "S3.15.7"],
    file: "packages/roles/agents/general-purpose.md",
    find: "model: inherit\n",
    replace: "model: inherit\ntools: [read]\n",
    tests: [`${shipped} > general-purpose works with its parent's prompt and tools, and does not delegate`, general],
  },
  {
    name: "general-purpose works with its own prompt",
    rows: ["S3.6b", "S3.15.7"],
    file: "packages/roles/agents/general-purpose.md",
    find: "promptFrom: parent",
    replace: "promptFrom: own",
    tests: [general],
  },
  {
    name: "the prompt of the parent is not rendered",
    rows: ["S3.6b", "S3.15.7"],
    file: "packages/roles/src/render-prompt.ts",
    find: 'return promptFrom === "parent" ? parentPrompt : null;',
    replace: 'return promptFrom === "parent" ? parentPrompt && null : null;',
    tests: [`${prompt} > an agent that works with its parent's prompt`],
  },
  {
    name: "an agent with the prompt of its parent knows its conversation",
    rows: ["S3.6c", "S3.15.7"],
    file: `${agent}/plan-batch.ts`,
    find: "      contextMode: contextModeOf(task, target),",
    replace: '      contextMode: target.promptFrom === "parent" ? "full" : contextModeOf(task, target),',
    tests: [general],
  },
];

const traces: readonly Mutant[] = [
  {
    name: "the record has no duration of a run",
    rows: ["S3.7a"],
    file: "packages/recorder/src/record/projection.ts",
    find: "durationMs: metrics.durationMs,",
    replace: "durationMs: null,",
    tests: [trace],
  },
  {
    name: "the record has no context mode of a run",
    rows: ["S3.7a"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "const shared = { session, run, parentRun, agent, depth, task, contextMode };",
    replace:
      'const shared = { session, run, parentRun, agent, depth, task, contextMode: contextMode && ("task_only" as const) };',
    tests: [trace],
  },
  {
    name: "every run of the record is a root",
    rows: ["S3.7a", "S3.15.9"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "const parentRun = request.parent?.run ?? null;",
    replace: "const parentRun = request.parent?.run.slice(0, 0) || null;",
    tests: [trace],
  },
  {
    name: "the first entry of a run lacks the passed context",
    rows: ["S3.7b"],
    file: "packages/runtime/src/host/claim/open-run.ts",
    find: 'const opened: EntryBody = { kind: "run.opened", request, pin: spec };',
    replace: 'const opened: EntryBody = { kind: "run.opened", request: { ...request, context: null }, pin: spec };',
    tests: [trace],
  },
  {
    name: "the passed context is empty",
    rows: ["S3.7b"],
    file: `${agent}/children.ts`,
    find: "const offered = { remainingMs, context: conversationFor(context, task) };",
    replace: 'const offered = { remainingMs, context: conversationFor(context, task) === null ? null : "" };',
    tests: [trace],
  },
  {
    name: "the tree of a session is flat",
    rows: ["S3.7c", "S3.15.9"],
    file: "packages/cli/src/render/tree.ts",
    find: "known.has(run.parentRun) ? run.parentRun : null;",
    replace: "known.has(run.parentRun) ? null : run.parentRun;",
    tests: [
      "packages/cli/src/render/render.test.ts > a session as a tree > shows branches, a glyph with a word, task, time and attempts, in the order of their start",
    ],
  },
  {
    name: "the page does not show the passed context",
    rows: ["S3.7d"],
    file: "apps/dashboard/src/features/run/passed-context.tsx",
    find: "{context !== null && <LongText text={context} />}",
    replace: "{context !== null && <LongText text={run.task} />}",
    tests: [
      "test/browser/live-tree.test.ts > the live tree > shows the context that a parent passed to a child, as text",
    ],
  },
  {
    name: "the page shows every run as a root",
    rows: ["S3.15.17a"],
    file: "apps/dashboard/src/lib/tree.ts",
    find: "      parent.children.push(node);",
    replace: "      roots.push(node);",
    tests: ["apps/dashboard/src/lib/tree.test.ts > the tree of a session"],
  },
  {
    name: "the page leaves out the later siblings",
    rows: ["S3.15.17a"],
    file: "apps/dashboard/src/lib/tree.ts",
    find: "pushSiblings(stack, node.children, row.level + 1, rows.length - 1);",
    replace: "pushSiblings(stack, node.children.slice(0, 1), row.level + 1, rows.length - 1);",
    tests: ["apps/dashboard/src/lib/tree.test.ts > the visible rows"],
  },
  {
    name: "live events carry no name of an agent",
    rows: ["S3.13f"],
    file: "packages/runtime/src/host/run/run-events.ts",
    find: "const event = { v: protocolVersion, session, run, agent, ...detail } as LiveEvent;",
    replace: 'const event = { v: protocolVersion, session, run, agent: agent && "agent", ...detail } as LiveEvent;',
    tests: [`${tree} > pain 19: every event names its run, and the record has each run's own history`],
  },
];

const modes: readonly Mutant[] = [
  {
    name: "the tasks of every batch run one at a time",
    rows: ["S3.8a", "S3.15.13", "S3.15.14"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: 'return { ready: plan.mode === "sequential" ? nextInSequence(items, free) : free, drop, stop: [] };',
    replace: "return { ready: nextInSequence(items, free), drop, stop: [] };",
    tests: [`${batch} > a batch`, `${scheduler} > the order of tasks`, coordinator],
  },
  {
    name: "the children of a run start one at a time",
    rows: ["S3.8a", "S3.14a", "S3.15.13"],
    file: `${agent}/children.ts`,
    find: "Math.max(0, pin.limits.maxConcurrent - children.size);",
    replace: "Math.max(0, Math.min(1, pin.limits.maxConcurrent) - children.size);",
    tests: [coordinator, `${batches} > single calls of one turn also run in parallel`],
  },
  {
    name: "the first result of a stream waits for the last",
    rows: ["S3.8b", "S3.15.14"],
    file: `${agent}/batches.ts`,
    find: 'if (batch.plan.mode !== "parallel_streaming" || runningTasks(after).length === 0) return rest;',
    replace: 'if (batch.plan.mode !== "sequential" || runningTasks(after).length === 0) return rest;',
    tests: [`${streaming} > the first result`],
  },
  {
    name: "later results of a stream do not reach the model",
    rows: ["S3.8b", "S3.15.14"],
    file: `${agent}/batches.ts`,
    find: "pendingMessages: [...context.pendingMessages, text]",
    replace: "pendingMessages: text ? context.pendingMessages : []",
    tests: [`${streaming} > a later result`],
  },
  {
    name: "a sequential batch starts all tasks",
    rows: ["S3.8c", "S3.15.14"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "return isBusy ? [] : free.slice(0, 1);",
    replace: "return isBusy ? [] : [...free];",
    tests: [`${batch} > sequential`],
  },
  {
    name: "a sequential batch does not wait for the running task",
    rows: ["S3.8c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: 'const isBusy = items.some(({ phase }) => phase === "ready" || phase === "asked" || phase === "leaving");',
    replace: 'const isBusy = items.some(({ phase }) => phase === "ready" || phase === "leaving");',
    tests: [`${scheduler} > the order of tasks`],
  },
  {
    name: "the mode of a call is ignored",
    rows: ["S3.8d"],
    file: `${agent}/plan-batch.ts`,
    find: 'mode: mode ?? (batch ? context.pin.definition.subagents.execution : "parallel"),',
    replace: 'mode: batch ? context.pin.definition.subagents.execution : (mode ?? "parallel"),',
    tests: [callMode],
  },
  {
    name: "a task does not wait for the tasks before it",
    rows: ["S3.8e", "S3.14c"],
    file: `${agent}/plan-batch.ts`,
    find: "after: after[item] ?? [] })),",
    replace: "after: after[item]?.slice(0, 0) ?? [] })),",
    tests: [`${batch} > a task that depends on others`, pipeline],
  },
  {
    name: "a task does not get the results of the tasks before it",
    rows: ["S3.8e", "S3.14c"],
    file: "packages/core/src/machines/batch/machine.ts",
    find: "const parts = [context, ...results].filter((part) => part !== null);",
    replace: "const parts = [context, ...results.slice(0, 0)].filter((part) => part !== null);",
    tests: [`${batch} > a task that depends on others`, pipeline],
  },
  {
    name: "the files of a review are not passed on",
    rows: ["S3.14b"],
    file: `${agent}/plan-batch.ts`,
    find: "contextFiles: target.domain === null ? task.contextFiles : [],",
    replace: "contextFiles: target.domain === null ? task.contextFiles.slice(0, 0) : [],",
    tests: [review],
  },
  {
    name: "a batch reports no failures",
    rows: ["S3.14b", "S3.9d"],
    file: "packages/core/src/delegation/result.ts",
    find: "failed: results.length - successes(results),",
    replace: "failed: results.length * 0,",
    tests: [review, `${result} > all results of a batch`],
  },
];

const concurrency: readonly Mutant[] = [
  {
    name: "a host takes tasks over its capacity",
    rows: ["S3.9a", "S3.15.15"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: "(waiting.length > 0 ? 0 : capacity - used);",
    replace: "(waiting.length > 0 ? 0 : capacity);",
    tests: [capacity],
  },
  {
    name: "a run that waited for its children works over the capacity of its host",
    rows: ["S3.9a", "S3.15.15"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: "if (used < capacity && waiting.length === 0) {",
    replace: "if (used < capacity * 1_000 && waiting.length === 0) {",
    tests: [capacity],
  },
  {
    name: "a program cannot set the capacity of its host",
    rows: ["S3.9a"],
    file: "packages/troupe/src/process/local-host.ts",
    find: "createActorHost({ deps, capacity, ...names })",
    replace: "createActorHost({ deps, capacity: capacity * 0 + 64, ...names })",
    tests: ["test/troupe/create-troupe.test.ts > a program > limits the runs that work at once to its capacity"],
  },
  {
    name: "a run that waits for its children keeps its slot",
    rows: ["S3.9a"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: '    this.#state = "none";\n    this.#slots.release();',
    replace: '    this.#state = "held";',
    tests: [`${host} > a host > does not starve nested delegation when every slot is taken by a waiting parent`],
  },
  {
    name: "a run starts all its children at once",
    rows: ["S3.9b", "S3.15.15"],
    file: `${agent}/children.ts`,
    find: "Math.max(0, pin.limits.maxConcurrent - children.size);",
    replace: "Math.max(0, pin.limits.maxConcurrent + children.size);",
    tests: [queue, `${batch} > a batch > shares the slots of its run with the other calls of the turn`],
  },
  {
    name: "the newest delegation in the queue starts first",
    rows: ["S3.9c"],
    file: `${agent}/setup/delegation.ts`,
    find: "const position = readyTasks.shift();",
    replace: "const position = readyTasks.pop();",
    tests: [queue],
  },
  {
    name: "the record has no positions in the queue",
    rows: ["S3.9c"],
    file: "packages/recorder/src/record/run-table.ts",
    find: "queuePosition: positions.get(row.run) ?? null",
    replace: "queuePosition: positions.size > 0 ? null : null",
    tests: [`${limits} > pain 2: children over the cap queue, with known positions, and none is denied`],
  },
  {
    name: "a batch fails with its first task",
    rows: ["S3.9d", "S3.15.16"],
    file: "packages/core/src/delegation/result.ts",
    find: "      return succeeded > 0;",
    replace: "      return succeeded === results.length;",
    tests: [`${result} > all results of a batch`, inOrder],
  },
  {
    name: "the usage of failed attempts is lost",
    rows: ["S3.15.16"],
    file: `${agent}/setup/delegation.ts`,
    find: "return { children, usage: addChild(context.usage, response, sharesFolder(context, response.agent)) };",
    replace:
      "return { children, usage: response.error ? context.usage : addChild(context.usage, response, sharesFolder(context, response.agent)) };",
    tests: [`${retried} > every attempt counts in the usage of the subtree`],
  },
];

const depth: readonly Mutant[] = [
  {
    name: "a tree may be four levels deep",
    rows: ["S3.10a"],
    file: "packages/core/src/protocol/limits.ts",
    find: "maxDepth: caps.shape.maxDepth.default(3),",
    replace: "maxDepth: caps.shape.maxDepth.default(4),",
    tests: [`${spec} > the limits`],
  },
  {
    name: "a child has the depth limit of the default",
    rows: ["S3.10a"],
    file: `${agent}/plan-batch.ts`,
    find: "maxDepth: tighten(pin.limits, limits).maxDepth };",
    replace: "maxDepth: Math.max(3, tighten(pin.limits, limits).maxDepth) };",
    tests: [
      `${plan} > the request of a child > has the tighter limits of the call, and no other limits`,
      `${limits} > pain 9: a model can tighten the limits of its children, and loosen none`,
    ],
  },
  {
    name: "the request can raise the limits of a run",
    rows: ["S3.10a"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "max_concurrent }), request.limits);",
    replace: "max_concurrent }), { ...request.limits, maxDepth: 9 });",
    tests: [`${spec} > the limits`],
  },
  {
    name: "a child over the depth limit is planned",
    rows: ["S3.10c", "S3.15.10"],
    file: `${agent}/plan-batch.ts`,
    find: "  if (depth > maxDepth) {",
    replace: "  if (depth > maxDepth + 1) {",
    tests: [refused],
  },
  {
    name: "parallel branches use up each other's levels",
    rows: ["S3.10b"],
    file: `${agent}/plan-batch.ts`,
    find: "      depth: request.depth + 1,",
    replace: "      depth: request.depth + 1 + context.childrenRequested,",
    tests: [trace],
  },
  {
    name: "a child has the depth of its parent",
    rows: ["S3.10b", "S3.15.10"],
    file: `${agent}/plan-batch.ts`,
    find: "      depth: request.depth + 1,",
    replace: "      depth: request.depth,",
    tests: [
      refused,
      trace,
      `${limits} > pain 1: a tree that wants to grow without end stays within its depth, its breadth and its number of runs`,
    ],
  },
  {
    name: "the deepest run is told that it can delegate",
    rows: ["S3.10b", "S3.15.10"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "return depth < maxDepth ? agents.filter(",
    replace: "return depth <= maxDepth ? agents.filter(",
    tests: [`${spec} > the targets > are none for a run at the depth limit`],
  },
  {
    name: "the refusal of a deep child does not name the limit",
    rows: ["S3.10c"],
    file: `${agent}/plan-batch.ts`,
    find: " is over the limit of ",
    replace: " is too much, not ",
    tests: [refused],
  },
];

const references: readonly Mutant[] = [
  {
    name: "the lint overlooks an agent that names itself",
    rows: ["S3.11a"],
    file: "packages/roles/src/delegation-lint.ts",
    find: "if (members.length > 1 || (only && targetsOf(only).includes(id))) cycles.push(members);",
    replace: "if (members.length > 1 && only) cycles.push(members);",
    tests: [`${source} > delegation between agents`],
  },
  {
    name: "the lint overlooks circles",
    rows: ["S3.11a"],
    file: "packages/roles/src/delegation-lint.ts",
    find: "if (members.length > 1 || (only && targetsOf(only).includes(id))) cycles.push(members);",
    replace: "if (only && targetsOf(only).includes(id)) cycles.push(members);",
    tests: [`${source} > delegation between agents`],
  },
  {
    name: "the lint overlooks unknown targets",
    rows: ["S3.11a"],
    file: "packages/roles/src/delegation-lint.ts",
    find: "      if (absence === null) continue;",
    replace: '      if (absence === null || absence.code === "unknown") continue;',
    tests: [`${source} > delegation between agents`],
  },
  {
    name: "a run can delegate to the agents above it",
    rows: ["S3.11b"],
    file: `${agent}/plan-batch.ts`,
    find: "if (chain.includes(id)) return delegateRefusal",
    replace: "if (chain.length > 1_000 && chain.includes(id)) return delegateRefusal",
    tests: [refused],
  },
  {
    name: "a run is told that it can delegate to the agents above it",
    rows: ["S3.11b"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "agents.filter((id) => !chain.includes(id))",
    replace: "agents.filter((id) => chain.length > 0 || id)",
    tests: [`${spec} > the targets > leave out the agents above the run`],
  },
  {
    name: "a run of an unknown agent is not rejected",
    rows: ["S3.11b"],
    file: "packages/runtime/src/host/claim/open-run.ts",
    find: 'return permanentError("unknown_agent",',
    replace: 'return permanentError("params",',
    tests: ["packages/runtime/src/host/claim/claim-run.test.ts > a run of an unknown agent is rejected, without usage"],
  },
];

const steps: readonly Mutant[] = [
  {
    name: "a refused call takes a part of the run's number of children",
    rows: ["S3.13a"],
    file: `${agent}/plan-batch.ts`,
    find: "if (spawns !== null && tasks.length > spawns) {",
    replace: "if (spawns !== null && tasks.length > spawns + 1_000) {",
    tests: [`${plan} > a refused delegation starts no task:`],
  },
  {
    name: "every run has the definition of the first agent",
    rows: ["S3.13b"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "const definition = registry.find(request.agent) ??",
    replace: 'const definition = registry.find("main") ?? registry.find(request.agent) ??',
    tests: [`${limits} > pain 7: the machine enforces a child's cap on turns against its model`],
  },
  {
    name: "a run ignores the model of its definition",
    rows: ["S3.13b"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "const preference = { wanted: definition.model,",
    replace: 'const preference = { wanted: "inherit",',
    tests: [`${spec} > the model`],
  },
  {
    name: "the request of a child lacks the criteria",
    rows: ["S3.13d", "S3.15.6"],
    file: `${agent}/plan-batch.ts`,
    find: "successCriteria: task.successCriteria,",
    replace: "successCriteria: null,",
    tests: [request],
  },
  {
    name: "a child is offered under another run",
    rows: ["S3.13d"],
    file: "packages/runtime/src/host/offer-run.ts",
    find: "return queue.offer({ run, agent, locality: localityOf(request), bytes });",
    replace: "return queue.offer({ run: request.parent?.run ?? run, agent, locality: localityOf(request), bytes });",
    tests: [`${wire} > a delegation`],
  },
  {
    name: "the model gets no tool to delegate with",
    rows: ["S3.15.2"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "tools: targets.length > 0 ? [...tools, delegateSpec(targets)] : tools,",
    replace: "tools: targets.length > 100_000 ? [...tools, delegateSpec(targets)] : tools,",
    tests: [`${spec} > the grant`],
  },
  {
    name: "a run delegates only in its first turn",
    rows: ["S3.15.2"],
    file: `${agent}/calls.ts`,
    find: "  const planned = planBatch(context, call, toolCall);",
    replace:
      '  if (context.step > 1) return refusedCall(state, permanentError("params", "too late"));\n  const planned = planBatch(context, call, toolCall);',
    tests: [context],
  },
  {
    name: "Task is no name of delegate",
    rows: ["S3.15.3"],
    file: "packages/core/src/permissions/grant.ts",
    find: '["delegate", "delegate_to_agent", "Task", "task", "Agent"] as const;',
    replace: '["delegate", "delegate_to_agent", "Tasks", "task", "Agent"] as const;',
    tests: [`${delegate} > a delegation`, `${grant} > delegation has a fixed list of tool names`],
  },
  {
    name: "subagent_type does not name the agent",
    rows: ["S3.15.3"],
    file: "packages/core/src/delegation/arguments.ts",
    find: "return agent ?? role ?? subagent_type;",
    replace: "return agent ?? role ?? subagent_type?.slice(0, 1);",
    tests: [`${args} > one task`],
  },
];

const registry: readonly Mutant[] = [
  {
    name: "the first of two agents with one id wins",
    rows: ["S3.14d", "S3.15a"],
    file: "packages/roles/src/agent-registry.ts",
    find: "for (const [id, agent] of own) byId.set(id, agent);",
    replace: "for (const [id, agent] of own) if (!byId.has(id)) byId.set(id, agent);",
    tests: [`${source} > the agents of a registry`],
  },
  {
    name: "an invalid file leaves the shipped agent in place",
    rows: ["S3.15a"],
    file: "packages/roles/src/agent-registry.ts",
    find: "    byId.delete(id);\n",
    replace: "",
    tests: [`${source} > invalid files`],
  },
  {
    name: "the files of a project's agents are not read",
    rows: ["S3.14d"],
    file: "packages/roles/src/agent-source.ts",
    find: '{ path: join(workspace, ".troupe", "agents"), origin: "project", within: workspace },',
    replace: '{ path: join(workspace, ".troupe", "roles"), origin: "project", within: workspace },',
    tests: [`${source} > the agents of a registry`, coordinator],
  },
];

const openQuestions: readonly Mutant[] = [
  {
    name: "a cancel of a run does not reach the runs below it",
    rows: ["S3.16a"],
    file: "packages/runtime/src/host/run/inbox.ts",
    find: "return item.run === run || ancestors.includes(item.run);",
    replace: "return item.run === run || ancestors.length > 1_000;",
    tests: ["packages/runtime/src/host/run/inbox.test.ts > a command"],
  },
  {
    name: "a cancel of a session reaches its root alone",
    rows: ["S3.16a"],
    file: "packages/runtime/src/host/run/inbox.ts",
    find: '    case "session.cancelled":\n      return true;',
    replace: '    case "session.cancelled":\n      return ancestors.length === 0;',
    tests: ["packages/runtime/src/host/run/inbox.test.ts > a command"],
  },
  {
    name: "no result of a read-only tool is shared",
    rows: ["S3.16b"],
    file: "packages/tools/src/cached-reads.ts",
    find: "if (cached) return { ...cached, durationMs: 0 };",
    replace: "if (cached && cache.changes < 0) return { ...cached, durationMs: 0 };",
    tests: ["packages/tools/src/cached-reads.test.ts > a read is answered from memory"],
  },
  {
    name: "a run can write to the workbench of another session",
    rows: ["S3.16b"],
    file: "packages/tools/src/memory/workbench.ts",
    find: "if (session !== context.session) {",
    replace: "if (session === undefined) {",
    tests: ["test/tools/workbench.test.ts > the workbench"],
  },
  {
    name: "the policy any waits for all tasks",
    rows: ["S3.16c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "      return enough(1);",
    replace: "      return enough(tasks.length);",
    tests: [`${batch} > its policy`],
  },
  {
    name: "the policy all continues after a failure",
    rows: ["S3.16c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "      return failed > 0\n",
    replace: "      return failed > tasks.length\n",
    tests: [`${scheduler} > the policy`],
  },
  {
    name: "an isolated child works in the folder of its parent",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return workspace.mode === "isolated" ? "isolated" : mode;',
    replace: 'return workspace.mode === "isolated" ? "isolated" : mode === "isolated" ? "shared" : mode;',
    tests: [`${plan} > the workspace of a child`, "test/tools/isolated-workspaces.test.ts > an isolated child"],
  },
  {
    name: "a child below an isolated run works in the session's folder",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return workspace.mode === "isolated" ? "isolated" : mode;',
    replace: "return workspace.mode === undefined ? mode : mode;",
    tests: [`${plan} > the workspace of a child`],
  },
  {
    name: "a child in a worktree works in the folder of its parent",
    rows: ["S3.16d"],
    file: `${agent}/plan-batch.ts`,
    find: 'return mode === "worktree" ? { ...onDisk, mode } : onDisk;',
    replace: "return onDisk;",
    tests: [`${plan} > the workspace of a child`],
  },
];

/** Mutants of the rows on delegation. */
export const mutants: readonly Mutant[] = [
  ...frontMatter,
  ...rights,
  ...contexts,
  ...results,
  ...failures,
  ...generalPurpose,
  ...traces,
  ...modes,
  ...concurrency,
  ...depth,
  ...references,
  ...steps,
  ...registry,
  ...openQuestions,
];
