import { type AgentProblem, didYouMean, shortList } from "@troupe/core/internal";
import type { ParsedAgent } from "./parse-agent.ts";

export type AgentsById = Map<string, ParsedAgent>;

/**
 * Removes every agent that could delegate to itself, directly or through other agents, and returns an error for each. If
 * agents of several layers form a cycle, only the agents of the last layer are removed, because they closed it.
 */
export function removeDelegationCycles(agents: AgentsById, rankOf: (agent: ParsedAgent) => number): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (let cycles = findCycles(agents); cycles.length > 0; cycles = findCycles(agents)) {
    for (const cycle of cycles) {
      const rank = Math.max(...cycle.map((agent) => rankOf(agent)));
      const closing = cycle.filter((agent) => rankOf(agent) === rank);
      problems.push(...closing.map((agent) => cycleProblem(agent, cycle)));
      for (const agent of closing) agents.delete(agent.claimedId);
    }
  }
  return problems;
}

/**
 * Warns about delegation targets that cannot be used. They are not errors: the agent itself works, and another machine can
 * have the target.
 *
 * @param refused ids whose file exists but cannot be used
 */
export function lintTargets(agents: AgentsById, refused: ReadonlySet<string>): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (const agent of agents.values()) {
    // The host of a remote agent checks its targets.
    if (agent.origin === "remote") continue;
    for (const id of targetsOf(agent)) {
      // A user who disables an agent cannot remove it from the list of a shipped agent.
      if (agent.origin === "builtin" && isDisabled(agents.get(id))) continue;
      const absence = findAbsence(id, agents, refused);
      if (absence === null) continue;
      const { code, reason, fix } = absence;
      const message = `${agent.claimedId} may delegate to ${JSON.stringify(id)}, ${reason}`;
      problems.push({ ...targetLocation(agent, id), severity: "warning", code: `${code}-target`, message, fix });
    }
  }
  return problems;
}

/**
 * Warns about alternatives that cannot be used after all attempts of an agent have failed. Its parent delegates to the
 * alternative, so at least one parent must be allowed to. Without an alternative the failure is the result.
 *
 * @param refused ids whose file exists but cannot be used
 */
export function lintAlternatives(agents: AgentsById, refused: ReadonlySet<string>): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (const agent of agents.values()) {
    const id = agent.definition?.retry.alternative ?? null;
    const location = agent.alternativeLocation;
    if (id === null || location === null) continue;
    const finding = findAlternativeProblem(agent, id, agents, refused);
    if (finding) problems.push({ path: agent.path, ...location, severity: "warning", ...finding });
  }
  return problems;
}

function findAlternativeProblem(
  agent: ParsedAgent,
  id: string,
  agents: AgentsById,
  refused: ReadonlySet<string>,
): Pick<AgentProblem, "code" | "message" | "fix"> | null {
  const subject = `the alternative of ${agent.claimedId} is ${JSON.stringify(id)}`;
  const absence = findAbsence(id, agents, refused);
  if (absence) {
    return { code: `${absence.code}-alternative`, message: `${subject}, ${absence.reason}`, fix: absence.fix };
  }
  const parents = [...agents.values()].filter((parent) => targetsOf(parent).includes(agent.claimedId));
  if (parents.length === 0 || parents.some((parent) => targetsOf(parent).includes(id))) return null;
  const names = parents.map((parent) => parent.claimedId).join(", ");
  return {
    code: "unreachable-alternative",
    message: `${subject}, but no parent of ${agent.claimedId} (${names}) may delegate to ${id}`,
    fix: `add ${id} to the subagents of a parent, or name another alternative`,
  };
}

