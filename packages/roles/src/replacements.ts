import { relative, sep } from "node:path";
import type { AgentProblem } from "@troupe/core/internal";
import type { AgentFolder, FolderContents } from "./agent-folder.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import type { TeamContents } from "./team-folder.ts";

/**
 * The agent and team files of a project that the user accepted: SHA-256 by path, relative to the project. Only these files
 * may replace a shipped or a user's definition.
 */
export type AcceptedFiles = (project: string) => Promise<ReadonlyMap<string, string>>;

export interface Definitions {
  layers: readonly { folder: AgentFolder; contents: FolderContents }[];
  teams: readonly TeamContents[];
}

/**
 * Holds back files that would replace a shipped or a user's agent or team without the user's consent: the author of a cloned
 * repository must not choose the agent that receives the user's requests. A held-back file is a warning of the registry.
 */
export async function holdBackReplacements(given: Definitions, accepted: AcceptedFiles): Promise<Definitions> {
  const isTaken = takenNames(given);
  const consents = new Map<string, Promise<ReadonlyMap<string, string>>>();
  const isAccepted = async (project: string, files: readonly HashedFile[]): Promise<boolean> => {
    const consent = consents.get(project) ?? accepted(project);
    consents.set(project, consent);
    const hashes = await consent;
    return files.every(
      ({ path, contentHash }) => contentHash !== undefined && hashes.get(pathIn(project, path)) === contentHash,
    );
  };
  const layers = await Promise.all(
    given.layers.map(async ({ folder, contents }) => {
      const { within: project } = folder;
      if (project === undefined) return { folder, contents };
      const refused = await filterAsync(
        contents.agents,
        async (agent) => isTaken.agent(agent.claimedId) && !agent.isNote && !(await isAccepted(project, [agent])),
      );
      return { folder, contents: withoutAgents(contents, refused) };
    }),
  );
  const teams = await Promise.all(
    given.teams.map(async (each) => {
      const { team, agents, project } = each;
      const isReplacement = project !== undefined && isTaken.team(team.name);
      return isReplacement && !(await isAccepted(project, [team, ...agents])) ? heldBackTeam(each) : each;
    }),
  );
  return { layers, teams };
}

interface HashedFile {
  path: string;
  contentHash?: string;
}

function pathIn(project: string, path: string): string {
  return relative(project, path).split(sep).join("/");
}

/** The names of shipped and the user's agents and teams. An agent of a team has an id such as `coding_planner`. */
function takenNames({ layers, teams }: Definitions) {
  const ids = new Set(
    layers.flatMap(({ folder, contents }) =>
      folder.within === undefined ? contents.agents.map(({ claimedId }) => claimedId) : [],
    ),
  );
  const names = new Set(teams.flatMap(({ team, project }) => (project === undefined ? [team.name] : [])));
  const teamOf = (id: string): string => (id.includes("_") ? id.slice(0, id.indexOf("_")) : "");
  return {
    agent: (id: string): boolean => ids.has(id) || names.has(teamOf(id)),
    team: (name: string): boolean => names.has(name),
  };
}

async function filterAsync<Item>(items: readonly Item[], test: (item: Item) => Promise<boolean>): Promise<Set<Item>> {
  const results = await Promise.all(items.map(test));
  return new Set(items.filter((_, i) => results[i]));
}

function withoutAgents({ agents, problems }: FolderContents, refused: ReadonlySet<ParsedAgent>): FolderContents {
  if (refused.size === 0) return { agents, problems };
  const warnings = [...refused].map(({ path, claimedId }) => heldBack(path, `agent ${claimedId}`));
  return { agents: agents.filter((agent) => !refused.has(agent)), problems: [...problems, ...warnings] };
}

/** The team is left out, and the folder keeps one warning. */
function heldBackTeam({ team, project }: TeamContents): TeamContents {
  const problems = [heldBack(team.path, `team ${team.name}`)];
  return { team, agents: [], problems, isHeldBack: true, ...(project === undefined ? {} : { project }) };
}

/** The code of the warning for a file that counts only with trust. */
export const needsTrust = "needs-trust";

function heldBack(path: string, what: string): AgentProblem {
  return {
    ...{ path, line: 1, column: 1, severity: "warning", code: needsTrust },
    message: `this file would replace your own or the shipped ${what}; it is not used, because you have not trusted it`,
    fix: "troupe trust",
  };
}
