import { findAgentToolName } from "../delegation/find-agent.ts";
import type { AgentDefinition } from "../protocol/agent.ts";
import type { GrantDecision } from "../protocol/api.ts";
import type { Grant, GrantLayer } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { commandLimits } from "./command-limits.ts";
import { toolOfItem } from "./command-pattern.ts";
import { isAliasOf } from "./tool-names.ts";

/** Names of the delegation tool that models know. Each takes one task, several tasks, or the tasks to stop. */
export const delegateNames = [
  ...["delegate", "delegate_to_agent", "Task", "task", "Agent"],
  ...["delegate_batch", "delegate_cancel"],
] as const;

export function isDelegate(toolName: string): boolean {
  return (delegateNames as readonly string[]).includes(toolName);
}

/** Whether the runtime itself answers the calls of a tool: a run that may delegate has it, whatever its host's tools are. */
export function isDelegationTool(toolName: string): boolean {
  return isDelegate(toolName) || toolName === findAgentToolName;
}

/** Everything that can be granted when a run opens: the host's tools and the registry's agents. */
export interface Grantable {
  tools: readonly ToolSpec[];
  agents: readonly AgentDefinition[];
}

/**
 * Computes a run's grant: everything that all layers allow, including the agent's own definition as the last one. Denies
 * win. An empty list grants nothing; only `null` means no restriction.
 *
 * @example
 * const layers = [{ from: "session", kind: "session", tools: ["read", "shell"], denyTools: [], agents: null, denyAgents: [] }];
 * grantOf(layers, reviewer, { tools: specs, agents }).tools; // ["read"] if the reviewer wants read and write
 */
export function grantOf(above: readonly GrantLayer[], definition: AgentDefinition, grantable: Grantable): Grant {
  const granted = explainGrant(above, definition, grantable).filter((decision) => decision.granted);
  const namesOf = (kind: GrantDecision["kind"]): string[] =>
    granted.filter((decision) => decision.kind === kind).map(({ name }) => name);
  const layers = [...above, ownLayer(definition)];
  const writes = layers.flatMap((layer) => (layer.writes === null ? [] : [layer.writes]));
  const readOnly = layers.some((layer) => layer.readOnly) ? { readOnly: true as const } : {};
  const commands = layers.flatMap(commandLimits);
  const limits = commands.length > 0 ? { commands } : {};
  return { tools: namesOf("tool"), agents: namesOf("agent"), writes, ...readOnly, ...limits };
}

/** Explains for every tool and agent whether it is granted, and which layer removed it. */
export function explainGrant(
  above: readonly GrantLayer[],
  definition: AgentDefinition,
  { tools, agents }: Grantable,
): GrantDecision[] {
  const own = ownLayer(definition);
  const layers = [...above, own];
  const names = new Set(tools.map(({ name }) => name));
  return [
    ...tools.map((spec) => {
      const removal = toolRemoval(layers, spec, names) ?? unnamedRemoval(own, spec, names);
      return decisionOf("tool", spec.name, removal, restrictions(layers, spec));
    }),
    ...agents.map((agent) => decisionOf("agent", agent.id, agentRemoval(layers, definition, agent, tools))),
  ];
}

/** The layers for a child: those of its parent, and the parent's own definition. */
export function layersForChild(above: readonly GrantLayer[], parent: AgentDefinition): GrantLayer[] {
  // Without the parent's `allow`: the child's own definition names the agents that it may delegate to.
  return [...above, { ...ownLayer(parent), agents: null }];
}

/** The layer of an agent's own definition. */
export function ownLayer(definition: AgentDefinition): GrantLayer {
  const { id, tools, disallowedTools, subagents, writes, permissionMode } = definition;
  return {
    from: id,
    kind: "agent",
    tools,
    denyTools: disallowedTools,
    agents: subagents.allow,
    denyAgents: subagents.deny,
    // A host of an earlier version ignores `readOnly`, but not an empty write scope.
    ...(permissionMode === "plan" ? { writes: [], readOnly: true } : { writes }),
  };
}

