import { type AgentDefinition, workspaceModeOf } from "../protocol/agent.ts";
import type { AgentSummary } from "../protocol/api.ts";
import type { GrantLayer } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { lackOfTools } from "./grant.ts";

/**
 * An agent as lists show it.
 *
 * @param policy the policy of this machine, which can disable agents
 * @param specs the tools of this machine; without them it is not checked whether the agent has any
 */
export function agentSummaryOf(agent: AgentDefinition, policy?: GrantLayer, specs?: readonly ToolSpec[]): AgentSummary {
  const { id, name, description, tools, model, source, subagents, permissionMode, team } = agent;
  const disabled = agent.disabled || (policy?.denyAgents.includes(id) ?? false);
  const { origin, path } = source;
  const targets = subagents.allow.filter((target) => !subagents.deny.includes(target));
  const workspace = workspaceModeOf(agent);
  const unusable = specs ? lackOfTools(agent, specs) : null;
  return {
    ...{ id, name, description, tools, subagents: targets, model, origin, path, disabled },
    ...(team === undefined ? {} : { team }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(workspace === "shared" ? {} : { workspace }),
    ...(unusable === null ? {} : { unusable }),
  };
}
