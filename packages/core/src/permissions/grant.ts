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
  const isIn = (names: readonly string[], spec: ToolSpec): boolean =>
    names.includes(spec.name) || spec.groups.some((group) => names.includes(group));
  const tools = specs
    .filter((spec) => granted.tools.includes(spec.name))
    .filter((spec) => wanted === null || isIn(wanted, spec))
    .filter((spec) => !isIn(definition.disallowedTools, spec))
    .map((spec) => spec.name);
  const { allow, deny } = definition.subagents;
  const agents = granted.agents.filter((id) => allow.includes(id) && !deny.includes(id) && id !== definition.id);
  return { tools, agents };
}

/**
 * The most that a child may be granted: the parent's own tools, and of the agents all that the parent does not deny.
 * The parent's `allow` is not handed down: whom a child may ask is its own definition's business, within the company.
 */
export function grantForChild(parent: Grant, fromAbove: Grant, definition: AgentDefinition): Grant {
  return { tools: parent.tools, agents: fromAbove.agents.filter((id) => !definition.subagents.deny.includes(id)) };
}
