import { type AgentRegistry, type GrantLayer, type ToolSpec, TroupeError } from "@troupe/core";
import { didYouMean, type SessionGrant, toolNames, unknownToolNames } from "@troupe/core/internal";

/**
 * What a caller lets its session use, as a layer of every grant in its tree. A name that fits nothing is a mistake:
 * misspelt, a denial would deny nothing, and an allowance everything else.
 */
export function sessionLayer(grant: SessionGrant, specs: readonly ToolSpec[], { agents }: AgentRegistry): GrantLayer {
  const { tools = null, denyTools = [], agents: allowed = null, denyAgents = [], writes = null } = grant;
  const ids = agents.map(({ id }) => id);
  for (const name of unknownToolNames([...(tools ?? []), ...denyTools], specs)) throw noTool(name, specs);
  for (const name of [...(allowed ?? []), ...denyAgents]) {
    if (name !== "*" && !ids.includes(name)) throw noSuch("agent", name, ids, `there are: ${ids.join(", ")}`);
  }
  return { from: "session", kind: "session", tools, denyTools, agents: allowed, denyAgents, writes };
}

function noTool(name: string, specs: readonly ToolSpec[]): TroupeError {
  const { tools, groups } = toolNames(specs);
  const ofGroups = groups.length > 0 ? `; groups: ${groups.join(", ")}` : "";
  return noSuch("tool", name, [...tools, ...groups], `there are: ${tools.join(", ")}${ofGroups}; and mcp__SERVER__*`);
}

function noSuch(what: "tool" | "agent", name: string, known: readonly string[], there: string): TroupeError {
  return new TroupeError("USAGE", `the session's grant names the ${what} ${JSON.stringify(name)}; ${there}`, {
    fix: didYouMean(name, known) ?? `name ${what}s that there are`,
  });
}
