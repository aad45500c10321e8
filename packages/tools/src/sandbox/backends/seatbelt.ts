import type { SandboxPolicy } from "@troupe/core/internal";
import { planMachineFolders, readStep } from "../mount-plan/machine-folders.ts";
import { type MountPlan, orderSteps } from "../mount-plan/mount-steps.ts";
import { prepareWorkspace } from "../mount-plan/workspace-folders.ts";
import type { Confine } from "./process-group.ts";
import { openWorkspace } from "./run-in-namespaces.ts";

export interface SeatbeltOptions {
  program: string;
  policy: SandboxPolicy;
  hidden: readonly string[];
  path: string;
}

/** Confines commands by the `sandbox-exec` of macOS. */
export function confineBySeatbelt({ program, policy, hidden, path }: SeatbeltOptions): Confine {
  return async ({ workspace, writes, readable = [] }, scratch) => {
    const held = openWorkspace(workspace);
    const machine = planMachineFolders({ path, hidden, readable: policy.readable, network: policy.network });
    const shown = readable.flatMap((path) => readStep(path) ?? []);
    const prepared = await prepareWorkspace(held, writes);
    const close = async (): Promise<string[]> => {
      const changed = await prepared.close({ hasRun: true, saved: null });
      held[Symbol.dispose]();
      return changed;
    };
    // The scratch folders of the plan are left out: without mounts they would be the machine's own /tmp and /run.
    const own = machine.steps.filter(({ kind }) => kind === "read" || kind === "hidden");
    const ordered = orderSteps([...own, { kind: "scratch", path: scratch }, ...shown, ...prepared.steps]);
    return { prefix: [program, "-p", renderSeatbelt({ steps: ordered }, policy)], close };
  };
}

/**
 * Renders a plan into a `sandbox-exec` profile. It denies everything except reading the system and the plan's paths, and
 * writing the plan's writable paths. The last matching rule counts, so the rules follow the order of the steps. macOS
 * has no namespaces: a process can leave its process group, and a hidden path is denied rather than empty.
 */
export function renderSeatbelt({ steps }: Pick<MountPlan, "steps">, { network }: { network: boolean }): string {
  const rules = steps.flatMap((step): string[] => {
    const subpath = `(subpath ${quoted(step.path)})`;
    switch (step.kind) {
      case "read":
        return [`(allow file-read* ${subpath})`, `(deny file-write* ${subpath})`];
      case "write":
      case "scratch":
        // The folder itself must not be renamed, because another folder could be put in its place.
        return [`(allow file-read* file-write* ${subpath})`, `(deny file-write-unlink (literal ${quoted(step.path)}))`];
      case "hidden":
        return [`(deny file-read* file-write* ${subpath})`];
      default:
        return [];
    }
  });
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    "(allow process-fork process-exec* sysctl-read)",
    "(allow signal (target same-sandbox))",
    "(allow file-read-metadata)",
    '(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    '(allow file-read* (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library"))',
    '(allow file-read* (subpath "/opt") (subpath "/private/etc") (subpath "/private/var/db/timezone"))',
    ...(network ? ["(allow network*)", '(allow file-read* (literal "/private/var/run/resolv.conf"))'] : []),
    ...rules,
  ].join("\n");
}

/** A string literal of the profile language, with quotes and backslashes escaped. */
function quoted(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
