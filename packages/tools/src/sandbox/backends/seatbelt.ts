import type { SandboxPolicy } from "@troupe/core/internal";
import { readMachineView, readStep } from "../mount-plan/machine-folders.ts";
import { orderSteps, type View } from "../mount-plan/mount-plan.ts";
import { openWorkspace } from "../mount-plan/workspace-folders.ts";
import type { Confine } from "./process-group.ts";
import { rootOf } from "./run-in-namespaces.ts";

export interface SeatbeltOptions {
  program: string;
  policy: SandboxPolicy;
  hidden: readonly string[];
  path: string;
}

/** By way of `sandbox-exec` of macOS. */
export function confineBySeatbelt({ program, policy, hidden, path }: SeatbeltOptions): Confine {
  return async ({ workspace, writes, readable = [] }, scratch) => {
    const root = await rootOf(workspace);
    const machine = await readMachineView({ path, hidden, readable: policy.readable, network: policy.network });
    const shown = (await Promise.all(readable.map(readStep))).filter((step) => step !== null);
    const { steps, close } = await openWorkspace(root, writes);
    // Its empty folders are one of ours: those of the machine are everybody's here.
    const own = machine.steps.filter(({ kind }) => kind === "read" || kind === "hidden");
    const ordered = orderSteps([...own, { kind: "scratch", path: scratch }, ...shown, ...steps]);
    return { words: [program, "-p", renderSeatbelt({ steps: ordered }, policy)], close };
  };
}

/**
 * A profile for `sandbox-exec` of macOS: everything is denied but to read what the system needs and the world shows, and
 * to write what it lets be written. Of rules that fit the last one counts, so that they are in the order of the steps.
 * macOS has no namespaces: who leaves the process group is looked for, and hidden files are denied, not empty.
 */
export function renderSeatbelt({ steps }: Pick<View, "steps">, { network }: { network: boolean }): string {
  const rules = steps.flatMap((step): string[] => {
    const place = `(subpath ${text(step.path)})`;
    switch (step.kind) {
      case "read":
        return [`(allow file-read* ${place})`, `(deny file-write* ${place})`];
      case "write":
      case "scratch":
        // A folder that is written in can still not be renamed, and another one put in its place.
        return [`(allow file-read* file-write* ${place})`, `(deny file-write-unlink (literal ${text(step.path)}))`];
      case "hidden":
        return [`(deny file-read* file-write* ${place})`];
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

/** A string of the profile's language, which has a backslash before a quote and before a backslash. */
function text(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
