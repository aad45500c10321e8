import type { Blobs, Clock, Journal, Logger, Policy, Redactor } from "@troupe/core";
import {
  cacheReads,
  createCustomTools,
  createSandbox,
  createToolHost,
  createTools,
  hideFolder,
  openApprovalRules,
  type ProjectTrust,
  type Sandbox,
} from "@troupe/tools";
import { type Home, homeFiles } from "../home/home.ts";
import { toolFolders } from "./agent-folders.ts";

export interface ProcessToolsOptions {
  home: Home;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  logger: Logger;
  redact: Redactor;
  journal: Journal;
  blobs: Blobs;
  policy: Policy;
  sandbox: Sandbox;
  /** Says whose tools count beside the user's own. */
  trust: Pick<ProjectTrust, "inspect">;
}

/** What agents can do on this machine, as far as its owner lets them. */
export async function openTools(options: ProcessToolsOptions, undo: (() => unknown)[]) {
  const { home, env, clock, logger, redact, journal, blobs, policy, sandbox, trust } = options;
  const files = homeFiles(home);
  const rules = await openApprovalRules({ file: files.rules });
  // A workspace may have the home in it: what is there decides over agents, and is none of theirs.
  undo.push(await hideFolder(home.path));
  const tools = createTools({ sandbox, journal, blobs, web: policy.web, memoryFolder: files.memory, env, clock });
  const custom = createCustomTools({
    packagesFrom: import.meta.url,
    folders: toolFolders(home, env),
    trust,
    shipped: tools,
    onProblem: ({ message, path, fix }) => logger.warn({ path, fix }, `a tool is left out: ${message}`),
  });
  const host = createToolHost({ tools, custom, policy, rules, blobs, clock, redact });
  // Commands that were stopped with their sessions may take a moment to end.
  undo.push(() => host.idle());
  return { rules, tools: policy.cacheReads ? cacheReads({ host }) : host };
}

/** Where commands of agents are run. One that nothing is run in is not tried out. */
export function openSandbox({
  home,
  policy,
  isUsed,
}: {
  home: Home;
  policy: Policy;
  isUsed: boolean;
}): Promise<Sandbox> {
  const mode = isUsed ? policy.sandbox.mode : "off";
  return createSandbox({ policy: { ...policy.sandbox, mode }, hidden: [home.path] });
}
