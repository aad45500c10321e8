import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RunFailure } from "@troupe/core";
import type { SandboxPolicy } from "@troupe/core/internal";
import { realPathOf, secretsIn } from "../../workspace/secret-paths.ts";
import { isWithin } from "../../workspace/workspace-path.ts";
import {
  type HeldWorkspace,
  holdOutside,
  holdWorkspace,
  releaseSteps,
  WorkspaceChangedError,
} from "../mount-plan/held-workspace.ts";
import {
  linkSteps,
  type MachineFolders,
  planMachineFolders,
  privateHome,
  readStep,
} from "../mount-plan/machine-folders.ts";
import { type HiddenStep, hideAll, type MountPlan, type MountStep, orderSteps } from "../mount-plan/mount-steps.ts";
import { createSavedFolder } from "../mount-plan/saved-folder.ts";
import { prepareWorkspace } from "../mount-plan/workspace-folders.ts";
import { withRestored } from "../processes/command-output.ts";
import { type ControlGroup, withControlGroup } from "../processes/control-group.ts";
import { couldNotStart, type Launch } from "../processes/launch.ts";
import { createNamespaceReaper } from "../processes/reaper.ts";
import type { ResourceLimits } from "../processes/resource-limits.ts";
import { runCommand, SandboxFailedError } from "../processes/run-command.ts";
import type { CommandResult, SandboxedCommand } from "../sandbox.ts";
import { hasExchangeableMount, registerCommand } from "./running-commands.ts";
import { verifySandbox } from "./verify-sandbox.ts";

/** Renders a plan and a command into the arguments, environment and setup of the program that builds the sandbox. */
export type RenderLaunch = (
  plan: MountPlan,
  argv: readonly string[],
  group: ControlGroup | null,
) => Pick<Launch, "argv" | "env" | "setup" | "descriptors" | "filter">;

export interface NamespaceRunOptions {
  renderLaunch: RenderLaunch;
  /**
   * Renders the commands for which another running command can exchange a mount point. Null if no other program works.
   *
   * @default `renderLaunch`
   */
  renderExchangeable?: () => Promise<RenderLaunch | null>;
  policy: SandboxPolicy;
  hidden: readonly string[];
  /** The machine's settings, of which commands see an allow-list. */
  etc: string;
  path: string;
  /** Keeps the files that a clean-up takes out of a workspace. Null: they are removed. */
  removedFolder: string | null;
  limits: ResourceLimits;
}

/** A plan, and whether what it was made from has changed since. */
interface CheckedPlan {
  plan: MountPlan;
  checkPlan(): string | null;
}

