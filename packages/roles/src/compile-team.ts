import type { AgentDefinition } from "@troupe/core";
import { type AgentProblem, agentIdOf, agentNameOf, didYouMean, shortList, teamAgentId } from "@troupe/core/internal";
import type { ParsedAgent } from "./parse-agent.ts";
import type { ParsedTeam, TeamFile } from "./team-file.ts";

/** A team whose agents have their ids, and everything that `team.yaml` says about them. */
export interface CompiledTeam {
  /** Members that can be used. The team's own files come first. */
  members: readonly ParsedAgent[];
  problems: readonly AgentProblem[];
  /** Id of the entry agent. Null if the team cannot be used. */
  entry: string | null;
}

interface Members {
  team: ParsedTeam & { file: TeamFile };
  /** By the name within the team. */
  byName: Map<string, ParsedAgent>;
  problems: AgentProblem[];
}

/**
 * Reads a team into the definitions of its agents, so that nothing else has to know the team when they run.
 *
 * @param own agents of the files beside `team.yaml`
 * @param others agents outside of this team, by id; `agents:` of the file can name them
 */
export function compileTeam(
  team: ParsedTeam,
  own: readonly ParsedAgent[],
  others: ReadonlyMap<string, ParsedAgent>,
): CompiledTeam {
  const { file } = team;
  const problems = [...team.problems, ...own.flatMap((agent) => agent.problems)];
  if (!file) return { members: [], problems, entry: null };
  const members: Members = { team: { ...team, file }, byName: new Map(), problems };
  for (const agent of own) if (agent.definition) members.byName.set(agent.claimedId, agent);
  for (const [i, name] of file.agents.entries()) addGuest(members, others, name, i);
  const entry = entryOf(members, own);
  const compiled = [...members.byName].map(([name, agent]) => compileMember(members, name, agent, entry));
  const isBroken = problems.some(({ path, severity }) => path === team.path && severity === "error");
  if (entry === null || isBroken) return { members: [], problems, entry: null };
  return { members: compiled, problems, entry: teamAgentId(file.name, entry) };
}

/** Adds an agent of another team, or without one, under its own name. */
function addGuest(members: Members, others: ReadonlyMap<string, ParsedAgent>, name: string, i: number): void {
  const { team, byName } = members;
  const guest = others.get(agentIdOf(name));
  const short = name.slice(name.indexOf("/") + 1);
  if (byName.has(short)) {
    report(members, ["agents", i], {
      code: "duplicate-id",
      message: `${team.name} has two agents with the name ${short}: its own file, and ${name}`,
      fix: "rename the file, or remove the line",
    });
  } else if (!guest?.definition) {
    const known = [...others.values()].flatMap(({ definition }) => (definition ? [agentNameOf(definition)] : []));
    report(members, ["agents", i], {
      code: "unknown-agent",
      message: `agents names ${name}, which does not exist`,
      fix: didYouMean(name, known) ?? `known agents: ${shortList(known)}`,
    });
  } else byName.set(short, { ...guest, problems: [] });
}

function entryOf(members: Members, own: readonly ParsedAgent[]): string | null {
  const { team, byName } = members;
  const [only, ...more] = byName.keys();
  const named = team.file.entry ?? (more.length === 0 ? only : undefined);
  if (named === undefined) {
    report(members, [], {
      code: "missing-entry",
      message:
        byName.size === 0 ? `the team ${team.name} has no usable agent` : `the team ${team.name} has no entry agent`,
      fix: byName.size === 0 ? "add an agent file beside team.yaml" : `add entry: ${only ?? "main"}`,
    });
    return null;
  }
  if (byName.has(named)) return named;
  const isBroken = own.some(({ claimedId, definition }) => claimedId === named && !definition);
  report(members, ["entry"], {
    code: "missing-entry",
    message: `the entry agent ${named} ${isBroken ? "has an error in its file" : "is not an agent of this team"}`,
    fix: isBroken
      ? "correct its file"
      : (didYouMean(named, [...byName.keys()]) ?? `agents: ${shortList([...byName.keys()])}`),
  });
  return null;
}

