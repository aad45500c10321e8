import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { RunFailure } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import {
  linkSteps,
  type MachineFolders,
  planMachineFolders,
  privateHome,
  readStep,
} from "../mount-plan/machine-folders.ts";
import { type MountPlan, type MountStep, orderSteps } from "../mount-plan/mount-steps.ts";
import { prepareWorkspace } from "../mount-plan/workspace-folders.ts";
import { withRestored } from "../processes/command-output.ts";
import { joinArguments, withControlGroup } from "../processes/control-group.ts";
import { couldNotStart, type Launch } from "../processes/launch.ts";
import { createNamespaceReaper } from "../processes/reaper.ts";
import type { ResourceLimits } from "../processes/resource-limits.ts";
import { runCommand } from "../processes/run-command.ts";
import type { CommandResult, SandboxedCommand } from "../sandbox.ts";

/** Renders a plan and a command into the arguments, environment and setup of the program that builds the sandbox. */
export type RenderLaunch = (plan: MountPlan, argv: readonly string[]) => Pick<Launch, "argv" | "env" | "setup">;

export interface NamespaceRunOptions {
  renderLaunch: RenderLaunch;
  policy: SandboxPolicy;
  hidden: readonly string[];
  path: string;
  limits: ResourceLimits;
}

/** Runs each command in namespaces of its own. `probe` tests whether the machine can do it. */
export function createNamespaceRun({ renderLaunch, policy, hidden, path, limits }: NamespaceRunOptions) {
  let machine: Promise<MachineFolders> | null = null;
  const machineFolders = (): Promise<MachineFolders> => {
    machine ??= planMachineFolders({ path, hidden, readable: policy.readable, network: policy.network });
    return machine;
  };
  const runPlan = (plan: MountPlan, command: SandboxedCommand): Promise<CommandResult> =>
    withControlGroup(limits, (group) => {
      const { argv, ...rest } = renderLaunch(plan, command.argv);
      const launch = { ...rest, argv: [...joinArguments(group), ...argv], cwd: "/" };
      const createReaper = ({ pid, firstPid }: { pid: number; firstPid: Promise<string | null> }) =>
        createNamespaceReaper(pid, firstPid);
      return runCommand(launch, { ...command, createReaper });
    });

  async function run(command: SandboxedCommand): Promise<CommandResult> {
    const root = await workspaceRoot(command.workspace);
    const workspace = await prepareWorkspace(root, command.writes);
    let restored: string[] = [];
    let result: CommandResult;
    try {
      result = await runPlan(await planFor(command, root, workspace.steps), command);
    } finally {
      restored = await workspace.close();
    }
    return withRestored(result, restored);
  }

  async function planFor(command: SandboxedCommand, root: string, workspace: readonly MountStep[]): Promise<MountPlan> {
    const { steps, env } = await machineFolders();
    const readable = await Promise.all((command.readable ?? []).map(readStep));
    const links = await Promise.all([command.workspace, ...(command.readable ?? [])].map(linkSteps));
    const shown = readable.filter((step) => step !== null);
    return {
      steps: orderSteps([...links.flat(), ...steps, ...shown, ...workspace]),
      folder: join(root, command.folder ?? "."),
      env: { ...cleanEnvironment(env.PATH ?? ""), ...env, ...command.env },
    };
  }

  /** Null if a test command runs, else the reason why it does not. */
  async function probe(): Promise<string | null> {
    const { steps, env } = await machineFolders();
    const plan = { steps: orderSteps(steps), folder: "/", env };
    const command = { argv: ["true"], workspace: "/", writes: [[]], timeoutMs: probeMs, captureBytesMax: 2_000 };
    try {
      const result = await runPlan(plan, { ...command, signal: new AbortController().signal });
      return result.code === 0 ? null : `it does not work here: ${lastLine(result.output)}`;
    } catch (error) {
      return `it does not work here: ${lastLine(error instanceof Error ? error.message : String(error))}`;
    }
  }

  return { run, probe };
}

/** Long, because a busy machine is slow. A machine that cannot run it fails at once. */
const probeMs = 20_000;

/** The environment of every command: it contains no variable of this process except LANG. */
export function cleanEnvironment(path: string): Record<string, string> {
  return { PATH: path, HOME: privateHome, TMPDIR: "/tmp", LANG: process.env.LANG ?? "C.UTF-8", TERM: "dumb" };
}

/** Real path of a workspace. Throws a `RunFailure` if it does not exist or is the whole file system. */
export async function workspaceRoot(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch((error) => {
    throw couldNotStart(`${workspace}: ${error.code ?? error}`, error);
  });
  if (root !== "/") return root;
  throw new RunFailure({
    type: "permission",
    message: "the whole file system cannot be the workspace of a sandbox; choose a folder",
    recoverable: false,
  });
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
