import {
  type Blobs,
  type Clock,
  type Journal,
  type Logger,
  type Policy,
  type Redactor,
  TroupeError,
} from "@troupe/core";
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
  type Tool,
} from "@troupe/tools";
import type { Cleanup } from "../cleanup.ts";
import { type Home, homeFiles } from "../home/home.ts";
import { toolFolders } from "./agents.ts";

export interface ProcessToolsOptions {
  home: Home;
  /** Home of the rules and of the user's own tools. */
  settings: Home;
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
  /** Tools of the program, beside the shipped ones. */
  tools: readonly Tool[];
}

/** What agents can do on this machine, as far as its owner lets them. */
export async function openTools(options: ProcessToolsOptions, cleanup: Cleanup) {
  const { home, settings, env, clock, logger, redact, journal, blobs, policy, sandbox, trust } = options;
  const files = homeFiles(home);
  const rules = await openApprovalRules({ file: homeFiles(settings).rules });
  // A workspace may have the home in it: what is there decides over agents, and is none of theirs.
  cleanup.add(await hideFolder(home.path));
  const shipped = createTools({ sandbox, journal, blobs, web: policy.web, memoryFolder: files.memory, env, clock });
  const tools = withProgramTools(shipped, options.tools);
  const custom = createCustomTools({
    packagesFrom: import.meta.url,
    folders: toolFolders(settings, env),
    trust,
    shipped: tools,
    onProblem: ({ message, path, fix }) => logger.warn({ path, fix }, `a tool is left out: ${message}`),
  });
  const host = createToolHost({ tools, custom, policy, rules, blobs, clock, redact });
  // Commands that were stopped with their sessions may take a moment to end.
  cleanup.add(() => host.idle());
  return { rules, tools: policy.cacheReads ? cacheReads({ host }) : host };
}

/** A tool of the program may not take the name of a shipped one. */
function withProgramTools(shipped: readonly Tool[], own: readonly Tool[]): Tool[] {
  const taken = new Set(shipped.map(({ spec }) => spec.name));
  for (const { spec } of own) {
    if (taken.has(spec.name)) {
      throw new TroupeError("USAGE", `the tool ${JSON.stringify(spec.name)} exists already`, {
        fix: "give the tool another name",
      });
    }
    taken.add(spec.name);
  }
  return [...shipped, ...own];
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
