import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AgentDefinition } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { type AgentFolder, createAgentReader, type FolderContents } from "./agent-folder.ts";
import { assembleRegistry } from "./agent-registry.ts";
import { shippedAgentsFolder, workspaceFolders, workspaceTeams } from "./agent-source.ts";
import type { ParsedAgent } from "./parse-agent.ts";
import { isTeamFolder, type TeamValidation, type ValidationOptions, validateTeams } from "./validate-teams.ts";

export interface Validation {
  /** Usable agents of the given files. */
  agents: AgentDefinition[];
  problems: AgentProblem[];
}

/**
 * Lints agent files and folders. For a workspace it lints `.claude/agents`, `.troupe/agents` and the teams in
 * `.troupe/teams`. The folder of a team is linted as a team. The shipped agents, and the
 * other files in the folder of a given file, count as delegation targets but are not linted.
 *
 * @example
 * const { problems } = await validateAgents([".troupe/agents"]);
 * const broken = problems.some((problem) => problem.severity === "error");
 */
export async function validateAgents(paths: readonly string[], { tools }: ValidationOptions = {}): Promise<Validation> {
  const reader = createAgentReader();
  const missing: AgentProblem[] = [];
  const teamFolders: string[] = [];
  const given: FolderContents[] = [];
  const parentFolders = new Map<string, AgentFolder>();
  for (const path of new Set(paths.map((path) => resolve(path)))) {
    const stats = await stat(path).catch(() => null);
    if (stats?.isDirectory() && (await isTeamFolder(path))) teamFolders.push(path);
    else if (stats?.isDirectory()) {
      if (await isFolder(workspaceTeams(path).path)) teamFolders.push(workspaceTeams(path).path);
      given.push(...(await Promise.all((await foldersOf(path)).map(reader.readFolder))));
    } else {
      const agent = stats && (await reader.readFile(path, "project"));
      if (agent) given.push({ agents: [asAgent(agent)], problems: [] });
      else missing.push(notFound(path));
      parentFolders.set(dirname(path), { path: dirname(path), origin: "project" });
    }
  }
  const layer = combineToLayer(given);
  const shipped = await reader.readFolder({ path: shippedAgentsFolder, origin: "builtin" });
  const siblings = await Promise.all([...parentFolders.values()].map(reader.readFolder));
  const linted = new Set([...layer.agents.map(({ path }) => path), ...layer.problems.map(({ path }) => path)]);
  // The folder of a given file contains the file too. It must not count twice.
  const others = usableOf(siblings).agents.filter(({ path }) => !linted.has(path));
  const registry = assembleRegistry([usableOf([shipped]), { agents: others, problems: [] }, layer]);
  const problems = [...registry.problems, ...((tools && registry.toolProblems?.(tools)) ?? [])];
  const teams: TeamValidation = await validateTeams(teamFolders, tools ? { tools } : {});
  return {
    agents: [...registry.agents.filter(({ source }) => linted.has(source.path)), ...teams.agents],
    problems: [...missing, ...problems.filter(({ path }) => linted.has(path)), ...teams.problems],
  };
}

/** A file that is named on its own is meant as an agent, with front matter or without. */
function asAgent({ isNote: _, ...agent }: ParsedAgent): ParsedAgent {
  return agent;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

async function foldersOf(path: string): Promise<AgentFolder[]> {
  const folders = workspaceFolders(path);
  const existing = await Promise.all(folders.map((folder) => isFolder(folder.path)));
  const own = folders.filter((_folder, i) => existing[i]);
  return own.length > 0 || (await isFolder(workspaceTeams(path).path))
    ? own
    : [{ path, origin: "project", required: true }];
}

/** A file that is given twice, for example by its folder too, counts once. */
function combineToLayer(contents: readonly FolderContents[]): FolderContents {
  const byPath = new Map<string, ParsedAgent>();
  for (const { agents } of contents) for (const agent of agents) byPath.set(agent.path, agent);
  return { agents: [...byPath.values()], problems: contents.flatMap(({ problems }) => problems) };
}

function usableOf(contents: readonly FolderContents[]): FolderContents {
  return { agents: contents.flatMap(({ agents }) => agents.filter(({ definition }) => definition)), problems: [] };
}

function notFound(path: string): AgentProblem {
  return {
    path,
    line: 1,
    column: 1,
    severity: "error",
    code: "not-found",
    message: `${path} is not an agent file or a folder`,
    fix: "give a Markdown file, or a folder with Markdown files",
  };
}
