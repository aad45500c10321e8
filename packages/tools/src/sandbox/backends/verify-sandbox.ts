import { readFileSync } from "node:fs";
import { type HeldFolder, holdPath, holdRootOf } from "../../workspace/held-folder.ts";
import type { MountStep } from "../mount-plan/mount-steps.ts";

/**
 * Checks what a sandbox has really mounted, through the root of its first process, before its command starts. The
 * program that builds the sandbox finds sources and mount points by name, and another command of the workspace can
 * exchange names meanwhile.
 *
 * Each step with a held entry must have a mount of its own at its path that shows this entry, and a read-only step a
 * read-only mount. A hidden path must have a mount of its own too. An exchange after this check moves a mount together
 * with the folder that it covers, so it uncovers nothing.
 *
 * @returns why the command must not start, or null
 */
export function verifySandbox(firstPid: string, steps: readonly MountStep[]): string | null {
  try {
    const mounts = readMounts(firstPid);
    using root = holdRootOf(firstPid);
    for (const step of stepsToCheck(steps)) {
      const reason = checkStep(root, step, mounts);
      if (reason !== null) return `${step.path}: ${reason}`;
    }
    return null;
  } catch (error) {
    return `the mounts cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface Mount {
  path: string;
  isReadOnly: boolean;
}

/** The mounts of a process, by their id. */
function readMounts(pid: string): ReadonlyMap<string, Mount> {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [id = "", , , , path = "", flags = ""] = line.split(" ");
      return [id, { path: unescapeField(path), isReadOnly: flags.split(",").includes("ro") }];
    }),
  );
}

/** Blanks and similar characters of a path are octal numbers in the kernel's tables of mounts. */
export function unescapeField(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** The system's own folders cannot be exchanged by a command. */
function stepsToCheck(steps: readonly MountStep[]): MountStep[] {
  const held = steps.filter((step) => "held" in step && step.held);
  const isInHeld = (path: string): boolean =>
    held.some((step) => path === step.path || path.startsWith(`${step.path}/`));
  return steps.filter((step) => held.includes(step) || (step.kind === "hidden" && isInHeld(step.path)));
}

function checkStep(root: HeldFolder, step: MountStep, mounts: ReadonlyMap<string, Mount>): string | null {
  using entry = holdPath(root, step.path);
  if (entry === null || entry.descriptor === null) return "it is not mounted";
  const mount = mounts.get(mountIdOf(entry.descriptor));
  if (mount?.path !== step.path) return "another mount is at its place";
  if ("held" in step && step.held && step.held.identity !== entry.identity) {
    return "it was exchanged while the command was prepared";
  }
  return step.kind === "read" && !mount.isReadOnly ? "its mount is writable" : null;
}

function mountIdOf(descriptor: number): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1] ?? "";
}
