import type { MountPlan, MountStep } from "../mount-plan/mount-steps.ts";
import { firstPidPipe, setupPipe, starterScript } from "../processes/launch.ts";
import { type ProcessLimits, prlimitArguments } from "../processes/resource-limits.ts";
import type { Programs } from "../programs.ts";
import type { RenderLaunch } from "./run-in-namespaces.ts";

export interface BubblewrapOptions {
  network: boolean;
  /** Size cap of each empty folder. */
  scratchBytesMax: number;
  /** Whether this version of bwrap can forbid a command to create namespaces. */
  lockNamespaces: boolean;
}

/** Launches commands by bubblewrap, which reads the rendered plan from a pipe. */
export function bubblewrapLaunch(
  { bwrap, prlimit }: Programs,
  options: BubblewrapOptions & { limits: ProcessLimits },
): RenderLaunch {
  const starter = ["/bin/sh", "-c", starterScript({ isFirst: false }), "sh"];
  const inside = [...prlimitArguments(prlimit, options.limits), ...starter];
  const outside = [bwrap, "--info-fd", String(firstPidPipe), "--args", String(setupPipe), "--"];
  return (plan, argv) => ({
    argv: [...outside, ...inside, ...argv],
    env: {},
    setup: renderBubblewrap(plan, options).join("\0"),
  });
}

/** Renders a plan into the arguments of `bwrap`, without the command. */
export function renderBubblewrap({ steps, folder, env }: MountPlan, options: BubblewrapOptions): string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    ...(options.network ? ["--share-net"] : []),
    ...(options.lockNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...steps.flatMap((step) => renderStep(step, options)),
    // Read-only at the end: the steps above mount into these folders.
    ...steps.flatMap((step) => (isHiddenFolder(step) ? ["--remount-ro", step.path] : [])),
    ...["--remount-ro", "/"],
    "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", folder],
  ];
}

function renderStep(step: MountStep, { scratchBytesMax }: BubblewrapOptions): string[] {
  const { path } = step;
  switch (step.kind) {
    case "read":
      return ["--ro-bind", path, path];
    case "write":
      return ["--bind", path, path];
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
