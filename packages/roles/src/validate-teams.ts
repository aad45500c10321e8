import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { AgentDefinition, ToolSpec } from "@troupe/core";
import type { AgentProblem, TeamSummary } from "@troupe/core/internal";
import { type AgentFolder, createAgentReader, type FolderContents } from "./agent-folder.ts";
import { assembleRegistry } from "./agent-registry.ts";
import { shippedAgentsFolder, shippedTeamsFolder, workspaceFolders, workspaceTeams } from "./agent-source.ts";
import { createTeamReader, type TeamContents, type TeamReader, teamFileName } from "./team-folder.ts";

export interface ValidationOptions {
  /** The tools of this machine. Without them, names of tools are not checked. */
  tools?: readonly ToolSpec[];
}

export interface TeamValidation {
  /** Usable teams of the given folders. */
  teams: TeamSummary[];
  /** Their agents. */
  agents: AgentDefinition[];
  problems: AgentProblem[];
}

/**
 * Lints teams. A path is the folder of a team, its `team.yaml`, a folder of teams, or a project with `.troupe/teams`. The
 * shipped agents and teams, and those of the same project, count as targets but are not linted.
 *
 * @example
 * const { problems } = await validateTeams([".troupe/teams/report"]);
 * const isBroken = problems.some(({ severity }) => severity === "error");
 */
export async function validateTeams(
  paths: readonly string[],
  { tools }: ValidationOptions = {},
): Promise<TeamValidation> {
  const reader = createAgentReader();
  const teamReader = createTeamReader(reader);
  const given = new Map<string, TeamContents>();
  const problems: AgentProblem[] = [];
  for (const path of new Set(paths.map((each) => resolve(each)))) {
    const found = await teamsAt(teamReader, path);
    if (found === null) problems.push(notFound(path));
    for (const team of found ?? []) given.set(team.team.path, team);
  }
  const readFolders = (folders: readonly AgentFolder[]) =>
    Promise.all(folders.map(async (folder) => usableOf(await reader.readFolder(folder))));
  const shippedTeams = await teamReader.readTeams({ path: shippedTeamsFolder, origin: "builtin" });
  const validation: TeamValidation = { teams: [], agents: [], problems };
  for (const each of given.values()) {
    const folder = dirname(each.team.path);
    const project = projectOf(folder);
    const layers = await readFolders([
      { path: shippedAgentsFolder, origin: "builtin" },
      ...(project === null ? [] : workspaceFolders(project)),
    ]);
    const siblings = project === null ? [] : await teamReader.readTeams(workspaceTeams(project));
    const others = [...shippedTeams, ...siblings, ...given.values()].filter(({ team }) => team.name !== each.team.name);
    const registry = assembleRegistry(layers, [], [...others, each]);
    validation.teams.push(...(registry.teams ?? []).filter(({ path }) => path === each.team.path));
    validation.agents.push(...registry.agents.filter(({ team }) => team === each.team.name));
    const all = [...registry.problems, ...((tools && registry.toolProblems?.(tools)) ?? [])];
    validation.problems.push(...all.filter(({ path }) => path.startsWith(folder + sep)));
  }
  return validation;
}

/** Whether a folder is a team: it has a `team.yaml`. */
export async function isTeamFolder(path: string): Promise<boolean> {
  return (await stat(join(path, teamFileName)).catch(() => null))?.isFile() ?? false;
}

/** The teams at a path. Null if it has none, unless it is a project or a folder of teams that can be empty. */
async function teamsAt(reader: TeamReader, path: string): Promise<TeamContents[] | null> {
  const stats = await stat(path).catch(() => null);
  if (!stats) return null;
  if (!stats.isDirectory()) {
    const team = basename(path) === teamFileName && (await reader.readTeam(folderAt(dirname(path))));
    return team ? [team] : null;
  }
  const team = await reader.readTeam(folderAt(path));
  if (team) return [team];
  const project = workspaceTeams(path);
  const isProject = (await stat(project.path).catch(() => null))?.isDirectory() ?? false;
  const teams = await reader.readTeams(isProject ? project : folderAt(path));
  return teams.length > 0 || isProject || basename(path) === "teams" ? teams : null;
}

function folderAt(path: string): AgentFolder {
  return { path, origin: "project" };
}

/** The project whose `.troupe/teams` has this team; null if it is elsewhere. */
function projectOf(folder: string): string | null {
  const end = join(".troupe", "teams");
  const teams = dirname(folder);
  return teams.endsWith(sep + end) ? teams.slice(0, -end.length - 1) || sep : null;
}

function usableOf({ agents }: FolderContents): FolderContents {
  return { agents: agents.filter(({ definition }) => definition), problems: [] };
}

function notFound(path: string): AgentProblem {
  return {
    ...{ path, line: 1, column: 1, severity: "error", code: "not-found" },
    message: `${path} has no team`,
    fix: `give the folder of a team, which has a ${teamFileName}`,
  };
}
