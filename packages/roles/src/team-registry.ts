import { type AgentProblem, agentIdOf, type TeamSummary } from "@troupe/core/internal";
import { type CompiledTeam, compileTeam } from "./compile-team.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import type { ParsedTeam } from "./team-file.ts";
import type { TeamContents } from "./team-folder.ts";

/** The usable teams of all folders, and their agents under their ids. */
export interface TeamRegistry {
  members: readonly ParsedAgent[];
  teams: readonly TeamSummary[];
  problems: readonly AgentProblem[];
}

/**
 * Compiles all teams. A team of a later folder replaces a whole earlier team with the same name, also if its file has an
 * error, because its author wanted to replace it.
 *
 * @param others agents without a team, by id
 */
export function assembleTeams(
  contents: readonly TeamContents[],
  others: ReadonlyMap<string, ParsedAgent>,
): TeamRegistry {
  const chosen = new Map(contents.flatMap((each) => (each.isHeldBack ? [] : [[each.team.name, each]])));
  const known = new Map(others);
  const heldBack = contents.filter(({ isHeldBack }) => isHeldBack);
  const problems = [...chosen.values(), ...heldBack].flatMap((each) => [...each.problems]);
  const teams: TeamSummary[] = [];
  const members: ParsedAgent[] = [];
  for (const each of inOrder([...chosen.values()])) {
    const compiled = compileOnce(each, known);
    problems.push(...compiled.problems);
    const summary = summaryOf(each, compiled);
    if (!summary) continue;
    teams.push(summary);
    for (const member of compiled.members) {
      known.set(member.claimedId, member);
      members.push(member);
    }
  }
  return { members, teams: teams.sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

interface Compilation {
  /** The agents that the team was made of: its own, and its guests. */
  sources: readonly (ParsedAgent | undefined)[];
  compiled: CompiledTeam;
}

const compilations = new WeakMap<ParsedTeam, Compilation>();

/** A team whose files have not changed keeps its definitions: their hashes are cached by identity. */
function compileOnce({ team, agents }: TeamContents, known: ReadonlyMap<string, ParsedAgent>): CompiledTeam {
  const guests = (team.file?.agents ?? []).map((name) => known.get(agentIdOf(name)));
  const sources = [...agents, ...guests];
  const earlier = compilations.get(team);
  const isSame = earlier?.sources.length === sources.length && sources.every((each, i) => each === earlier.sources[i]);
  if (earlier && isSame) return earlier.compiled;
  const compiled = compileTeam(team, agents, known);
  compilations.set(team, { sources, compiled });
  return compiled;
}

/** Teams without guests first, then those whose guests' teams are known. Teams that need each other come last. */
function inOrder(teams: readonly TeamContents[]): TeamContents[] {
  const ordered: TeamContents[] = [];
  let left = [...teams];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ team }) => team.name));
    const isReady = ({ team }: TeamContents): boolean =>
      (team.file?.agents ?? []).every(
        (name) => name.split("/")[0] === team.name || !waiting.has(name.split("/")[0] ?? ""),
      );
    const ready = left.filter(isReady);
    ordered.push(...(ready.length > 0 ? ready : left));
    left = ready.length > 0 ? left.filter((each) => !ready.includes(each)) : [];
  }
  return ordered;
}

function summaryOf({ team }: TeamContents, { entry, members }: CompiledTeam): TeamSummary | null {
  if (entry === null || !team.file) return null;
  return {
    name: team.name,
    description: team.file.description,
    entry,
    agents: members.map(({ claimedId }) => claimedId),
    origin: team.origin,
    path: team.path,
  };
}
