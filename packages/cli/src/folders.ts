import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition, CompanySource } from "@troupe/core";
import { createCompanySource } from "@troupe/roles";
import type { Home } from "./home.ts";

/** Where a user's own tools are, for all workspaces. */
export function toolFolders(home: Home, env: NodeJS.ProcessEnv): string[] {
  return [join(env.HOME || homedir(), ".troupe", "tools"), join(home.path, "tools")];
}

/** @param elsewhere agents that other hosts serve, as they are known now */
export function companySource(
  home: Home,
  env: NodeJS.ProcessEnv,
  elsewhere?: () => readonly AgentDefinition[],
): CompanySource {
  const userFolders = [join(env.HOME || homedir(), ".troupe", "agents"), join(home.path, "agents")];
  return createCompanySource({ userFolders, ...(elsewhere ? { elsewhere } : {}) });
}
