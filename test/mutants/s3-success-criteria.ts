import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const delegate = `${agent}/delegate.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const args = "packages/core/src/delegation/arguments.test.ts";
const grant = "packages/core/src/permissions/grant.test.ts";
const source = "packages/roles/src/agent-source.test.ts";
const spec = "packages/runtime/src/host/claim/run-spec.test.ts";
const context = "test/delegation/context.test.ts > with one host";
const returned = `${delegate} > a delegation > returns the JSON of the child's response to the model`;
const retried = `${delegate} > a recoverable failure is retried`;

/** Breaks the promises of S3.15: the success criteria that no other row covers. */
export const mutants: readonly Mutant[] = [
  {
    name: "a tool host runs tools that are not granted",
    rows: ["S3.15b"],
    file: "packages/tools/src/tool-host.ts",
    find: "if (!grant.tools.includes(call.name)) throw notGranted",
    replace: "if (grant.tools.length > 1_000) throw notGranted",
    tests: ["packages/tools/src/tool-host.test.ts > a call is refused before anything runs"],
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
  {
    name: "the result of a child comes back as the response of another run",
    rows: ["S3.15.5"],
    file: "packages/core/src/delegation/result.ts",
    find: "const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response), details };",
    replace:
      'const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response), summary: "" };',
    tests: [returned],
  },
  {
    name: "an unknown agent is refused without the known ones",
    rows: ["S3.15.11"],
    file: `${agent}/plan-batch.ts`,
    find: 'ids.join(", ")',
    replace: "ids.length",
    tests: [`${plan} > a refused delegation starts no task:`],
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
    name: "the usage of failed attempts is lost",
    rows: ["S3.15.16"],
    file: `${agent}/setup/delegation.ts`,
    find: "return { children, usage: addChild(context.usage, response, sharesFolder(context, response.agent)) };",
    replace:
      "return { children, usage: response.error ? context.usage : addChild(context.usage, response, sharesFolder(context, response.agent)) };",
    tests: [`${retried} > every attempt counts in the usage of the subtree`],
  },
  {
    name: "the model gets no tool to delegate with",
    rows: ["S3.15.2"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "tools: targets.length > 0 ? [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))] : tools,",
    replace:
      "tools: targets.length > 100_000 ? [...tools, ...delegationSpecs(agentList, listingInTool(agentList, prompt))] : tools,",
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
    find: '["delegate", "delegate_to_agent", "Task", "task", "Agent"],',
    replace: '["delegate", "delegate_to_agent", "Tasks", "task", "Agent"],',
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
  {
    name: "an invalid file leaves the shipped agent in place",
    rows: ["S3.15a"],
    file: "packages/roles/src/agent-registry.ts",
    find: "    byId.delete(id);\n",
    replace: "",
    tests: [`${source} > invalid files`],
  },
];
