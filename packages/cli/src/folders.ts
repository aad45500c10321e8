import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition, CompanySource } from "@troupe/core";
import { createCompanySource } from "@troupe/roles";
import type { Home } from "./home.ts";

/** Where a user's own tools are, for all workspaces. */
export function toolFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe", "tools"), join(home.path, "tools")];
}

export interface CompanySourceSettings {
  /** Agents that other hosts serve, as they are known now. */
  elsewhere?: () => readonly AgentDefinition[];
  /** A project whose agents count wherever a run comes from. */
  project?: string | undefined;
}

export function companySource(
  home: Home,
  env: NodeJS.ProcessEnv,
  { project, ...rest }: CompanySourceSettings = {},
): CompanySource {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createCompanySource({ userFolders, ...rest, ...(project === undefined ? {} : { projects: [project] }) });
}
