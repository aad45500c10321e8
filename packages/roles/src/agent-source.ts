import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentDefinition, AgentRegistry, AgentSource } from "@troupe/core";
import { type AgentFolder, createAgentReader } from "./agent-folder.ts";
import { assembleRegistry, layerOf } from "./agent-registry.ts";
import { type AgentFile, type ParsedAgent, parseAgent } from "./parse-agent.ts";
import { type AcceptedFiles, type Definitions, holdBackReplacements } from "./replacements.ts";
import { createTeamReader } from "./team-folder.ts";

/** Folder of the agents that this package ships. The path is the same from `src` and from `dist`. */
export const shippedAgentsFolder = fileURLToPath(new URL("../agents/", import.meta.url));

/** Folder of the teams that this package ships. */
export const shippedTeamsFolder = fileURLToPath(new URL("../teams/", import.meta.url));

export interface AgentSourceOptions {
  /**
   * Includes the agents that this package ships.
   *
   * @default true
   */
  builtin?: boolean;
  /** Folders of the user's agents, for all workspaces. Later folders win. A missing folder is ignored. */
  userFolders: readonly string[];
  /** Projects whose agents count for all workspaces. Later projects win, also over the user's folders. */
  projects?: readonly string[];
  /** More folders of agents. They win over all other folders. A missing folder is a problem of the registry. */
  folders?: readonly string[];
  /** Folders of the user's teams, for all workspaces. Later folders win. @default none */
  userTeamFolders?: readonly string[];
  /** More folders, each of one team. They win over all other teams. */
  teamFolders?: readonly string[];
  /** Agents given as objects. They win over files. */
  definitions?: readonly AgentDefinition[];
  /**
   * The files of a project that the user accepted. Others cannot replace a shipped or a user's agent or team.
   *
   * @default none
   */
  acceptedFiles?: AcceptedFiles;
  /** Agents of other hosts, read at every load. They count if no local file has their id. */
  remoteAgents?: () => readonly AgentDefinition[];
}

/** The agents of a workspace with the files that they come from. */
export interface LoadedAgents {
  registry: AgentRegistry;
  /** All agent files that belong to no team, also broken and shadowed ones. A later file wins. */
  files: readonly ParsedAgent[];
  /** The same agents with a draft in place of the file at its path, or beside the files of its folder. */
  withDraft(draft: Omit<AgentFile, "origin">): LoadedAgents;
}

/** A source that also gives the files, and can tell what a file would change before it is saved. */
export interface AgentFileSource extends AgentSource {
  loadFiles(workspace: string | null): Promise<LoadedAgents>;
}

/**
 * Loads the agents of a workspace. Later sources win by id: the shipped agents, the user's folders, the workspace's
 * `.claude/agents`, its `.troupe/agents`, `folders`, `definitions`. A second load reads only changed files.
 *
 * @example
 * const source = createAgentSource({ userFolders: ["/home/me/.troupe/agents"] });
 * const registry = await source.load("/home/me/project");
 * for (const agent of registry.agents) process.stdout.write(`${agent.id}: ${agent.description}\n`);
 */
export function createAgentSource(options: AgentSourceOptions): AgentFileSource {
  const { builtin = true, userFolders, projects = [], definitions = [], remoteAgents = () => [] } = options;
  const { userTeamFolders = [], teamFolders = [], acceptedFiles = async () => new Map<string, string>() } = options;
  const reader = createAgentReader();
  const teamReader = createTeamReader(reader);
  const common: AgentFolder[] = userFolders.map((path) => ({ path: resolve(path), origin: "user" }));
  common.push(...projects.flatMap((project) => workspaceFolders(resolve(project))));
  const extra: AgentFolder[] = (options.folders ?? []).map((path) => ({
    path: resolve(path),
    origin: "user",
    required: true,
  }));
  /** In the user's home, the folders of a workspace are the user's own. */
  const usersPaths = new Set([...userFolders, ...userTeamFolders].map((path) => resolve(path)));
  const asUsers = ({ within, ...folder }: AgentFolder): AgentFolder =>
    usersPaths.has(folder.path) || within === undefined ? folder : { ...folder, within };
  if (builtin) common.unshift({ path: shippedAgentsFolder, origin: "builtin", required: true });

  const loadFiles: AgentFileSource["loadFiles"] = async (workspace) => {
    const own = workspace === null ? [] : workspaceFolders(resolve(workspace));
    // In the user's home folder a user folder can also be a workspace folder. It is read once, as a workspace folder.
    const ownPaths = new Set(own.map(({ path }) => path));
    const folders = [...common.filter(({ path }) => !ownPaths.has(path)), ...own.map(asUsers), ...extra];
    const layers = await Promise.all(
      folders.map(async (folder) => ({ folder, contents: await reader.readFolder(folder) })),
    );
    const ofTeams: AgentFolder[] = [
      ...(builtin ? [{ path: shippedTeamsFolder, origin: "builtin" as const }] : []),
      ...userTeamFolders.map((path) => ({ path: resolve(path), origin: "user" as const })),
      ...[...projects, ...(workspace === null ? [] : [workspace])]
        .map((project) => workspaceTeams(resolve(project)))
        .filter(({ path }) => !usersPaths.has(path)),
    ];
    const teams = (await Promise.all(ofTeams.map((folder) => teamReader.readTeams(folder)))).flat();
    const single = await Promise.all(
      teamFolders.map((path) => teamReader.readTeam({ path: resolve(path), origin: "user" })),
    );
    const used = await holdBackReplacements({ layers, teams }, acceptedFiles);
    const all = [...used.teams, ...single.filter((team) => team !== null)];
    const others = remoteAgents();
    const assemble = (layers: Layers): LoadedAgents => {
      const contents = layers.map((layer) => layer.contents);
      return {
        registry: assembleRegistry([...contents, layerOf(definitions)], others, all),
        files: contents.flatMap(({ agents }) => agents),
        withDraft: (draft) => assemble(addDraft(layers, draft)),
      };
    };
    return assemble(used.layers);
  };
  return { loadFiles, load: async (workspace) => (await loadFiles(workspace)).registry };
}

type Layers = Definitions["layers"];

/** Puts a draft into the layer of the folder that contains its path. A person writes it, so it may replace an agent. */
function addDraft(layers: Layers, { path, text }: Omit<AgentFile, "origin">): Layers {
  return layers.map((layer) => {
    const { folder, contents } = layer;
    if (!path.startsWith(`${folder.path}${sep}`)) return layer;
    const others = contents.agents.filter((agent) => agent.path !== path);
    const agents = [...others, parseAgent({ path, origin: folder.origin, text })];
    return { folder, contents: { ...contents, agents: agents.sort((a, b) => (a.path < b.path ? -1 : 1)) } };
  });
}

/** The folder of a workspace's teams. */
export function workspaceTeams(workspace: string): AgentFolder {
  return { path: join(workspace, ".troupe", "teams"), origin: "project", within: workspace };
}

/** The agent folders of a workspace. The last one wins. */
export function workspaceFolders(workspace: string): AgentFolder[] {
  return [
    { path: join(workspace, ".claude", "agents"), origin: "claude", within: workspace },
    { path: join(workspace, ".troupe", "agents"), origin: "project", within: workspace },
  ];
}
