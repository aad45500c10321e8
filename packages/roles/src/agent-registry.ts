import type { AgentDefinition, AgentRegistry } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import type { FolderContents } from "./agent-folder.ts";
import { lintAlternatives } from "./alternative-lint.ts";
import { lintDelegation, lintTargets, type Members } from "./delegation-lint.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import { renderPrompt } from "./render-prompt.ts";

/**
 * Makes one company of several layers of agent files. A later layer's agent replaces an earlier one of the same id.
 * A broken file replaces it by nothing: whoever wrote it did not want the other one.
 *
 * @param elsewhere agents that other hosts serve: they count where no file here is about them
 */
export function assembleRegistry(
  layers: readonly FolderContents[],
  elsewhere: readonly AgentDefinition[] = [],
): AgentRegistry {
  const members: Members = new Map();
  const refused = new Set<string>();
  const problems: AgentProblem[] = layers.flatMap((layer) => layer.problems);
  for (const layer of layers) problems.push(...addLayer(layer.agents, members, refused));

  const rankOf = rankBy(layers);
  const before = [...members.keys()];
  problems.push(...lintDelegation(members, rankOf));
  for (const id of before) if (!members.has(id)) refused.add(id);
  // A circle that leads over another host is refused when somebody would close it.
  for (const agent of elsewhere) {
    if (!members.has(agent.id) && !refused.has(agent.id)) members.set(agent.id, memberOf(agent));
  }
  problems.push(...lintTargets(members, refused), ...lintAlternatives(members, refused));

  const agents = [...members.values()]
    .map((member) => member.definition)
    .filter((definition) => definition !== null)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const byId = new Map(agents.map((definition) => [definition.id, definition]));
  const find = (id: string) => byId.get(id);
  return {
    agents,
    problems,
    find,
    renderPrompt: (definition, request, facts) => renderPrompt(definition, request, facts, find),
  };
}

/** Definitions that came from no file, as a layer of their own. */
export function layerOf(definitions: readonly AgentDefinition[]): FolderContents {
  return { agents: definitions.map((definition) => memberOf(definition, "user")), problems: [] };
}

function memberOf(definition: AgentDefinition, origin: "remote" | "user" = "remote"): ParsedAgent {
  const { id, source } = definition;
  const nowhere = { targetPlaces: new Map(), alternativePlace: null, problems: [] };
  return { ...nowhere, path: source.path, origin, definition, claimedId: id };
}

function addLayer(layer: readonly ParsedAgent[], members: Members, refused: Set<string>): AgentProblem[] {
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
    if (agent.definition) continue;
    const id = agent.claimedId;
    const replaced = own.has(id) ? undefined : members.get(id);
    problems.push(...(replaced ? sayUnused(agent.problems, replaced) : agent.problems));
    if (own.has(id)) continue;
    members.delete(id);
    refused.add(id);
  }
  for (const [id, agent] of own) members.set(id, agent);
  return problems;
}

function duplicateProblem(agent: ParsedAgent, first: ParsedAgent): AgentProblem {
  return {
    path: agent.path,
    line: 1,
    column: 1,
    severity: "error",
    code: "duplicate-id",
    message: `the id ${agent.claimedId} is taken by ${first.path} in the same folder; this file is not used`,
    fix: "give one of the two another name, or remove it",
  };
}

const originNames = {
  builtin: "shipped",
  user: "user's",
  project: "project's",
  claude: "project's",
  remote: "other host's",
};

/** Tells, in a broken file's first error, that nothing has stepped into its place. */
function sayUnused(problems: readonly AgentProblem[], replaced: ParsedAgent): AgentProblem[] {
  const first = problems.findIndex((problem) => problem.severity === "error");
  const words = `the ${originNames[replaced.origin]} agent ${replaced.claimedId} is not used in its place`;
  return problems.map((problem, i) =>
    i === first ? { ...problem, message: `${problem.message}; ${words}` } : problem,
  );
}

function rankBy(layers: readonly FolderContents[]): (agent: ParsedAgent) => number {
  const ranks = new Map<ParsedAgent, number>();
  for (const [rank, layer] of layers.entries()) for (const agent of layer.agents) ranks.set(agent, rank);
  return (agent) => ranks.get(agent) ?? 0;
}
