import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentDefinition, AgentSource } from "@troupe/core";
import { type AgentFolder, createAgentReader } from "./agent-folder.ts";
import { assembleRegistry, layerOf } from "./agent-registry.ts";

/** Where the agents that come with this package are. The same from `src` and from `dist`. */
export const shippedAgentsFolder = fileURLToPath(new URL("../agents/", import.meta.url));

export interface AgentSourceOptions {
  /**
   * Whether the agents that come with this package belong to the company.
   *
   * @default true
   */
  builtin?: boolean;
  /** Folders of the user's own agents, for all workspaces. Later ones win. One that does not exist is passed over. */
  userFolders: readonly string[];
  /** Projects whose agents count for all workspaces. Later ones win, over the user's own too. */
  projects?: readonly string[];
  /** Further folders of agents, which win over all others. One that does not exist is a problem of the registry. */
  folders?: readonly string[];
  /** Agents given as objects. They win over files. */
  definitions?: readonly AgentDefinition[];
  /** Agents that other hosts serve, looked up at every load: they count where no file here is about them. */
  elsewhere?: () => readonly AgentDefinition[];
}

/**
 * Loads who can be asked. Later sources win over earlier ones, by id: shipped agents, the user's folders, the
 * workspace's `.claude/agents`, its `.troupe/agents`. Loading again reads only files that have changed.
 *
 * @example
 * const source = createAgentSource({ userFolders: ["/home/me/.troupe/agents"] });
 * const company = await source.load("/home/me/project");
 * for (const agent of company.agents) process.stdout.write(`${agent.id}: ${agent.description}\n`);
 */
export function createAgentSource(options: AgentSourceOptions): AgentSource {
  const { builtin = true, userFolders, projects = [], definitions = [], elsewhere = () => [] } = options;
  const reader = createAgentReader();
  const common: AgentFolder[] = userFolders.map((path) => ({ path: resolve(path), origin: "user" }));
  common.push(...projects.flatMap((project) => workspaceFolders(resolve(project))));
  const given: AgentFolder[] = (options.folders ?? []).map((path) => ({
    path: resolve(path),
    origin: "user",
    required: true,
  }));
  if (builtin) common.unshift({ path: shippedAgentsFolder, origin: "builtin", required: true });

  return {
    async load(workspace) {
      const own = workspace === null ? [] : workspaceFolders(resolve(workspace));
      // In the user's home folder both name the same place: the workspace's view of it counts.
      const taken = new Set(own.map(({ path }) => path));
      const folders = [...common.filter(({ path }) => !taken.has(path)), ...own, ...given];
      const layers = await Promise.all(folders.map((folder) => reader.readFolder(folder)));
      return assembleRegistry([...layers, layerOf(definitions)], elsewhere());
    },
  };
}

/** The folders of a workspace that hold agents, the one that wins last. */
export function workspaceFolders(workspace: string): AgentFolder[] {
  return [
    { path: join(workspace, ".claude", "agents"), origin: "claude", within: workspace },
    { path: join(workspace, ".troupe", "agents"), origin: "project", within: workspace },
  ];
}