/** The reason why a named agent cannot be used, or null if it can. */
function findAbsence(
  id: string,
  agents: AgentsById,
  refused: ReadonlySet<string>,
): { code: string; reason: string; fix: string } | null {
  const named = agents.get(id);
  if (isDisabled(named)) {
    return {
      code: "disabled",
      reason: "which is disabled",
      fix: `remove ${id}, or remove disabled: true from its file`,
    };
  }
  if (named) return null;
  if (refused.has(id)) {
    return { code: "unusable", reason: "whose file has an error", fix: `correct the errors in the file of ${id}` };
  }
  const known = [...agents.keys()];
  const fix = didYouMean(id, known) ?? `remove ${id}, or add an agent with this id; available: ${shortList(known)}`;
  return { code: "unknown", reason: "which does not exist", fix };
}

function isDisabled(agent: ParsedAgent | undefined): boolean {
  return agent?.definition?.disabled ?? false;
}

/** The ids that an agent may delegate to. `"*"` is left out: at run time it never includes an agent's own ancestors. */
function targetsOf(agent: ParsedAgent): string[] {
  const { allow = [], deny = [] } = agent.definition?.subagents ?? {};
  return allow.filter((id) => id !== "*" && !deny.includes(id));
}

function cycleProblem(agent: ParsedAgent, cycle: readonly ParsedAgent[]): AgentProblem {
  const id = agent.claimedId;
  const path = shortestCycle(agent, cycle);
  const next = path[0] ?? id;
  const isSelf = next === id;
  return {
    ...targetLocation(agent, next),
    severity: "error",
    code: isSelf ? "self-reference" : "delegation-cycle",
    message: isSelf
      ? `${id} may delegate to itself, so it cannot be used`
      : `${id} may delegate to itself through other agents (${[id, ...path].join(" → ")}), so it cannot be used`,
    fix: `remove ${next} from the agents that ${id} may delegate to`,
  };
}

/** The shortest path from an agent along its targets back to the agent, without the start. */
function shortestCycle(agent: ParsedAgent, cycle: readonly ParsedAgent[]): string[] {
  const byId = new Map(cycle.map((member) => [member.claimedId, member]));
  const reached = new Set<string>();
  let frontier: { at: ParsedAgent; path: string[] }[] = [{ at: agent, path: [] }];
  while (frontier.length > 0) {
    const further: typeof frontier = [];
    for (const { at, path } of frontier) {
      for (const id of targetsOf(at)) {
        if (id === agent.claimedId) return [...path, id];
        const next = byId.get(id);
        if (!next || reached.has(id)) continue;
        reached.add(id);
        further.push({ at: next, path: [...path, id] });
      }
    }
    frontier = further;
  }
  return [];
}

function targetLocation(agent: ParsedAgent, target: string): { path: string; line: number; column: number } {
  return { path: agent.path, ...(agent.targetLocations.get(target) ?? { line: 1, column: 1 }) };
}

/** Groups of agents that can all reach each other (Tarjan's algorithm), and single agents that name themselves. */
function findCycles(agents: AgentsById): ParsedAgent[][] {
  const cycles: ParsedAgent[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();

  const close = (id: string): void => {
    const group = path.splice(path.indexOf(id));
    for (const member of group) onPath.delete(member);
    const members = group.map((member) => agents.get(member)).filter((agent) => agent !== undefined);
    const [only] = members;
    if (members.length > 1 || (only && targetsOf(only).includes(id))) cycles.push(members);
  };
  const visit = (id: string, agent: ParsedAgent): void => {
    index.set(id, index.size);
    low.set(id, index.size - 1);
    path.push(id);
    onPath.add(id);
    for (const target of targetsOf(agent)) {
      const next = agents.get(target);
      // A disabled agent never runs, so it closes no cycle.
      if (!next || isDisabled(next)) continue;
      if (!index.has(target)) visit(target, next);
      if (onPath.has(target)) low.set(id, Math.min(low.get(id) ?? 0, low.get(target) ?? 0));
    }
    if (low.get(id) === index.get(id)) close(id);
  };

  for (const [id, agent] of agents) if (!index.has(id)) visit(id, agent);
  return cycles;
}
