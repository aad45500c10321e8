import type { AgentDefinition } from "../protocol/agent.ts";
import type { Grant } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";

/** Names under which a model may know the delegation tool. */
export const delegateNames = ["delegate", "delegate_to_agent", "Task", "task", "Agent"] as const;

export function isDelegate(toolName: string): boolean {
  return (delegateNames as readonly string[]).includes(toolName);
}

/**
 * What an agent may really use: what it was granted ∩ what its own definition wants, denies winning.
 * An empty list grants nothing; only an absent one (`null`) means "whatever I am granted".
 *
 * @example
 * narrowGrant({ tools: ["read", "shell"], agents: [] }, { ...reviewer, tools: ["read", "write"] }, specs).tools; // ["read"]
 */
export function narrowGrant(granted: Grant, definition: AgentDefinition, specs: readonly ToolSpec[]): Grant {
  const wanted = definition.tools;
  const tools = specs
    // A grant names tools alone: one that shares its name with a group must not let the whole group through.
    .filter((spec) => granted.tools.includes(spec.name))
    .filter((spec) => wanted === null || isIn(wanted, spec))
    .filter((spec) => !isIn(definition.disallowedTools, spec))
    .map((spec) => spec.name);
  const { allow, deny } = definition.subagents;
  const mayDelegate = !definition.disallowedTools.some(isDelegate);
  const agents = granted.agents.filter((id) => allow.includes(id) && !deny.includes(id) && id !== definition.id);
  return { tools, agents: mayDelegate ? agents : [] };
}

/** Whether a list names a tool: by its name, by a group that it is in, or by a prefix (`mcp__server__*`). */
function isIn(names: readonly string[], spec: ToolSpec): boolean {
  return names.some(
    (name) =>
      name === spec.name ||
      spec.groups.includes(name) ||
      (name.endsWith("*") && name.startsWith("mcp__") && spec.name.startsWith(name.slice(0, -1))),
  );
}

/**
 * The most that a child may be granted: the parent's own tools, and of the agents all that the parent does not deny.
 * The parent's `allow` is not handed down: whom a child may ask is its own definition's business, within the company.
 */
export function grantForChild(parent: Grant, fromAbove: Grant, definition: AgentDefinition): Grant {
  return { tools: parent.tools, agents: fromAbove.agents.filter((id) => !definition.subagents.deny.includes(id)) };
}
