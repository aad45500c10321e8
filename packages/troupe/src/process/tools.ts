import {
  type Blobs,
  type Clock,
  type Journal,
  type Logger,
  type Policy,
  type Redactor,
  type ToolSpec,
  TroupeError,
} from "@troupe/core";
import {
  cacheReads,
  createCustomTools,
  createProjectTrust,
  createSandbox,
  createToolHost,
  createTools,
  describedTools,
  hideFolder,
  limitDisk,
  openApprovalRules,
  type ProjectTrust,
  type Sandbox,
  type SessionUsage,
  type Tool,
} from "@troupe/tools";
import type { Cleanup } from "../cleanup.ts";
import { type Home, homeFiles } from "../home/home.ts";
import { describedOfficeTools, type OfficeParts } from "../office/office-parts.ts";
import { toolFolders } from "./agents.ts";

export interface ProcessToolsOptions {
  home: Home;
  /** Home of the approval rules and of the user's tools. */
  settings: Home;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  logger: Logger;
  redact: Redactor;
  journal: Journal;
  blobs: Blobs;
  policy: Policy;
  sandbox: Sandbox;
  usage: SessionUsage;
  /** Decides whether the tools of a project are used. */
  trust: Pick<ProjectTrust, "inspect">;
  /** Tools of the program, beside the shipped ones. */
  tools: readonly Tool[];
  office: Pick<OfficeParts, "tools" | "withTools">;
}

/** Opens the tool host of this machine, under its policy and approval rules. */
export async function openTools(options: ProcessToolsOptions, cleanup: Cleanup) {
  const { home, settings, env, clock, logger, redact, journal, blobs, policy, sandbox, usage, trust, office } = options;
  const files = homeFiles(home);
  const rules = await openApprovalRules({ file: homeFiles(settings).rules });
  // A workspace can contain the home. Agents must not see it: its files decide what they may do.
  cleanup.add(await hideFolder(home.path));
  const shipped = createTools({ sandbox, journal, blobs, web: policy.web, memoryFolder: files.memory, env, clock });
  const tools = withProgramTools([...shipped, ...office.tools], options.tools);
  const custom = createCustomTools({
    packagesFrom: import.meta.url,
    folders: toolFolders(settings, env),
    trust,
    shipped: tools,
    onProblem: ({ message, path, fix }) => logger.warn({ path, fix }, `a tool is ignored: ${message}`),
  });
  const host = createToolHost({ tools, custom, policy, rules, journal, blobs, clock, redact, usage });
  // Commands of stopped sessions can take a moment to exit.
  cleanup.add(() => host.idle());
  return { rules, tools: office.withTools(policy.cacheReads ? cacheReads({ host }) : host) };
}

/**
 * The specs of the tools of this machine and of a folder, without a host: the shipped ones, and those of the user and of a
 * trusted project.
 */
export async function readToolSpecs({ home, workspace, env }: ToolSpecsOptions): Promise<ToolSpec[]> {
  const shipped = [...describedTools(), ...describedOfficeTools()];
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const custom = createCustomTools({ packagesFrom: import.meta.url, folders: toolFolders(home, env), trust, shipped });
  await custom.refresh(workspace);
  return [...shipped, ...custom.of(workspace)].map(({ spec }) => spec);
}

export interface ToolSpecsOptions {
  home: Home;
  /** Null: only the tools for every workspace. */
  workspace: string | null;
  env: NodeJS.ProcessEnv;
}

/** Throws `USAGE` if a tool of the program has the name of another tool. */
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

/** Creates the sandbox for agents' commands. An unused sandbox is off, so that its self-test does not run. */
export async function openSandbox({
  home,
  policy,
  isUsed,
  usage,
}: {
  home: Home;
  policy: Policy;
  isUsed: boolean;
  /** Charges commands to their sessions. Null: none runs. */
  usage: SessionUsage | null;
}): Promise<Sandbox> {
  const mode = isUsed ? policy.sandbox.mode : "off";
  const sandbox = await createSandbox({
    policy: { ...policy.sandbox, mode },
    hidden: [home.path],
    removedFolder: homeFiles(home).removed,
    fileBytesMax: usage?.bytesMax,
  });
  return usage === null ? sandbox : limitDisk(sandbox, { freeMb: policy.disk?.freeMb ?? null, usage });
}
