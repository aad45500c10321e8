import type { AgentProblem } from "@troupe/core/internal";
import { nearest } from "./nearest.ts";
import type { ParsedAgent } from "./parse-agent.ts";

export type Members = Map<string, ParsedAgent>;

/**
 * Looks at who delegates to whom. Removes from `members` every agent that could come back to itself, and tells why.
 * Where agents of several layers form the circle, those of the last layer are removed: they closed it.
 */
export function lintDelegation(members: Members, rankOf: (agent: ParsedAgent) => number): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (let circles = circlesOf(members); circles.length > 0; circles = circlesOf(members)) {
    for (const circle of circles) {
      const rank = Math.max(...circle.map((agent) => rankOf(agent)));
      const closing = circle.filter((agent) => rankOf(agent) === rank);
      problems.push(...closing.map((agent) => circleProblem(agent, circle)));
      for (const agent of closing) members.delete(agent.claimedId);
    }
  }
  return problems;
}

/**
 * Targets that cannot be asked. Warnings only: the agent can be used, and on other machines they may exist.
 *
 * @param refused ids whose file exists but cannot be used
 */
export function lintTargets(members: Members, refused: ReadonlySet<string>): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (const agent of members.values()) {
    // Whom it may ask is its own host's business.
    if (agent.origin === "remote") continue;
    for (const id of targetsOf(agent)) {
      // Nobody can take it out of a shipped list, and who switched it off knows.
      if (agent.origin === "builtin" && isDisabled(members.get(id))) continue;
      const absence = absenceOf(id, members, refused);
      if (absence === null) continue;
      const { code, what, fix } = absence;
      const message = `${agent.claimedId} may delegate to ${JSON.stringify(id)}, ${what}`;
      problems.push({ ...placeOf(agent, id), severity: "warning", code: `${code}-target`, message, fix });
    }
  }
  return problems;
}

/** Why an agent that is named cannot be asked; null where it can. */
export function absenceOf(
  id: string,
  members: Members,
  refused: ReadonlySet<string>,
): { code: string; what: string; fix: string } | null {
  const named = members.get(id);
  if (isDisabled(named)) {
    return { code: "disabled", what: "which is switched off", fix: `remove ${id}, or disabled: true from its file` };
  }
  if (named) return null;
  if (refused.has(id)) {
    return { code: "unusable", what: "which is refused: see its own file", fix: `mend the agent ${id}` };
  }
  const meant = nearest(id, members.keys());
  const fix = meant ? `did you mean ${meant}?` : `remove ${id}, or add an agent of that id`;
  return { code: "unknown", what: "which does not exist", fix };
}

function isDisabled(agent: ParsedAgent | undefined): boolean {
  return agent?.definition?.disabled ?? false;
}

/**
 * Ids that an agent names as those it may delegate to: deny wins. Whom a star lets in closes no circle here: nobody is
 * asked who is among his own ancestors, whatever the files say.
 */
export function targetsOf(agent: ParsedAgent): string[] {
  const { allow = [], deny = [] } = agent.definition?.subagents ?? {};
  return allow.filter((id) => id !== "*" && !deny.includes(id));
}

function circleProblem(agent: ParsedAgent, circle: readonly ParsedAgent[]): AgentProblem {
  const id = agent.claimedId;
  const way = wayBack(agent, circle);
  const next = way[0] ?? id;
  const alone = next === id;
  return {
    ...placeOf(agent, next),
    severity: "error",
    code: alone ? "self-reference" : "delegation-cycle",
    message: alone
      ? `${id} may delegate to itself; it is refused`
      : `${id} could come back to itself (${[id, ...way].join(" → ")}); it is refused`,
    fix: `remove ${next} from what ${id} may delegate to`,
  };
}

/** The shortest way from an agent along its targets to itself, without the start. */
function wayBack(agent: ParsedAgent, circle: readonly ParsedAgent[]): string[] {
  const byId = new Map(circle.map((member) => [member.claimedId, member]));
  const reached = new Set<string>();
  let front: { at: ParsedAgent; way: string[] }[] = [{ at: agent, way: [] }];
  while (front.length > 0) {
    const further: typeof front = [];
    for (const { at, way } of front) {
      for (const id of targetsOf(at)) {
        if (id === agent.claimedId) return [...way, id];
        const next = byId.get(id);
        if (!next || reached.has(id)) continue;
        reached.add(id);
        further.push({ at: next, way: [...way, id] });
      }
    }
    front = further;
  }
  return [];
}

function placeOf(agent: ParsedAgent, target: string): { path: string; line: number; column: number } {
  return { path: agent.path, ...(agent.targetPlaces.get(target) ?? { line: 1, column: 1 }) };
}

/** Groups of agents that can all reach each other (Tarjan), and single ones that name themselves. */
function circlesOf(members: Members): ParsedAgent[][] {
  const circles: ParsedAgent[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();

  const close = (id: string): void => {
    const group = path.splice(path.indexOf(id));
    for (const member of group) onPath.delete(member);
    const agents = group.map((member) => members.get(member)).filter((agent) => agent !== undefined);
    const [only] = agents;
    if (agents.length > 1 || (only && targetsOf(only).includes(id))) circles.push(agents);
  };
  const visit = (id: string, agent: ParsedAgent): void => {
    index.set(id, index.size);
    low.set(id, index.size - 1);
    path.push(id);
    onPath.add(id);
    for (const target of targetsOf(agent)) {
      const next = members.get(target);
      // Whoever is switched off is never asked, and so closes no circle.
      if (!next || isDisabled(next)) continue;
      if (!index.has(target)) visit(target, next);
      if (onPath.has(target)) low.set(id, Math.min(low.get(id) ?? 0, low.get(target) ?? 0));
    }
    if (low.get(id) === index.get(id)) close(id);
  };

  for (const [id, agent] of members) if (!index.has(id)) visit(id, agent);
  return circles;
}
