import type { AgentDefinition } from "../protocol/agent.ts";
import type { GrantDecision } from "../protocol/api.ts";
import type { Grant, GrantLayer } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { isAliasOf } from "./tool-names.ts";

/** Names under which a model may know the delegation tool. */
export const delegateNames = ["delegate", "delegate_to_agent", "Task", "task", "Agent"] as const;

export function isDelegate(toolName: string): boolean {
  return (delegateNames as readonly string[]).includes(toolName);
}

/** What can be granted where a run opens: its machine's tools, and the agents of its company. */
export interface Grantable {
  tools: readonly ToolSpec[];
  agents: readonly AgentDefinition[];
}

/**
 * What an agent may really use: whatever every layer lets through, its own definition being the last. Denies win, an
 * empty list grants nothing, and only an absent one (`null`) is no restriction.
 *
 * @example
 * const layers = [{ from: "session", kind: "session", tools: ["read", "shell"], denyTools: [], agents: null, denyAgents: [] }];
 * grantOf(layers, reviewer, { tools: specs, agents }).tools; // ["read"], where the reviewer asks for read and write
 */
export function grantOf(above: readonly GrantLayer[], definition: AgentDefinition, grantable: Grantable): Grant {
  const granted = explainGrant(above, definition, grantable).filter((verdict) => verdict.granted);
  const namesOf = (kind: GrantDecision["kind"]): string[] =>
    granted.filter((verdict) => verdict.kind === kind).map(({ name }) => name);
  const writes = [...above, ownLayer(definition)].flatMap((layer) => (layer.writes === null ? [] : [layer.writes]));
  return { tools: namesOf("tool"), agents: namesOf("agent"), writes };
}

/** For everything that could be granted: whether it is, and which layer took it away. */
export function explainGrant(
  above: readonly GrantLayer[],
  definition: AgentDefinition,
  { tools, agents }: Grantable,
): GrantDecision[] {
  const own = ownLayer(definition);
  const layers = [...above, own];
  const names = new Set(tools.map(({ name }) => name));
  return [
    ...tools.map((spec) => verdictOf("tool", spec.name, toolRemoval(layers, spec, names))),
    ...agents.map((agent) => verdictOf("agent", agent.id, agentRemoval(layers, definition, agent))),
  ];
}

/** What is handed to a child: all that was said above, and what its parent's own definition says. */
export function layersForChild(above: readonly GrantLayer[], parent: AgentDefinition): GrantLayer[] {
  // The parent's `allow` is not handed down: whom a child may ask is its own definition's business.
  return [...above, { ...ownLayer(parent), agents: null }];
}

function ownLayer({ id, tools, disallowedTools, subagents, writes }: AgentDefinition): GrantLayer {
  return {
    from: id,
    kind: "agent",
    tools,
    denyTools: disallowedTools,
    agents: subagents.allow,
    denyAgents: subagents.deny,
    writes,
  };
}

/** Which layer took something away, and why in words. */
export interface Removal {
  by: string;
  reason: string;
}

const noNames: ReadonlySet<string> = new Set();

/**
 * The first layer that does not let a tool through; null where all of them do.
 *
 * @param names of all tools that there are: what one of them is really called grants that one alone. A denial reaches a
 * tool by each of its names, whatever else there is: nobody lifts one by bringing a tool of the name that it says.
 */
export function toolRemoval(
  layers: readonly GrantLayer[],
  spec: ToolSpec,
  names: ReadonlySet<string> = noNames,
): Removal | null {
  for (const layer of layers) {
    if (namesTool(layer.denyTools, spec)) return { by: layer.from, reason: `denied by ${describe(layer)}` };
    if (layer.tools !== null && !namesTool(layer.tools, spec, names)) {
      return { by: layer.from, reason: `not among the tools of ${describe(layer)}` };
    }
  }
  return null;
}

function agentRemoval(
  layers: readonly GrantLayer[],
  parent: AgentDefinition,
  { id, disabled }: AgentDefinition,
): Removal | null {
  if (disabled) return { by: id, reason: "switched off by its own definition" };
  if (id === parent.id) return { by: id, reason: "an agent cannot delegate to itself" };
  if (parent.domain !== null) return { by: parent.id, reason: "an expert of one domain delegates to nobody" };
  for (const layer of layers) {
    if (namesAgent(layer.denyAgents, id)) return { by: layer.from, reason: `denied by ${describe(layer)}` };
    if (layer.denyTools.some(namesDelegate)) return { by: layer.from, reason: `${describe(layer)} denies delegating` };
    if (layer.agents !== null && !namesAgent(layer.agents, id)) {
      return { by: layer.from, reason: `not among the agents of ${describe(layer)}` };
    }
  }
  return null;
}

function describe({ from, kind }: GrantLayer): string {
  if (kind === "policy") return from === "policy" ? "this machine's policy" : `the policy of ${from}`;
  return kind === "session" ? "the session's grant" : `the agent ${from}`;
}

function verdictOf(kind: GrantDecision["kind"], name: string, removal: Removal | null): GrantDecision {
  return {
    kind,
    name,
    granted: removal === null,
    removedBy: removal?.by ?? null,
    reason: removal?.reason ?? "every layer lets it through",
  };
}

/**
 * Whether a list names a tool: by its name or another of its names (`Bash`), by a group that it is in, or by how its name
 * begins (`mcp__server__*`, `*`).
 *
 * @param taken names that other tools really have: as words they mean those
 */
export function namesTool(
  names: readonly string[],
  { name, groups }: Pick<ToolSpec, "name" | "groups">,
  taken: ReadonlySet<string> = noNames,
): boolean {
  return names.some((word) => fits(word, name) || groups.includes(word) || (!taken.has(word) && isAliasOf(word, name)));
}

function namesAgent(names: readonly string[], id: string): boolean {
  return names.some((word) => word === id || word === "*");
}

/** Delegating is a tool with several names: who denies one of them denies it. */
function namesDelegate(word: string): boolean {
  return delegateNames.some((name) => fits(word, name));
}

/** A closing star stands for any rest, in denials too: one that nobody understood would deny nothing. */
function fits(word: string, name: string): boolean {
  return word === name || (word.endsWith("*") && name.startsWith(word.slice(0, -1)));
}