/** The layer that removed a tool or agent, and the reason for a person. */
export interface Removal {
  by: string;
  reason: string;
}

const noNames: ReadonlySet<string> = new Set();

/**
 * The first layer that removes a tool; null if all layers allow it.
 *
 * @param names names of all existing tools. A grant of such a name means that tool only, even if it is an alias of another
 * one. A denial always matches aliases too, so that it cannot be lifted by adding a tool with the alias as its name.
 */
export function toolRemoval(
  layers: readonly GrantLayer[],
  spec: ToolSpec,
  names: ReadonlySet<string> = noNames,
): Removal | null {
  for (const layer of layers) {
    if (layer.readOnly && !isReadOnly(spec)) {
      return {
        by: layer.from,
        reason: `${describe(layer)} plans only (permissionMode: plan), and this tool can change something`,
      };
    }
    if (namesTool(layer.denyTools, spec)) return { by: layer.from, reason: `denied by ${describe(layer)}` };
    if (layer.tools !== null && !namesTool(layer.tools.map(toolOfItem), spec, names)) {
      return { by: layer.from, reason: `not among the tools of ${describe(layer)}` };
    }
  }
  return null;
}

/**
 * The removal of a tool that only agents get that name it. `*` names no tool: it means all tools that every agent gets.
 *
 * @param own the layer of the agent's own definition
 */
export function unnamedRemoval(own: GrantLayer, spec: ToolSpec, names: ReadonlySet<string>): Removal | null {
  if (!spec.namedOnly) return null;
  const items = (own.tools ?? []).map(toolOfItem).filter((item) => item !== "*");
  if (namesTool(items, spec, names)) return null;
  return { by: own.from, reason: `only agents whose tools name it get it, and ${describe(own)} does not` };
}

/** Whether a tool only reads, by its effect class. Its name, aliases and groups do not count. */
export function isReadOnly({ effect }: Pick<ToolSpec, "effect">): boolean {
  return effect === "read";
}

function agentRemoval(
  layers: readonly GrantLayer[],
  parent: AgentDefinition,
  agent: AgentDefinition,
  specs: readonly ToolSpec[],
): Removal | null {
  const { id, disabled, team } = agent;
  if (disabled) return { by: id, reason: "switched off by its own definition" };
  if (id === parent.id) return { by: id, reason: "an agent cannot delegate to itself" };
  if (parent.domain !== null) return { by: parent.id, reason: "an expert of one domain does not delegate" };
  if (parent.subagents.allow.includes("*") && !parent.subagents.allow.includes(id) && team !== parent.team) {
    const own = parent.team === undefined ? "the agents without a team" : `the agents of the team ${parent.team}`;
    return { by: parent.id, reason: `"*" in its definition means ${own}` };
  }
  for (const layer of layers) {
    if (namesAgent(layer.denyAgents, id)) return { by: layer.from, reason: `denied by ${describe(layer)}` };
    if (layer.denyTools.some(namesDelegate)) return { by: layer.from, reason: `${describe(layer)} denies delegating` };
    if (layer.agents !== null && !namesAgent(layer.agents, id)) {
      return { by: layer.from, reason: `not among the agents of ${describe(layer)}` };
    }
  }
  const lack = lackOfTools(agent, specs);
  return lack === null ? null : { by: id, reason: `not usable: ${lack}` };
}

/**
 * Why an agent cannot do anything here: its list of tools has entries, but none of them means a tool, and it cannot
 * delegate. Null for an agent that can. Without this check, a run without tools would report success.
 *
 * @example
 * lackOfTools(agentWith({ tools: ["Raed"] }), specs); // 'none of its tools exists here: "Raed"'
 */
