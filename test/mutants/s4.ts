import type { Mutant } from "./mutant.ts";

const planBatch = "packages/core/src/machines/agent/plan-batch.test.ts";
const intent = "packages/core/src/machines/agent/intent.test.ts";
const statuses = `${intent} > the context of a run moves through its statuses`;
const explain = "packages/runtime/src/service/explain.test.ts";
const renderPrompt = "packages/roles/src/render-prompt.test.ts";
const context = "test/delegation/context.test.ts > with one host";

export const mutants: readonly Mutant[] = [
  {
    name: "the context of a run names no tools",
    rows: ["S4.3a"],
    file: "packages/core/src/machines/agent/context.ts",
    find: "      tools: pin.grant.tools,\n",
    replace: "      tools: [],\n",
    tests: [`${intent} > a request > the direct intent has its six fields from the request alone`],
  },
  {
    name: "an explanation has the context of the run's first entry",
    rows: ["S4.3a", "S4.3b"],
    file: "packages/runtime/src/service/explain.ts",
    find: "const context = replayAgent(entries);",
    replace: "const context = replayAgent(entries.slice(0, 1));",
    tests: [
      `${explain} > the context of the run > of a run that is completed is complete`,
      `${explain} > the context of the run > of a run that is cancelled is failed`,
    ],
  },
  {
    name: "a run that was assessed is still planning",
    rows: ["S4.3a", "S4.3b"],
    file: "packages/core/src/machines/agent/setup/model.ts",
    find: 'withStatus(context.intent, "executing")',
    replace: 'withStatus(context.intent, "planning")',
    tests: [
      `${statuses} > planning, executing with its newest results, complete with its result and summary`,
      `${explain} > the context of the run > is that of its newest entry while it works`,
    ],
  },
  {
    name: "a run that failed is complete",
    rows: ["S4.3b", "S4.3c"],
    file: "packages/core/src/machines/agent/setup/ending.ts",
    find: 'response?.success ? "complete" : "failed"',
    replace: 'response ? "complete" : "failed"',
    tests: [
      `${statuses} > denied: failed, with the reason as its summary`,
      `${explain} > the context of the run > of a run that is cancelled is failed`,
    ],
  },
  {
    name: "the context of a settled run has no summary",
    rows: ["S4.3c"],
    file: "packages/core/src/machines/agent/run-context.ts",
    find: "summary: settled?.summary ?? null,",
    replace: "summary: null,",
    tests: [`${statuses} > planning, executing with its newest results, complete with its result and summary`],
  },
  {
    name: "a child does not learn the user's id",
    rows: ["S4.11a"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: "userId: request.userId,",
    replace: "userId: null,",
    tests: [
      "packages/core/src/machines/agent/delegate.test.ts > a delegation > is one request with all fields of the child",
    ],
  },
  {
    name: "the prompt of a domain agent does not name its domain",
    rows: ["S4.11a"],
    file: "packages/roles/src/render-prompt.ts",
    find: "if (definition.domain !== null) lines.push",
    replace: "if (definition.domain === undefined) lines.push",
    tests: [`${renderPrompt} > the prompt of a sub-agent > of an expert names its domain`],
  },
  {
    name: "the first message leaves out the success criteria",
    rows: ["S4.11b"],
    file: "packages/core/src/machines/agent/conversation.ts",
    find: "if (request.successCriteria) parts.push(`Success criteria: ${request.successCriteria}`);",
    replace: "",
    tests: [
      "packages/core/src/machines/agent/intent.test.ts > a request > the first message holds task, criteria and context",
    ],
  },
  {
    name: "the response never goes out in the message",
    rows: ["S4.11b"],
    file: "packages/runtime/src/host/run/settled.ts",
    find: "fits ? bytes : encode({ ...message, response: null })",
    replace: "encode({ ...message, response: null })",
    tests: [
      "packages/runtime/src/host/wire.test.ts > a delegation > is a request for every run and a response of every run, in bytes that fit their schemas",
    ],
  },
  {
    name: "the prompt says nothing about assumptions",
    rows: ["S4.11c"],
    file: "packages/roles/src/render-prompt.ts",
    find: "Where the task leaves something open, take the most\nlikely reading and name it; where data is missing, say which.",
    replace: "Where data is missing,\nsay which.",
    tests: [`${renderPrompt} > the prompt of a sub-agent > has its way with an open task`],
  },
  {
    name: "the prompt says nothing about missing data",
    rows: ["S4.11c"],
    file: "packages/roles/src/render-prompt.ts",
    find: "; where data is missing, say which.",
    replace: ".",
    tests: [`${renderPrompt} > the prompt of a sub-agent > has its way with missing data`],
  },
  {
    name: "an answer in a schema is asked for without the rules of an answer",
    rows: ["S4.11c"],
    file: "packages/roles/src/render-prompt.ts",
    find: "depth > 0 ? answerRules :",
    replace: "depth > 99 ? answerRules :",
    tests: [
      `${renderPrompt} > an answer in the form of a schema > is one JSON value that fits the shown schema; sections are not requested`,
    ],
  },
  {
    name: "a domain agent gets the context that its caller asks for",
    rows: ["S4.11d"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: 'return target.domain === null ? (contextMode ?? target.contextMode) : "task_only";',
    replace: "return contextMode ?? target.contextMode;",
    tests: [`${planBatch} > an expert of one domain`],
  },
  {
    name: "a domain agent gets the files that its caller chooses",
    rows: ["S4.11d"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: "contextFiles: target.domain === null ? task.contextFiles : [],",
    replace: "contextFiles: task.contextFiles,",
    tests: [`${context} > an expert of one domain gets its message alone, for any requested context`],
  },
  {
    name: "a domain agent delegates",
    rows: ["S4.12"],
    file: "packages/core/src/permissions/grant.ts",
    find: "if (parent.domain !== null) return",
    replace: "if (parent.domain === undefined) return",
    tests: [
      `${context} > an expert of one domain works alone, whatever agents its file allows`,
      "packages/core/src/permissions/grant.test.ts > agents > an expert of one domain is a leaf",
    ],
  },
  {
    name: "the budget of a domain agent has room for children",
    rows: ["S4.12"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "const isLeaf = domain !== null || subagents.allow.length === 0;",
    replace: "const isLeaf = domain === undefined || subagents.allow.length === 0;",
    tests: ["packages/runtime/src/host/claim/run-spec.test.ts > a target > an expert of one domain is a leaf"],
  },
];
