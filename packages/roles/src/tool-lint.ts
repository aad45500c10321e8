import type { ToolSpec } from "@troupe/core";
import { type AgentProblem, explainUnknownTool, lackOfTools } from "@troupe/core/internal";
import type { ParsedAgent, ToolLocation } from "./parse-agent.ts";

/**
 * Warns of each name in `tools` and `disallowedTools` that means no tool of this machine. An agent whose names all mean
 * nothing is an error: no agent can delegate to it, and it cannot start a session.
 *
 * @example
 * lintTools(agents, specs)[0]?.message; // 'coder: tools names "Raed", but no tool here has that name'
 */
export function lintTools(agents: Iterable<ParsedAgent>, specs: readonly ToolSpec[]): AgentProblem[] {
  return [...agents].flatMap((agent) => {
    // The host of a remote agent has its tools.
    if (agent.origin === "remote" || !agent.definition) return [];
    const lack = lackOfTools(agent.definition, specs);
    const unknown = agent.toolLocations.flatMap((location) => problemsOf(agent, location, specs));
    return lack === null ? unknown : [lackProblem(agent, lack), ...unknown];
  });
}

function problemsOf(
  { path, claimedId }: ParsedAgent,
  location: ToolLocation,
  specs: readonly ToolSpec[],
): AgentProblem[] {
  const { item, written, list, line, column } = location;
  const unknown = explainUnknownTool(item, specs);
  if (unknown === null) return [];
  // A tool that does not exist needs no denial.
  if (list === "disallowedTools" && unknown.isForeign) return [];
  const name = JSON.stringify(written);
  const effect = list === "tools" ? "" : ", so this denies nothing";
  return [
    {
      ...{ path, line, column, severity: "warning", code: "unknown-tool" },
      message: `${claimedId}: ${list} names ${name}, ${unknown.reason}${effect}`,
      fix: unknown.fix,
    },
  ];
}

function lackProblem({ path, claimedId, toolLocations }: ParsedAgent, lack: string): AgentProblem {
  const { line, column } = toolLocations.find(({ list }) => list === "tools") ?? { line: 1, column: 1 };
  return {
    ...{ path, line, column, severity: "error", code: "no-usable-tools" },
    message: `${claimedId} cannot be used: ${lack}`,
    fix: "name tools that exist here, write tools: [] for an agent without tools, or remove the line for all tools",
  };
}
