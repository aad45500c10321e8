import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const delegate = `${agent}/delegate.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const source = "packages/roles/src/agent-source.test.ts";
const spec = "packages/runtime/src/host/claim/run-spec.test.ts";
const wire = "packages/runtime/src/host/wire.test.ts";
const limits = "test/delegation/pains-limits.test.ts > with one host";
const tree = "test/delegation/pains-tree.test.ts > with one host";
const request = `${delegate} > a delegation > is one request with all fields of the child`;
const returned = `${delegate} > a delegation > returns the JSON of the child's response to the model`;
const refused = `${delegate} > an invalid call gets an error at once`;
const trace =
  "test/delegation/trace.test.ts > with one host > the trace of a delegation has parent, child, task, passed context, result and duration, in every branch";

/** Breaks the promises of S3.10 to S3.13: depth, references, and the steps of a delegation. */
export const mutants: readonly Mutant[] = [
  {
    name: "the request of a child has no layers of its parent",
    rows: ["S3.13c"],
    file: `${agent}/plan-batch.ts`,
    find: "layers: layersForChild(request.layers, pin.definition),",
    replace: "layers: layersForChild(request.layers, pin.definition).slice(0, 0),",
    tests: [`${plan} > the request of a child`],
  },
  {
    name: "the model reads an empty result",
    rows: ["S3.13e", "S3.15.5"],
    file: `${agent}/calls.ts`,
    find: "text: JSON.stringify(resultOf(first.response, detailsOf)), isError:",
    replace: "text: JSON.stringify(resultOf(first.response, detailsOf)).slice(0, 0), isError:",
    tests: [returned],
  },
  {
    name: "live events carry no name of an agent",
    rows: ["S3.13f"],
    file: "packages/runtime/src/host/run/run-events.ts",
    find: "const event = { v: protocolVersion, session, run, agent, ...detail } as LiveEvent;",
    replace: 'const event = { v: protocolVersion, session, run, agent: agent && "agent", ...detail } as LiveEvent;',
    tests: [`${tree} > pain 19: every event names its run, and the record has each run's own history`],
  },
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
    find: "const found = registry.find(request.agent) ??",
    replace: 'const found = registry.find("main") ?? registry.find(request.agent) ??',
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
];
