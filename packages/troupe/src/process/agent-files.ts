import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Policy, ToolHost } from "@troupe/core";
import type { AgentFiles } from "@troupe/core/internal";
import { tierNames } from "@troupe/models";
import { type AgentFileSource, createAgentFiles } from "@troupe/roles";
import type { ProjectTrust } from "@troupe/tools";
import { diffTexts } from "@troupe/tools/internal";
import type { ConfigSource } from "../config/config.ts";
import { modelProblems } from "../models/model-problems.ts";
import type { ProcessTrust } from "./trust-notices.ts";

export interface ProcessAgentFilesOptions {
  source: AgentFileSource;
  userFolders: readonly string[];
  tools: ToolHost;
  policy: Pick<Policy, "layer">;
  trust: ProcessTrust;
  now(): number;
  /** Null: models are not checked. */
  config: ConfigSource | null;
}

/** The largest diff that the editor shows in full: a file can be new. */
const diffBytesMax = 512 * 1024;

/** The agent files that the page can change: those of the user, and those of projects that the user trusts. */
export function createProcessAgentFiles(options: ProcessAgentFilesOptions): AgentFiles {
  const { source, userFolders, tools, policy, trust, config, now } = options;
  return createAgentFiles({
    source,
    userFolders,
    policy: policy.layer,
    async specs(workspace) {
      await tools.prepare?.(workspace);
      return tools.specs(workspace);
    },
    async models(workspace) {
      const found = await config?.at(workspace).catch(() => null);
      const named = found ? [...Object.keys(found.aliases), ...Object.keys(found.models)] : [];
      return [...new Set(["inherit", ...tierNames, ...named])];
    },
    async modelProblems(agents, workspace) {
      const found = await config?.at(workspace).catch(() => null);
      return found ? await modelProblems(agents, found) : [];
    },
    projectReason: (workspace) => projectReason(workspace, trust),
    async accept(workspace, path) {
      await trust.acceptDefinitions(workspace, path, { at: new Date(now()).toISOString(), by: "the page" });
    },
    diff: (before, after) => diffTexts(before, after, diffBytesMax),
  });
}

/** Why the agent files of a project may not be changed. A project without files that need trust has nothing to decide. */
async function projectReason(workspace: string, trust: Pick<ProjectTrust, "inspect">): Promise<string | null> {
  const stats = isAbsolute(workspace) ? await stat(workspace).catch(() => null) : null;
  if (!stats?.isDirectory()) return `${workspace} is not a folder`;
  const { status } = await trust.inspect(workspace);
  if (status === "trusted" || status === "nothing") return null;
  return `the project is not trusted; trust it first: troupe trust ${workspace}`;
}
