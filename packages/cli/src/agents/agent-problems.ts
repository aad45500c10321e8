import type { AgentDefinition, AgentRegistry, ToolSpec } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { modelProblems as problemsOfModels } from "troupe/internal";
import type { Cli } from "../cli.ts";

/** The problems of all files, with those of tools and models that this machine does not have. */
export async function allProblems(
  cli: Cli,
  registry: AgentRegistry,
  specs: readonly ToolSpec[],
): Promise<AgentProblem[]> {
  const ofModels = await modelProblems(cli, registry.agents).catch(() => []);
  return [...registry.problems, ...(registry.toolProblems?.(specs) ?? []), ...ofModels];
}

/** A warning for each agent that names a model that this folder's configuration does not know. */
export async function modelProblems(
  { composition, home, env, cwd }: Cli,
  agents: readonly AgentDefinition[],
): Promise<AgentProblem[]> {
  return await problemsOfModels(agents, await composition.readConfig({ home, env, cwd, workspace: cwd }));
}
