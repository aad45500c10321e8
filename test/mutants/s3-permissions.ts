import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const batch = `${agent}/batch.test.ts`;
const grant = "packages/core/src/permissions/grant.test.ts";
const parse = "packages/roles/src/parse-agent.test.ts";
const spec = "packages/runtime/src/host/claim/run-spec.test.ts";
const limits = "test/delegation/pains-limits.test.ts > with one host";
const allKeys = `${parse} > a valid file > all keys of troupe's own are read`;
const defaults = `${parse} > a valid file > without optional keys has the defaults of the schema and no caps of its own`;
const callMode = `${batch} > sequential > the mode of a call wins over the mode of the agent`;

/** Breaks the promises of S3.1 and S3.2: agent files and grants. */
export const mutants: readonly Mutant[] = [
  {
    name: "the id of an agent file is its name",
    rows: ["S3.1a"],
    file: "packages/roles/src/parse-agent.ts",
    find: "return { id, name: name ?? id };",
    replace: "return { id: name ?? id, name: name ?? id };",
    tests: [allKeys],
  },
  {
    name: "an empty name without an id is accepted",
    rows: ["S3.1a"],
    file: "packages/roles/src/parse-agent.ts",
    find: 'if (key === "name" || key === "description") reportMissing(key, field.keyOffset, report);',
    replace: 'if (key === "description") reportMissing(key, field.keyOffset, report);',
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
    find: "[...named, ...(granted?.targets ?? [])] : [];",
    replace: "[...named.slice(0, 0), ...(granted?.targets ?? [])] : [];",
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
];
