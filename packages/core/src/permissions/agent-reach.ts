import type { AgentDefinition } from "../protocol/agent.ts";
import { AgentAbility, type AgentReach, type ToolChoice } from "../protocol/agent-file.ts";
import type { GrantLayer } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import {
  delegateNames,
  explainGrant,
  type Grantable,
  isReadOnly,
  namesTool,
  ownLayer,
  toolRemoval,
  unnamedRemoval,
} from "./grant.ts";

/**
 * The ability that a tool gives to its agent, by its groups and its effect class. Null for a tool that only reads.
 *
 * @example
 * abilityOf({ name: "shell", groups: ["shell"], effect: "unsafe" }); // "runs_commands"
 */
export function abilityOf(spec: Pick<ToolSpec, "name" | "groups" | "effect">): AgentAbility | null {
  const { name, groups, effect } = spec;
  if (groups.includes("web") || name.startsWith("mcp__")) return "talks_outward";
  if (isReadOnly(spec)) return null;
  if (groups.includes("shell") || groups.includes("git")) return "runs_commands";
  return groups.includes("filesystem") || effect === "verifiable" ? "changes_files" : "acts_otherwise";
}

/** The abilities of an agent at the root of a session: its parents, if it has any, can only take some away. */
export function abilitiesOf(
  definition: AgentDefinition,
  specs: readonly ToolSpec[],
  policy: GrantLayer | undefined,
): AgentAbility[] {
  const own = ownLayer(definition);
  const layers = [...(policy ? [policy] : []), own];
  const names = new Set(specs.map(({ name }) => name));
  const granted = specs.filter((spec) => !(toolRemoval(layers, spec, names) ?? unnamedRemoval(own, spec, names)));
  return inOrder(definition, [...granted.map(abilityOf), mayDelegate(definition, policy) ? "delegates" : null]);
}

/** All that an agent gets at the root of a session, with the reason for each tool that it does not get. */
export function reachOf(
  definition: AgentDefinition,
  { tools, agents }: Grantable,
  policy: GrantLayer | undefined,
): AgentReach {
  const all = explainGrant(policy ? [policy] : [], definition, { tools, agents });
  const granted = new Set(
    all.filter((decision) => decision.granted && decision.kind === "tool").map(({ name }) => name),
  );
  const delegates = all.some((decision) => decision.granted && decision.kind === "agent");
  const abilities = tools.filter(({ name }) => granted.has(name)).map(abilityOf);
  return {
    abilities: inOrder(definition, [...abilities, delegates ? "delegates" : null]),
    // Hundreds of agents that it may not delegate to say nothing.
    decisions: all.filter((decision) => decision.kind === "tool" || decision.granted),
  };
}

/** A tool as an item of a picker. */
export function toolChoiceOf(spec: ToolSpec): ToolChoice {
  const { name, description, groups } = spec;
  const sentence = /^[^\n]*?[.!?](?=\s|$)/.exec(description)?.[0] ?? description;
  return { name, description: sentence.slice(0, 300), groups, ability: abilityOf(spec) };
}

/** Without a folder to write to, the tools that write files change none. */
function inOrder({ writes }: AgentDefinition, found: readonly (AgentAbility | null)[]): AgentAbility[] {
  const mayWrite = writes === null || writes.length > 0;
  return AgentAbility.options.filter((each) => found.includes(each) && (mayWrite || each !== "changes_files"));
}

function mayDelegate({ subagents, disallowedTools, domain }: AgentDefinition, policy: GrantLayer | undefined): boolean {
  if (domain !== null) return false;
  const denied = [...disallowedTools, ...(policy?.denyTools ?? [])];
  if (delegateNames.some((name) => namesTool(denied, { name, groups: [] }))) return false;
  return subagents.allow.some((id) => !subagents.deny.includes(id) && !(policy?.denyAgents ?? []).includes(id));
}
