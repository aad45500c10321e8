import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition, AgentSource } from "@troupe/core";
import { createAgentSource } from "@troupe/roles";
import type { Home } from "../home/home.ts";

/** Where a user's own tools are, for all workspaces. */
export function toolFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe", "tools"), join(home.path, "tools")];
}

export interface AgentSourceSettings {
  /** Agents that other hosts serve, as they are known now. */
  elsewhere?: () => readonly AgentDefinition[];
  /** A project whose agents count wherever a run comes from. */
  project?: string | undefined;
  /** Folders of agents that win over all others. */
  folders?: readonly string[];
  /** Agents given as objects. */
  definitions?: readonly AgentDefinition[];
}

export function agentSourceOf(
  home: Home,
  env: NodeJS.ProcessEnv,
  { project, ...rest }: AgentSourceSettings = {},
): AgentSource {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createAgentSource({ userFolders, ...rest, ...(project === undefined ? {} : { projects: [project] }) });
}
