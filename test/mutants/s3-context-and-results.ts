import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const delegate = `${agent}/delegate.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const retry = "packages/core/src/machines/delegation/machine.test.ts";
const result = "packages/core/src/delegation/result.test.ts";
const args = "packages/core/src/delegation/arguments.test.ts";
const response = "packages/core/src/protocol/response.test.ts";
const parse = "packages/roles/src/parse-agent.test.ts";
const shipped = "packages/roles/src/shipped-agents.test.ts";
const prompt = "packages/roles/src/render-prompt.test.ts";
const summary = "packages/runtime/src/host/effects/summarise.test.ts";
const context = "test/delegation/context.test.ts > with one host";
const tree = "test/delegation/pains-tree.test.ts > with one host";
const defaults = `${parse} > a valid file > without optional keys has the defaults of the schema and no caps of its own`;
const passed = `${plan} > the context from the conversation`;
const parentPrompt = `${plan} > an agent that works with its parent's prompt`;
const general = `${context} > general-purpose > has its parent's prompt and tools, and knows the task alone`;
const request = `${delegate} > a delegation > is one request with all fields of the child`;
const retried = `${delegate} > a recoverable failure is retried`;
const summarised = `${summary} > one call creates it, outside the conversation and without tools`;

/** Breaks the promises of S3.3, S3.4 and S3.6: the input of a child, and its results in its parent. */
export const mutants: readonly Mutant[] = [
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
