import path from "node:path";
import {
  type AgentDefinition,
  type AgentRegistry,
  type GrantLayer,
  grantOf,
  type SubmitSession,
  type ToolSpec,
  TroupeError,
} from "@troupe/core";
import { type TeamSummary, teamAgentId, unknownAgent, unknownTeam } from "@troupe/core/internal";
import { findAgent } from "./lookup.ts";

/**
 * The agent that receives a request: the entry agent of the named team, or the named agent, which is an agent of the team
 * if the request names both.
 *
 * @param fallback id of the agent for a request that names none
 */
export function chooseAgent(
  registry: AgentRegistry,
  { agent, team: teamName }: Pick<SubmitSession, "agent" | "team">,
  fallback: string,
): AgentDefinition {
  if (teamName === undefined) return findAgent(registry, agent ?? fallback);
  const team = findTeam(registry, teamName);
  if (agent === undefined) return findAgent(registry, team.entry);
  const member = [teamAgentId(team.name, agent), agent].find((id) => team.agents.includes(id));
  if (member !== undefined) return findAgent(registry, member);
  const names = team.agents.map((id) => id.slice(team.name.length + 1));
  throw unknownAgent(agent, names, `the team ${team.name} has no agent ${JSON.stringify(agent)}`);
}

/** The facts that decide about the agents that a root run can reach. */
export interface AgentScope {
  registry: AgentRegistry;
  layers: readonly GrantLayer[];
  specs: readonly ToolSpec[];
}

/** The ids of the agents that a root run of an agent may delegate to. */
export function delegatesOf(agent: AgentDefinition, { registry, layers, specs }: AgentScope): string[] {
  return grantOf(layers, agent, { tools: specs, agents: registry.agents }).agents;
}

/** Finds a team by its name. A team with an error in its file fails with `INVALID_TEAM`, any other with `UNKNOWN_TEAM`. */
export function findTeam({ teams = [], problems }: AgentRegistry, name: string): TeamSummary {
  const team = teams.find((each) => each.name === name);
  if (team) return team;
  const isOfTeam = (file: string): boolean => path.basename(path.dirname(file)) === name;
  const broken = problems.find((problem) => problem.severity === "error" && isOfTeam(problem.path));
  if (broken) {
    const place = `${broken.path}:${broken.line}`;
    throw new TroupeError("INVALID_TEAM", `the team "${name}" cannot be used: ${place}: ${broken.message}`, {
      fix: broken.fix ?? `troupe teams validate ${path.dirname(broken.path)}`,
    });
  }
  throw unknownTeam(
    name,
    teams.map((each) => each.name),
  );
}