function compileMember(members: Members, name: string, agent: ParsedAgent, entry: string | null): ParsedAgent {
  const { team } = members;
  const { definition } = agent;
  if (!definition) return agent;
  const id = teamAgentId(team.file.name, name);
  const resolve = (target: string): string => resolveName(members, target, definition.team);
  const { subagents, retry, triggers, childVerifiers } = definition;
  const compiled: AgentDefinition = {
    ...withDefaults(definition, team.file.defaults),
    id,
    team: team.file.name,
    subagents: { ...subagents, allow: subagents.allow.map(resolve), deny: subagents.deny.map(resolve) },
    retry: { ...retry, alternative: retry.alternative === null ? null : resolve(retry.alternative) },
    ...(triggers && { triggers: triggers.map((each) => ({ ...each, agent: resolve(each.agent) })) }),
    ...(childVerifiers && {
      childVerifiers: childVerifiers.map((each) => ({
        ...each,
        agent: each.agent === null ? null : resolve(each.agent),
      })),
    }),
  };
  const targetLocations = new Map([...agent.targetLocations].map(([target, place]) => [resolve(target), place]));
  return {
    ...agent,
    claimedId: id,
    targetLocations,
    definition: withTeamRules(members, name, compiled, name === entry),
  };
}

/** The team's own agent first, then the agent that its file or its former team meant. */
function resolveName({ team, byName }: Pick<Members, "team" | "byName">, target: string, formerTeam?: string): string {
  if (target === "*") return target;
  const name =
    formerTeam !== undefined && target.startsWith(`${formerTeam}_`) ? target.slice(formerTeam.length + 1) : target;
  return byName.has(name) ? teamAgentId(team.file.name, name) : agentIdOf(target);
}

function withDefaults(
  definition: AgentDefinition,
  { model, maxDepth, limits, budget }: TeamFile["defaults"],
): AgentDefinition {
  const depth = maxDepth === undefined ? {} : { maxDepth };
  return {
    ...definition,
    model: definition.model === "inherit" && model !== undefined ? model : definition.model,
    limits: { ...limits, ...depth, ...definition.limits },
    budget: { ...budget, ...definition.budget },
  };
}

/** Adds the checks of `team.yaml` to the agents that they name, and the rest to the entry agent. */
function withTeamRules(members: Members, name: string, definition: AgentDefinition, isEntry: boolean): AgentDefinition {
  const { file } = members.team;
  const verifiers = file.verifiers
    .filter(({ agent }) => agent === name)
    .map(({ name: verifier, params }) => ({ name: verifier, params }));
  const checked = { ...definition, verifiers: [...definition.verifiers, ...verifiers] };
  if (!isEntry) return checked;
  for (const [i, { agent }] of file.verifiers.entries()) checkMember(members, agent, ["verifiers", i, "agent"]);
  const triggers = file.triggers.map((each, i) => ({
    ...each,
    agent: reachable(members, definition, each.agent, ["triggers", i, "agent"]),
  }));
  const childVerifiers = file.childVerifiers.map((each, i) => ({
    ...each,
    agent: each.agent === null ? null : reachable(members, definition, each.agent, ["childVerifiers", i, "agent"]),
  }));
  return {
    ...checked,
    ...(triggers.length > 0 && { triggers: [...(definition.triggers ?? []), ...triggers] }),
    ...(childVerifiers.length > 0 && { childVerifiers: [...(definition.childVerifiers ?? []), ...childVerifiers] }),
    ...(file.observers.length > 0 && { observers: [...(definition.observers ?? []), ...file.observers] }),
  };
}

type FilePosition = [] | [key: string, ...rest: (string | number)[]];

function checkMember(members: Members, agent: string, path: FilePosition): void {
  if (members.byName.has(agent)) return;
  const known = [...members.byName.keys()];
  report(members, path, {
    code: "unknown-agent",
    message: `${agent} is not an agent of the team ${members.team.name}`,
    fix: didYouMean(agent, known) ?? `agents: ${shortList(known)}`,
  });
}

/** A trigger or check of an agent that the entry agent cannot ask would never apply. */
function reachable(members: Members, { id, subagents }: AgentDefinition, agent: string, path: FilePosition): string {
  const target = resolveName(members, agent);
  const { allow, deny } = subagents;
  const isMember = target.startsWith(`${members.team.file.name}_`);
  if (deny.includes(target) || !(allow.includes(target) || (isMember && allow.includes("*")))) {
    report(members, path, {
      code: "unreachable-agent",
      message: `${agent} is named here, and the entry agent ${id.slice(id.indexOf("_") + 1)} may not delegate to it`,
      fix: `add ${agent} to subagents.allow of the entry agent`,
    });
  }
  return target;
}

function report(
  { team, problems }: Members,
  path: FilePosition,
  finding: Pick<AgentProblem, "code" | "message" | "fix">,
): void {
  const [key, ...rest] = path;
  const place = key === undefined ? { line: 1, column: 1 } : team.locationOf(key, ...rest);
  problems.push({ path: team.path, ...place, severity: "error", ...finding });
}
