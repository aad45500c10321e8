import { type AgentRegistry, type GrantLayer, type ToolSpec, TroupeError } from "@troupe/core";
import { didYouMean, type SessionGrant, toolNames, unknownToolNames } from "@troupe/core/internal";

/**
 * Turns a session's grant into a layer that applies to every run of its tree. An unknown name fails with `USAGE`: a
 * misspelt denial would deny nothing, and a misspelt allowance would take everything away.
 */
export function sessionLayer(grant: SessionGrant, specs: readonly ToolSpec[], { agents }: AgentRegistry): GrantLayer {
  const { tools = null, denyTools = [], agents: allowed = null, denyAgents = [], writes = null } = grant;
  const ids = agents.map(({ id }) => id);
  for (const name of unknownToolNames([...(tools ?? []), ...denyTools], specs)) throw unknownTool(name, specs);
  for (const name of [...(allowed ?? []), ...denyAgents]) {
    if (name !== "*" && !ids.includes(name)) throw unknownName("agent", name, ids, ids.join(", "));
  }
  return { from: "session", kind: "session", tools, denyTools, agents: allowed, denyAgents, writes };
}

function unknownTool(name: string, specs: readonly ToolSpec[]): TroupeError {
  const { tools, groups } = toolNames(specs);
  const groupList = groups.length > 0 ? `; groups: ${groups.join(", ")}` : "";
  return unknownName("tool", name, [...tools, ...groups], `${tools.join(", ")}${groupList}; and mcp__SERVER__*`);
}

function unknownName(what: "tool" | "agent", name: string, known: readonly string[], listed: string): TroupeError {
  const message = `the session's grant names an unknown ${what}, ${JSON.stringify(name)}; known ${what}s: ${listed}`;
  return new TroupeError("USAGE", message, { fix: didYouMean(name, known) ?? `use the name of a known ${what}` });
}