export function lackOfTools(
  { tools, subagents, source }: Pick<AgentDefinition, "tools" | "subagents" | "source">,
  specs: readonly ToolSpec[],
): string | null {
  // The host of a remote agent has its tools.
  if (tools === null || tools.length === 0 || subagents.allow.length > 0 || source.origin === "remote") return null;
  const reserved = new Set(specs.map(({ name }) => name));
  if (specs.some((spec) => namesTool(tools.map(toolOfItem), spec, reserved))) return null;
  return `none of its tools exists here: ${tools.map((tool) => JSON.stringify(tool)).join(", ")}`;
}

function describe({ from, kind }: GrantLayer): string {
  if (kind === "policy") return from === "policy" ? "this machine's policy" : `the policy of ${from}`;
  return kind === "session" ? "the session's grant" : `the agent ${from}`;
}

/** The restrictions of a granted tool: "coder allows only shell(git diff:*)". */
function restrictions(layers: readonly GrantLayer[], spec: ToolSpec): string[] {
  const ofCommands = layers.flatMap(commandLimits).flatMap(({ from, allow, deny }) => {
    const only = allow === null || namesTool(allow, spec) ? [] : patternItems(allow, spec.name);
    const never = patternItems(deny, spec.name);
    return [
      ...(only.length > 0 ? [`${from} allows only ${only.join(", ")}`] : []),
      ...(never.length > 0 ? [`${from} denies ${never.join(", ")}`] : []),
    ];
  });
  // `verifiable` is the effect of the tools that write files.
  const scopes = spec.effect === "verifiable" ? layers : [];
  const ofFolders = scopes.flatMap(({ from, writes }) =>
    writes === null
      ? []
      : [`${from} lets it write ${writes.length === 0 ? "no file" : `only in ${writes.join(", ")}`}`],
  );
  return [...new Set([...ofCommands, ...ofFolders])];
}

function patternItems(items: readonly string[], tool: string): string[] {
  return items.filter((item) => toolOfItem(item) !== item && toolOfItem(item) === tool);
}

function decisionOf(
  kind: GrantDecision["kind"],
  name: string,
  removal: Removal | null,
  restricted: readonly string[] = [],
): GrantDecision {
  return {
    kind,
    name,
    granted: removal === null,
    removedBy: removal?.by ?? null,
    reason: removal?.reason ?? ["every layer lets it through", ...restricted].join("; "),
  };
}

/**
 * Whether a list contains a tool: its name or alias (`Bash`), one of its groups, or a prefix (`mcp__server__*`, `*`).
 *
 * @param reserved names of existing tools, which are not read as aliases
 */
export function namesTool(
  names: readonly string[],
  { name, groups }: Pick<ToolSpec, "name" | "groups">,
  reserved: ReadonlySet<string> = noNames,
): boolean {
  return names.some(
    (item) => matches(item, name) || groups.includes(item) || (!reserved.has(item) && isAliasOf(item, name)),
  );
}

function namesAgent(names: readonly string[], id: string): boolean {
  return names.some((item) => item === id || item === "*");
}

/** A denial of any name of the delegation tool denies delegation. */
function namesDelegate(item: string): boolean {
  return delegateNames.some((name) => matches(item, name));
}

/** A final `*` matches any rest. Denials support it too: an unsupported pattern would silently deny nothing. */
function matches(item: string, name: string): boolean {
  return item === name || (item.endsWith("*") && name.startsWith(item.slice(0, -1)));
}

/** Names in a list that match no tool of this machine. `mcp__server__*` is always allowed, because servers come and go. */
export function unknownToolNames(names: readonly string[], specs: readonly ToolSpec[]): string[] {
  const known = [...specs, ...delegateNames.map((name) => ({ name, groups: [] }))];
  return names.filter((name) => !isWholeServer(name) && !known.some((tool) => namesTool([toolOfItem(name)], tool)));
}

function isWholeServer(name: string): boolean {
  return name.startsWith("mcp__") && name.endsWith("*");
}

/** The valid items of a list of tools: names and groups. */
export function toolNames(specs: readonly ToolSpec[]): { tools: string[]; groups: string[] } {
  return { tools: specs.map(({ name }) => name), groups: [...new Set(specs.flatMap(({ groups }) => groups))].sort() };
}
