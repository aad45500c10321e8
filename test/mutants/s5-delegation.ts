import type { Mutant } from "./mutant.ts";

const response = "packages/core/src/protocol/response.ts";
const renderPrompt = "packages/roles/src/render-prompt.ts";
const promptTest = "packages/roles/src/render-prompt.test.ts";
const child = `${promptTest} > the prompt of a sub-agent`;

/** Breaks the promises of S5.4, S5.5, S5.7 and S5.10: the call of a role, its prompt and its reply. */
export const mutants: readonly Mutant[] = [
  {
    name: "the delegation tool accepts any role",
    rows: ["S5.4a"],
    file: "packages/core/src/delegation/spec.ts",
    find: "...(ids === null ? {} : { enum: [...ids] })",
    replace: "",
    tests: ["packages/core/src/delegation/spec.test.ts > is a tool that names the available agents"],
  },
  {
    name: "delegate_to_agent is no name of the delegation tool",
    rows: ["S5.4a"],
    file: "packages/core/src/permissions/grant.ts",
    find: '["delegate", "delegate_to_agent", "Task", "task", "Agent"]',
    replace: '["delegate", "Task", "task", "Agent"]',
    tests: ["packages/core/src/machines/agent/delegate.test.ts > a delegation > may use the name delegate_to_agent"],
  },
  {
    name: "a role is not read",
    rows: ["S5.4a"],
    file: "packages/core/src/delegation/arguments.ts",
    find: "return agent ?? role ?? subagent_type;",
    replace: "return agent ?? subagent_type;",
    tests: [
      "packages/core/src/delegation/arguments.test.ts > one task > accepts other names for the same argument: role",
    ],
  },
  {
    name: "the files for the context do not reach the child",
    rows: ["S5.4b"],
    file: "packages/runtime/src/host/effects/child-request.ts",
    find: "return { ...request, context, ...taintField(taint) };",
    replace: "return { ...request, context: request.context && context, ...taintField(taint) };",
    tests: [
      "test/delegation/context.test.ts > with one host > a child gets its selected files, and nothing else",
      "packages/runtime/src/host/effects/child-request.test.ts > files are read in order by the parent's tools, under its grant, and follow the rest of the context",
    ],
  },
  {
    name: "the criteria do not reach the child",
    rows: ["S5.4b"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: "successCriteria: task.successCriteria,",
    replace: "successCriteria: null,",
    tests: [
      "packages/core/src/machines/agent/delegate.test.ts > a delegation > is one request with all fields of the child",
    ],
  },
  {
    name: "the tests that ran are not among the fields",
    rows: ["S5.5"],
    file: response,
    find: "    tests_run: response.testsRun,\n",
    replace: "",
    tests: ["packages/core/src/protocol/response.test.ts > the result of a child for its parent's model"],
  },
  {
    name: "created files are the modified ones",
    rows: ["S5.5"],
    file: response,
    find: "files_created: response.filesCreated,",
    replace: "files_created: response.filesModified,",
    tests: [
      "packages/core/src/machines/agent/delegate.test.ts > a delegation > returns the JSON of the child's response to the model",
    ],
  },
  {
    name: "a child's prompt does not name its parent",
    rows: ["S5.7a"],
    file: renderPrompt,
    find: '    `- Asked by: ${request.parent?.agent ?? request.chain.at(-1) ?? "the user"}`,\n',
    replace: "",
    tests: [`${child} > has its parent`],
  },
  {
    name: "a child's prompt has no criteria",
    rows: ["S5.7a"],
    file: renderPrompt,
    find: '...fenced("criteria", cut(request.successCriteria.trim(), taskCharactersMax)),',
    replace: "",
    tests: [`${child} > has its criteria`],
  },
  {
    name: "a child's prompt does not ask for warnings",
    rows: ["S5.7b"],
    file: renderPrompt,
    find: "- \\`## Warnings\\`: a list of what failed, was skipped, or is uncertain.\n",
    replace: "",
    tests: [`${child} > has its warnings`],
  },
  {
    name: "a child's prompt names no iterations",
    rows: ["S5.7c"],
    file: renderPrompt,
    find: "    `- Iterations: ${limits.maxIterations} (one is a reply of yours and the tool calls in it)`,\n",
    replace: "",
    tests: [`${child} > has its iterations`],
  },
  {
    name: "a child at the deepest level reads that it can delegate",
    rows: ["S5.7d"],
    file: renderPrompt,
    find: "return depth < limits.maxDepth && budget.spawns !== 0;",
    replace: "return depth <= limits.maxDepth && budget.spawns !== 0;",
    tests: [`${child} > at the deepest level it cannot delegate, with any targets`],
  },
  {
    name: "a child without targets is not told that it cannot delegate",
    rows: ["S5.7d"],
    file: renderPrompt,
    find: 'return request.depth > 0 ? ["## Delegating',
    replace: 'return request.depth > 99 ? ["## Delegating',
    tests: [`${child} > without targets says that it cannot delegate`],
  },
  {
    name: "the description of the debugger does not say when",
    rows: ["S5.10a"],
    file: "packages/roles/agents/debugger.md",
    find: "Finds the cause of a failure, a crash or slowness",
    replace: "Finds causes",
    tests: ["packages/roles/src/shipped-agents.test.ts > debugger has a description of when to use it, and when not"],
  },
  {
    name: "an agent does not read when not to delegate",
    rows: ["S5.10b"],
    file: renderPrompt,
    find: "Do the work yourself if it is a",
    replace: "Delegate also what is a",
    tests: [`${promptTest} > an agent that may delegate > reads: when to use an agent, and when not`],
  },
  {
    name: "an agent does not read that it has to check results",
    rows: ["S5.10c"],
    file: renderPrompt,
    find: "check it before you build on it.",
    replace: "build on it.",
    tests: [`${promptTest} > an agent that may delegate > reads: to check results before it continues`],
  },
];
