import type { AgentProblem } from "@troupe/core/internal";
import { absenceOf, type Members, targetsOf } from "./delegation-lint.ts";
import type { ParsedAgent } from "./parse-agent.ts";

/**
 * Looks at whom agents name as their alternative, for when they have failed. It is their parents that would ask it, so
 * one of these has to be allowed to. Warnings only: without an alternative the failure itself is the answer.
 *
 * @param refused ids whose file exists but cannot be used
 */
export function lintAlternatives(members: Members, refused: ReadonlySet<string>): AgentProblem[] {
  const problems: AgentProblem[] = [];
  for (const agent of members.values()) {
    const id = agent.definition?.retry.alternative ?? null;
    const place = agent.alternativePlace;
    if (id === null || place === null) continue;
    const finding = findingOf(agent, id, members, refused);
    if (finding) problems.push({ path: agent.path, ...place, severity: "warning", ...finding });
  }
  return problems;
}

function findingOf(
  agent: ParsedAgent,
  id: string,
  members: Members,
  refused: ReadonlySet<string>,
): Pick<AgentProblem, "code" | "message" | "fix"> | null {
  const named = `the alternative of ${agent.claimedId} is ${JSON.stringify(id)}`;
  const absence = absenceOf(id, members, refused);
  if (absence) {
    return { code: `${absence.code}-alternative`, message: `${named}, ${absence.what}`, fix: absence.fix };
  }
  const parents = [...members.values()].filter((member) => targetsOf(member).includes(agent.claimedId));
  if (parents.length === 0 || parents.some((parent) => targetsOf(parent).includes(id))) return null;
  const names = parents.map((parent) => parent.claimedId).join(", ");
  return {
    code: "unreachable-alternative",
    message: `${named}, but none that may delegate to ${agent.claimedId} (${names}) may delegate to it`,
    fix: `add ${id} to the subagents of one of them, or name another agent`,
  };
}
