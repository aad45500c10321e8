import { type AgentDefinition, type RunRequest, type SubmitSession, TroupeError } from "@troupe/core";
import {
  agentIdOf,
  agentNameOf,
  readSpawnCommand,
  shortList,
  spawnUsage,
  teamAgentId,
  unknownAgent,
} from "@troupe/core/internal";
import { type AgentScope, delegatesOf } from "./choose-agent.ts";
import { brokenAgent } from "./lookup.ts";

/**
 * The field of a request whose task begins with `/spawn`; none for another task, and for plans. Throws `USAGE` for a
 * command without a task or for an agent out of reach, and `UNKNOWN_AGENT` for a wrong name. Nothing is started then.
 *
 * @param agent the agent that receives the request
 * @example
 * spawnFields({ task: "/spawn coder Write hello.md" }, main, scope); // { spawn: { agent: "coder", task: "Write hello.md" } }
 */
export function spawnFields(
  { task, plan, makesPlan }: Pick<SubmitSession, "task" | "plan" | "makesPlan">,
  agent: AgentDefinition,
  scope: AgentScope,
): Pick<RunRequest, "spawn"> {
  const command = plan || makesPlan ? null : readSpawnCommand(task);
  if (!command) return {};
  const targets = targetsOf(agent, scope);
  if ("problem" in command) {
    throw new TroupeError("USAGE", `${command.problem}: ${spawnUsage}`, { fix: `the agents are: ${listOf(targets)}` });
  }
  return { spawn: { ...command, agent: targetNamed(command.agent, { agent, targets, scope }) } };
}

/** The agents that the run may delegate to. It never delegates to itself. */
function targetsOf(agent: AgentDefinition, scope: AgentScope): AgentDefinition[] {
  const { registry } = scope;
  const agents = delegatesOf(agent, scope);
  return agents.filter((id) => id !== agent.id).flatMap((id) => registry.find(id) ?? []);
}

interface SpawnChoice {
  agent: AgentDefinition;
  targets: readonly AgentDefinition[];
  scope: AgentScope;
}

/** The id for a name: an agent of the same team first, then `team/agent` or an agent without a team. */
function targetNamed(name: string, { agent, targets, scope: { registry } }: SpawnChoice): string {
  const ids = [...(agent.team === undefined ? [] : [teamAgentId(agent.team, name)]), agentIdOf(name)];
  const target = ids.find((id) => targets.some((each) => each.id === id));
  if (target !== undefined) return target;
  const known = ids.flatMap((id) => registry.find(id) ?? [])[0];
  if (!known) {
    throw brokenAgent(registry, name) ?? unknownAgent(name, namesOf(targets), `/spawn: no agent is called "${name}"`);
  }
  const here = agentNameOf(agent);
  const there = agentNameOf(known);
  throw new TroupeError("USAGE", `${here} may not delegate to ${there}; it may delegate to: ${listOf(targets)}`, {
    fix: known.id === agent.id ? "leave /spawn out: this agent gets the task" : `troupe run --agent ${there} "…"`,
  });
}

function namesOf(agents: readonly AgentDefinition[]): string[] {
  return agents.map(agentNameOf).sort();
}

function listOf(agents: readonly AgentDefinition[]): string {
  return shortList(namesOf(agents));
}