/** Runs each command in namespaces of its own. `probe` tests whether the machine can do it. */
export function createNamespaceRun(options: NamespaceRunOptions) {
  const { renderLaunch, renderExchangeable, policy, hidden, etc, path, removedFolder, limits } = options;
  let machine: MachineFolders | null = null;
  const machineFolders = (): MachineFolders => {
    machine ??= planMachineFolders({ path, hidden, etc, readable: policy.readable, network: policy.network });
    return machine;
  };
  const secretsSeen = new Map<string, readonly HiddenStep[]>();
  const secretsOf = (root: string): readonly HiddenStep[] => {
    const secrets = secretsSeen.get(root) ?? secretSteps(root, hidden);
    if (secretsSeen.size >= secretsSeenMax) secretsSeen.clear();
    secretsSeen.set(root, secrets);
    return secrets;
  };
  /**
   * Programs are installed, permissions change and secrets come while this process runs. Each command is planned with what
   * the last one saw, and that is checked while its sandbox is built: nothing runs in a sandbox of an outdated plan.
   */
  const checkSeen = (root: string, used: MachineFolders, secrets: readonly HiddenStep[]): string | null => {
    const isMachineCurrent = used.isCurrent();
    if (!isMachineCurrent && machine === used) machine = null;
    const secretsNow = secretSteps(root, hidden);
    const areSecretsCurrent = isDeepStrictEqual(secretsNow, secrets);
    if (!areSecretsCurrent) secretsSeen.set(root, secretsNow);
    return isMachineCurrent && areSecretsCurrent ? null : "the system's files have changed since the last command";
  };
  const runPlan = async ({ plan, checkPlan }: CheckedPlan, command: SandboxedCommand): Promise<CommandResult> => {
    const render = (hasExchangeableMount(plan.steps) && (await renderExchangeable?.())) || renderLaunch;
    const running = registerCommand(plan.steps);
    const verify = async (firstPid: string): Promise<string | null> => {
      const reason = verifySandbox(firstPid, plan.steps);
      releaseSteps(plan.steps);
      running.mounted();
      await running.othersMounted();
      return reason;
    };
    return withControlGroup(limits, (group) => {
      const launch: Launch = { ...render(plan, command.argv, group), cwd: "/", checkPlan, verify };
      const createReaper = ({ pid, firstPid }: { pid: number; firstPid: Promise<string | null> }) =>
        createNamespaceReaper(pid, firstPid);
      return runCommand(launch, { ...command, createReaper });
    }).finally(running.ended);
  };

  async function run(command: SandboxedCommand): Promise<CommandResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await runOnce(command);
      } catch (error) {
        if (!(error instanceof WorkspaceChangedError || error instanceof SandboxFailedError)) throw error;
        // Nothing has run. Programs that replace files at the wrong moment are more common than attacks.
        if (tries >= triesMax) throw couldNotStart(error.message, error);
      }
    }
  }

  async function runOnce(command: SandboxedCommand): Promise<CommandResult> {
    using workspace = openWorkspace(command.workspace);
    const secrets = secretsOf(workspace.path);
    const prepared = await prepareWorkspace(workspace, command.writes, secrets);
    let shown: readonly MountStep[] = [];
    const saved = removedFolder === null ? null : createSavedFolder(removedFolder);
    let restored: string[] = [];
    let hasRun = true;
    let result: CommandResult;
    try {
      shown = holdReadable(command.readable ?? [], workspace.path);
      const steps = [...shown, ...prepared.steps];
      result = await runPlan(planFor(command, workspace.path, { steps, secrets }), command);
    } catch (error) {
      hasRun = !(error instanceof SandboxFailedError);
      throw error;
    } finally {
      releaseSteps(shown);
      restored = await prepared.close({ hasRun, saved });
    }
    return withRestored(result, restored, saved?.path);
  }

  function planFor(
    command: SandboxedCommand,
    root: string,
    held: { steps: readonly MountStep[]; secrets: readonly HiddenStep[] },
  ): CheckedPlan {
    const used = machineFolders();
    const { steps, env } = used;
    const links = [command.workspace, ...(command.readable ?? [])].flatMap((path) => linkSteps(path));
    const visible = [root, ...held.steps.map(({ path }) => path).filter((path) => !isWithin(root, path))];
    // Program folders in the workspace are visible anyway, and their names are not safe there.
    const machine = steps.filter(({ kind, path }) => kind !== "read" || !isWithin(root, path));
    const plan: MountPlan = {
      steps: orderSteps(
        hideAll([...links, ...machine, ...held.steps], [...hiddenIn(machine), ...held.secrets], visible),
      ),
      folder: join(root, command.folder ?? "."),
      env: { ...cleanEnvironment(env.PATH ?? ""), ...env, ...command.env },
    };
    return { plan, checkPlan: () => checkSeen(root, used, held.secrets) };
  }

  /** Null if a test command succeeds, else the reason why it does not. */
  async function probe(argv: readonly string[]): Promise<string | null> {
    const { steps, env } = machineFolders();
    const plan = { steps: orderSteps(steps), folder: "/", env };
    const command = { argv, workspace: "/", writes: [[]], timeoutMs: probeMs, captureBytesMax: 2_000 };
    try {
      const result = await runPlan(
        { plan, checkPlan: () => null },
        { ...command, signal: new AbortController().signal },
      );
      return result.code === 0 ? null : `it does not work here: ${lastLine(result.output)}`;
    } catch (error) {
      return `it does not work here: ${lastLine(error instanceof Error ? error.message : String(error))}`;
    }
  }

  return { run, probe };
}

const triesMax = 4;
const secretsSeenMax = 100;

/** Long, because a busy machine is slow. A machine that cannot run it fails at once. */
const probeMs = 20_000;

/** The environment of every command: it contains no variable of this process except LANG. */
export function cleanEnvironment(path: string): Record<string, string> {
  return { PATH: path, HOME: privateHome, TMPDIR: "/tmp", LANG: process.env.LANG ?? "C.UTF-8", TERM: "dumb" };
}

/** Holds a workspace. Throws a `RunFailure` if it does not exist or is the whole file system. */
export function openWorkspace(path: string): HeldWorkspace {
  const workspace = holdWorkspace(path);
  if (workspace.path !== "/") return workspace;
  workspace[Symbol.dispose]();
  throw new RunFailure({
    type: "permission",
    message: "the whole file system cannot be the workspace of a sandbox; choose a folder",
    recoverable: false,
  });
}

/** The folders to hide in a workspace: those of this host, and the secrets of a home. Looked up for each command. */
function secretSteps(root: string, hidden: readonly string[]): HiddenStep[] {
  const paths = [...hidden.map(realPathOf), ...secretsIn(root).map(({ real }) => real)];
  return [...new Set(paths)].flatMap((path): HiddenStep[] => {
    if (path === null || path === root || !isWithin(root, path)) return [];
    return [
      { kind: "hidden", path, type: lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? "folder" : "file" },
    ];
  });
}

function hiddenIn(steps: readonly MountStep[]): HiddenStep[] {
  return steps.filter((step) => step.kind === "hidden");
}

/** The readable paths outside of the workspace. In it, everything is readable, and names are not safe. */
function holdReadable(paths: readonly string[], root: string): MountStep[] {
  const steps = paths.flatMap((path) => readStep(path) ?? []);
  return holdOutside(steps.filter(({ path }) => !isWithin(root, path)));
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
