import { readFile } from "node:fs/promises";
import type { SandboxEnd } from "../backends/mount-script.ts";
import { type ControlGroup, joinArguments } from "../processes/control-group.ts";
import { limitValues, type ProcessLimits } from "../processes/resource-limits.ts";
import type { Programs } from "../programs.ts";
import { findLaunchers, type Launcher, type LaunchStep, type LaunchSteps, launchStepsOf } from "./launcher.ts";
import { architectureOf, assembleFilter } from "./seccomp-filter.ts";

/** Filter and launcher that keep commands from parts of the kernel, besides the namespaces of a sandbox. */
export interface KernelGuard {
  /** The filter of system calls; null to run commands without one. */
  filter: Uint8Array | null;
  /** Prepares the process of a command; null if the machine has no program for it. */
  launcher: BoundLauncher | null;
}

/** A launcher with the numbers of this processor. */
export interface BoundLauncher extends Launcher {
  steps: LaunchSteps;
  /** The highest right (capability) of this kernel. */
  lastRight: number;
}

/**
 * The guards that this machine may support, the best first. The last one has neither filter nor launcher: commands also
 * run on a processor without a table of calls, and without perl and python.
 */
export async function kernelGuards(programs: Programs): Promise<KernelGuard[]> {
  const none: KernelGuard = { filter: null, launcher: null };
  const architecture = architectureOf();
  const lastRight = Number.parseInt(await readFile("/proc/sys/kernel/cap_last_cap", "utf8").catch(() => ""), 10);
  if (architecture === null || Number.isNaN(lastRight)) return [none];
  const filter = assembleFilter(architecture);
  const steps = launchStepsOf(architecture);
  const launchers = findLaunchers(programs).map((launcher) => ({ ...launcher, steps, lastRight }));
  return [...launchers, null].map((launcher): KernelGuard => ({ filter, launcher })).concat(none);
}

/**
 * Arguments before the program that builds a sandbox: the process joins its control groups, and gets a session keyring
 * and limits.
 *
 * @param parentPid the process to die with. @default none
 */
export function enterArguments(
  { launcher }: KernelGuard,
  {
    group,
    limits = null,
    parentPid = null,
  }: { group: ControlGroup | null; limits?: ProcessLimits | null; parentPid?: number | null },
): string[] {
  if (launcher === null) return joinArguments(group);
  const { steps } = launcher;
  return launcher.argumentsFor([
    ...(group?.joinFiles ?? []).map((file) => ({ kind: "join", file }) as const),
    steps.newKeyring(),
    ...(parentPid === null ? [] : steps.dieWithParent(parentPid)),
    ...(limits === null ? [] : limitValues(limits).map(([resource, value]) => steps.limit(resource, value))),
  ]);
}

/** Arguments before a command in a sandbox: the last steps of the mounts, limits, no rights, and the filter, which is tried at once. */
export function finishArguments(
  { launcher, filter }: KernelGuard,
  limits: ProcessLimits,
): ((end: SandboxEnd) => string[]) | null {
  if (launcher === null || filter === null) return null;
  const { steps, lastRight } = launcher;
  const endOf = ({ links, tableFile, readOnly, root, folder }: SandboxEnd): LaunchStep[] => [
    ...links.map(({ target, path }) => steps.link(target, path)),
    steps.removeFile(tableFile),
    ...readOnly.map((path) => steps.remountReadOnly(path)),
    ...steps.changeRoot(root),
    steps.changeFolder(folder),
  ];
  const lastSteps = [
    ...limitValues(limits).map(([resource, value]) => steps.limit(resource, value)),
    ...steps.dropRights(lastRight),
    steps.filter(filter),
    steps.checkFilter(),
  ];
  return (end) => launcher.argumentsFor([...endOf(end), ...lastSteps]);
}

/** A command that fails in a sandbox whose filter is not in force. */
export function probeCommand({ filter, launcher }: KernelGuard): string[] {
  if (filter === null) return ["true"];
  const check = launcher?.argumentsFor([launcher.steps.checkFilter()]) ?? [];
  return ["/bin/sh", "-c", readStatus, "sh", ...check, "true"];
}

/** The kernel says of each process whether it has a filter. */
const readStatus = `
while read -r key value; do
  [ "$key $value" = "Seccomp: 2" ] && exec "$@"
done < /proc/self/status
echo "no filter of system calls is in force" >&2
exit 1`;

/** The guard in force and its gaps, in words for the user. */
export function describeGuard({ filter, launcher }: KernelGuard): { text: string; fix: string | null } {
  if (filter && launcher) return { text: "system calls are filtered", fix: null };
  if (filter) return { text: "system calls are filtered, but commands share the session keyring", fix };
  if (architectureOf() === null) {
    return { text: `system calls are not filtered: there is no table of calls for ${process.arch}`, fix: null };
  }
  return { text: "system calls are not filtered", fix };
}

const fix = "install perl (or python3): it loads the filter of system calls and makes the keyring of a command";
