import { execFile } from "node:child_process";
import { hostname } from "node:os";
import { promisify } from "node:util";
import type { MountPlan, MountStep } from "../mount-plan/mount-steps.ts";
import { firstPassedDescriptor, firstPidPipe, setupPipe, starterScript } from "../processes/launch.ts";
import { type ProcessLimits, prlimitArguments } from "../processes/resource-limits.ts";
import type { Programs } from "../programs.ts";
import { enterArguments, type KernelGuard } from "../system-calls/kernel-guard.ts";
import type { RenderLaunch } from "./run-in-namespaces.ts";

export interface BubblewrapOptions {
  network: boolean;
  /** Size cap of each empty folder. */
  scratchBytesMax: number;
  /** Whether this version of bwrap can forbid a command to create namespaces. */
  lockNamespaces: boolean;
}

/**
 * Whether a bwrap mounts descriptors, from version 0.10 on and in patched older packages. It compares the result with the
 * descriptor, closes it, and fails if they differ.
 */
export async function hasDescriptorBinds(bwrap: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)(bwrap, ["--help"]).catch(() => ({ stdout: "" }));
  return stdout.includes("--ro-bind-fd") && stdout.includes("--bind-fd");
}

/** Launches commands by bubblewrap, which reads the rendered plan from a pipe. */
export function bubblewrapLaunch(
  { bwrap, prlimit }: Programs,
  options: BubblewrapOptions & { limits: ProcessLimits; guard: KernelGuard },
): RenderLaunch {
  const { guard, limits } = options;
  const starter = ["/bin/sh", "-c", starterScript({ isFirst: false }), "sh"];
  // The kernel counts the processes of a user in the user namespace, so this limit is set in it.
  const before = { ...limits, processes: null };
  const inside = [
    ...(guard.launcher && limits.processes === null ? [] : prlimitArguments(prlimit, limits)),
    ...starter,
  ];
  // `--hostname` needs the namespace that the end of the setup asks for. With a setup that is missing or cut off, because
  // this process has just ended, bwrap fails before it makes a process.
  const guardOfSetup = ["--hostname", hostname()];
  const outside = [bwrap, ...guardOfSetup, "--info-fd", String(firstPidPipe), "--args", String(setupPipe), "--"];
  return (plan, argv, group) => {
    const descriptors = descriptorsOf(plan.steps);
    const filter = guard.filter ? ["--seccomp", String(firstPassedDescriptor + descriptors.length)] : [];
    return {
      argv: [...enterArguments(guard, { group, limits: before }), ...outside, ...inside, ...argv],
      env: {},
      setup: [...renderMounts(plan, options), ...filter, ...renderNamespaces(options)].join("\0"),
      descriptors,
      filter: guard.filter,
    };
  };
}

/** The held entries of a plan, which bwrap gets as its descriptors from `firstPassedDescriptor` on. */
function descriptorsOf(steps: readonly MountStep[]): number[] {
  return steps.map(descriptorOf).filter((descriptor) => descriptor !== null);
}

function descriptorOf(step: MountStep): number | null {
  return "held" in step ? (step.held?.descriptor ?? null) : null;
}

/** Renders a plan into the arguments of `bwrap`, without the command. */
export function renderBubblewrap(plan: MountPlan, options: BubblewrapOptions): string[] {
  return [...renderNamespaces(options), ...renderMounts(plan, options)];
}

function renderNamespaces({ network, lockNamespaces }: BubblewrapOptions): string[] {
  const isolation = ["--unshare-all", "--unshare-user", ...(network ? ["--share-net"] : [])];
  return [...isolation, ...(lockNamespaces ? ["--disable-userns"] : [])];
}

function renderMounts({ steps, folder, env }: MountPlan, options: BubblewrapOptions): string[] {
  const held = steps.filter((step) => descriptorOf(step) !== null);
  const sources = new Map(held.map((step, i) => [step, String(firstPassedDescriptor + i)]));
  return [
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...steps.flatMap((step) => renderStep(step, options, sources.get(step))),
    // Read-only at the end: the steps above mount into these folders.
    ...steps.flatMap((step) => (isHiddenFolder(step) ? ["--remount-ro", step.path] : [])),
    ...["--remount-ro", "/"],
    "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", folder],
  ];
}

function renderStep(step: MountStep, { scratchBytesMax }: BubblewrapOptions, descriptor?: string): string[] {
  const { path } = step;
  switch (step.kind) {
    case "read":
      return descriptor ? ["--ro-bind-fd", descriptor, path] : ["--ro-bind", path, path];
    case "write":
      return descriptor ? ["--bind-fd", descriptor, path] : ["--bind", path, path];
    case "scratch":
      return ["--size", String(scratchBytesMax), "--perms", "1777", "--tmpfs", path];
    case "folder":
      return ["--dir", path];
    case "hidden":
      return isHiddenFolder(step) ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
    case "link":
      return ["--symlink", step.target, path];
    case "processes":
      // Read-only: root in a namespace has no right over the machine's settings, but still owns their files in /proc.
      return ["--proc", path, "--remount-ro", path];
    case "devices":
      return ["--dev", path];
  }
}

function isHiddenFolder(step: MountStep): boolean {
  return step.kind === "hidden" && step.type === "folder";
}
