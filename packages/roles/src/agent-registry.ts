import { basename } from "node:path";
import type { AgentDefinition, AgentRegistry } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import type { FolderContents } from "./agent-folder.ts";
import { type AgentsById, lintAlternatives, lintTargets, removeDelegationCycles } from "./delegation-lint.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import { capProblems, problemsMax } from "./problem-report.ts";
import { renderPrompt } from "./render-prompt.ts";
import type { TeamContents } from "./team-folder.ts";
import { assembleTeams } from "./team-registry.ts";
import { lintTools } from "./tool-lint.ts";

/**
 * Combines several layers of agent files into one registry. An agent of a later layer replaces an earlier agent with the
 * same id. A file with an error also removes the earlier agent, because its author wanted to replace it.
 *
 * @param remoteAgents agents of other hosts; they count if no local file has their id
 * @param teamFolders teams, which also come in layers
 */
export function assembleRegistry(
  layers: readonly FolderContents[],
  remoteAgents: readonly AgentDefinition[] = [],
  teamFolders: readonly TeamContents[] = [],
): AgentRegistry {
  const byId: AgentsById = new Map();
  const refused = new Set<string>();
  const problems: AgentProblem[] = layers.flatMap((layer) => layer.problems);
  for (const layer of layers) problems.push(...addLayer(layer.agents, byId, refused));

  const assembled = assembleTeams(teamFolders, byId);
  problems.push(...assembled.problems);
  for (const member of assembled.members) problems.push(...addMember(member, byId));

  const rankOf = rankBy(layers);
  const before = [...byId.keys()];
  problems.push(...removeDelegationCycles(byId, rankOf));
  for (const id of before) if (!byId.has(id)) refused.add(id);
  // A cycle through another host is refused at run time.
  for (const agent of remoteAgents) {
    if (!byId.has(agent.id) && !refused.has(agent.id)) byId.set(agent.id, toParsedAgent(agent));
  }
  problems.push(...lintTargets(byId, refused), ...lintAlternatives(byId, refused));

  const agents = [...byId.values()]
    .map((agent) => agent.definition)
    .filter((definition) => definition !== null)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const definitions = new Map(agents.map((definition) => [definition.id, definition]));
  const find = (id: string) => definitions.get(id);
  return {
    agents,
    teams: assembled.teams.filter(({ entry }) => definitions.has(entry)),
    problems: capByFile(problems),
    find,
    toolProblems: (specs) => capByFile(lintTools(byId.values(), specs)),
    renderPrompt: (definition, request, facts) => renderPrompt(definition, request, facts, find),
  };
}

/** Lists the first problems of each file, and the number of its others. */
function capByFile(problems: readonly AgentProblem[]): AgentProblem[] {
  const byPath = new Map<string, AgentProblem[]>();
  for (const problem of problems) {
    const ofFile = byPath.get(problem.path);
    if (ofFile) ofFile.push(problem);
    else byPath.set(problem.path, [problem]);
  }
  if ([...byPath.values()].every(({ length }) => length <= problemsMax)) return [...problems];
  return [...byPath.values()].flatMap(capProblems);
}

/** A layer of definitions that do not come from files. */
export function layerOf(definitions: readonly AgentDefinition[]): FolderContents {
  return { agents: definitions.map((definition) => toParsedAgent(definition, "user")), problems: [] };
}

function toParsedAgent(definition: AgentDefinition, origin: "remote" | "user" = "remote"): ParsedAgent {
  const { id, source } = definition;
  const withoutLocations = { targetLocations: new Map(), toolLocations: [], alternativeLocation: null, problems: [] };
  return { ...withoutLocations, path: source.path, origin, definition, claimedId: id };
}

function addLayer(layer: readonly ParsedAgent[], byId: AgentsById, refused: Set<string>): AgentProblem[] {
  const problems: AgentProblem[] = [];
  const own = new Map<string, ParsedAgent>();
  for (const agent of layer) {
    const { definition, claimedId } = agent;
    const first = definition && own.get(claimedId);
    if (first) problems.push(...agent.problems, duplicateProblem(agent, first));
    else if (definition) {
      own.set(claimedId, agent);
      problems.push(...agent.problems);
    }
  }
  for (const agent of layer) {
    if (agent.definition || agent.isNote) continue;
    const id = agent.claimedId;
    const replaced = own.has(id) ? undefined : byId.get(id);
    problems.push(...(replaced ? withReplacementNote(agent.problems, replaced) : agent.problems));
    if (own.has(id)) continue;
    byId.delete(id);
    refused.add(id);
  }
  for (const [id, agent] of own) byId.set(id, agent);
  return [...problems, ...noteProblems(layer, byId)];
}

/** A member whose id another agent already has is left out: the ids of teams look like `coding_planner`. */
function addMember(member: ParsedAgent, byId: AgentsById): AgentProblem[] {
  const first = byId.get(member.claimedId);
  if (!first) {
    byId.set(member.claimedId, member);
    return [];
  }
  return [duplicateProblem(member, first)];
}

/** A file without front matter is not an agent. With the name of an agent it was probably meant to be one. */
function noteProblems(layer: readonly ParsedAgent[], byId: AgentsById): AgentProblem[] {
  return layer.flatMap((note) => {
    const named = note.isNote ? byId.get(note.claimedId) : undefined;
    return named ? [noteProblem(note, named)] : [];
  });
}

function noteProblem({ path }: ParsedAgent, named: ParsedAgent): AgentProblem {
  return {
    ...{ path, line: 1, column: 1, severity: "warning", code: "missing-front-matter" },
    message: `${basename(path)} has no front matter, so it is not an agent; the ${originNames[named.origin]} agent ${named.claimedId} is used`,
    fix: "start the file with a line ---, then description:, then another line ---, or give the file another name",
  };
}

function duplicateProblem(agent: ParsedAgent, first: ParsedAgent): AgentProblem {
  return {
    path: agent.path,
    line: 1,
    column: 1,
    severity: "error",
    code: "duplicate-id",
    message: `${first.path} has the same id, ${agent.claimedId}; this file is not used`,
    fix: "rename or remove one of the two agents",
  };
}

const originNames = {
  builtin: "shipped",
  user: "user's",
  project: "project's",
  claude: "project's",
  remote: "other host's",
};

/** Adds to the first error of a file that the replaced agent is not used either. */
function withReplacementNote(problems: readonly AgentProblem[], replaced: ParsedAgent): AgentProblem[] {
  const first = problems.findIndex((problem) => problem.severity === "error");
  const note = `the ${originNames[replaced.origin]} agent ${replaced.claimedId} is not used in its place`;
  return problems.map((problem, i) => (i === first ? { ...problem, message: `${problem.message}; ${note}` } : problem));
}

function rankBy(layers: readonly FolderContents[]): (agent: ParsedAgent) => number {
  const ranks = new Map<ParsedAgent, number>();
  for (const [rank, layer] of layers.entries()) for (const agent of layer.agents) ranks.set(agent, rank);
  return (agent) => ranks.get(agent) ?? 0;
}
