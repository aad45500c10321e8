import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { RunFailure } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import { linkSteps, type MachineView, privateHome, readMachineView, readStep } from "../mount-plan/machine-folders.ts";
import { orderSteps, type View, type ViewStep } from "../mount-plan/mount-plan.ts";
import { openWorkspace } from "../mount-plan/workspace-folders.ts";
import { couldNotStart } from "../processes/launch.ts";
import { keepNamespace } from "../processes/reaper.ts";
import type { MachineCaps } from "../processes/resource-limits.ts";
import { runCommand } from "../processes/run-command.ts";
import { joinWords, withGroup, withRemoved } from "../processes/with-group.ts";
import type { CommandResult, SandboxedCommand } from "../sandbox.ts";
import type { Enter } from "./namespace-launch.ts";

export interface ContainedOptions {
  enter: Enter;
  policy: SandboxPolicy;
  hidden: readonly string[];
  path: string;
  caps: MachineCaps;
}

/** Runs commands in worlds of their own, and tries whether that can be done here. */
export function createContainedRun({ enter, policy, hidden, path, caps }: ContainedOptions) {
  let machine: Promise<MachineView> | null = null;
  const machineView = (): Promise<MachineView> => {
    machine ??= readMachineView({ path, hidden, readable: policy.readable, network: policy.network });
    return machine;
  };
  const runIn = (view: View, command: SandboxedCommand): Promise<CommandResult> =>
    withGroup(caps, (group) => {
      const { argv, ...rest } = enter(view, command.argv);
      const launch = { ...rest, argv: [...joinWords(group), ...argv], cwd: "/" };
      return runCommand(launch, { ...command, keeperOf: ({ pid, firstPid }) => keepNamespace(pid, firstPid) });
    });

  async function run(command: SandboxedCommand): Promise<CommandResult> {
    const root = await rootOf(command.workspace);
    const workspace = await openWorkspace(root, command.writes);
    let removed: string[] = [];
    let end: CommandResult;
    try {
      end = await runIn(await viewOf(command, root, workspace.steps), command);
    } finally {
      removed = await workspace.close();
    }
    return withRemoved(end, removed);
  }

  async function viewOf(command: SandboxedCommand, root: string, workspace: readonly ViewStep[]): Promise<View> {
    const { steps, env } = await machineView();
    const readable = await Promise.all((command.readable ?? []).map(readStep));
    const links = await Promise.all([command.workspace, ...(command.readable ?? [])].map(linkSteps));
    const shown = readable.filter((step) => step !== null);
    return {
      steps: orderSteps([...links.flat(), ...steps, ...shown, ...workspace]),
      folder: join(root, command.folder ?? "."),
      env: { ...cleanEnvironment(env.PATH ?? ""), ...env, ...command.env },
    };
  }

  /** Null where a command runs, else why none does. */
  async function probe(): Promise<string | null> {
    const { steps, env } = await machineView();
    const view = { steps: orderSteps(steps), folder: "/", env };
    const command = { argv: ["true"], workspace: "/", writes: [[]], timeoutMs: probeMs, captureBytesMax: 2_000 };
    try {
      const end = await runIn(view, { ...command, signal: new AbortController().signal });
      return end.code === 0 ? null : `it does not work here: ${lastLine(end.output)}`;
    } catch (error) {
      return `it does not work here: ${lastLine(error instanceof Error ? error.message : String(error))}`;
    }
  }

  return { run, probe };
}

/** A machine that is busy takes its time; one that cannot says so at once. */
const probeMs = 20_000;

/** What every command has in its environment, and nothing of this process's own. */
export function cleanEnvironment(path: string): Record<string, string> {
  return { PATH: path, HOME: privateHome, TMPDIR: "/tmp", LANG: process.env.LANG ?? "C.UTF-8", TERM: "dumb" };
}

/** A workspace without a link on the way to it. */
export async function rootOf(workspace: string): Promise<string> {
  const root = await realpath(workspace).catch((error) => {
    throw couldNotStart(`${workspace}: ${error.code ?? error}`, error);
  });
  if (root !== "/") return root;
  throw new RunFailure({
    type: "permission",
    message: "the whole file system is no workspace for a sandbox; take a folder",
    recoverable: false,
  });
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
