import { readlinkSync, realpathSync } from "node:fs";
import { relative } from "node:path";
import {
  type HeldFolder,
  holdEntry,
  holdFolder,
  holdPath,
  holdRoot,
  holdsByDescriptor,
} from "../../workspace/held-folder.ts";
import { couldNotStart } from "../processes/launch.ts";
import type { MountStep } from "./mount-steps.ts";

/** A folder that commands write in, held for as long as a command of it runs. */
export interface HeldWorkspace extends Disposable {
  readonly folder: HeldFolder;
  /** Real path, free of links. */
  readonly path: string;
}

/** Thrown if an entry was exchanged or removed while a command was prepared. Nothing has run: a new try may succeed. */
export class WorkspaceChangedError extends Error {
  constructor(path: string) {
    super(`${path} was exchanged or removed while the command was prepared`);
    this.name = "WorkspaceChanged";
  }
}

/** Holds a workspace at its real path. Throws a `RunFailure` if there is none. */
export function holdWorkspace(path: string): HeldWorkspace {
  try {
    const real = realpathSync(path);
    const folder = holdRoot(real);
    // Exchanged between the two lines above: another folder's name would be mounted.
    const named = holdsByDescriptor ? readlinkSync(folder.path) : real;
    if (named === real) return { folder, path: real, [Symbol.dispose]: () => folder[Symbol.dispose]() };
    folder[Symbol.dispose]();
    throw new WorkspaceChangedError(path);
  } catch (error) {
    if (error instanceof WorkspaceChangedError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw couldNotStart(`${path}: ${code}`, error);
  }
}

/**
 * Holds the entry of each step that mounts a path of the workspace. A step is mounted only if its mount shows the held
 * entry. Throws a `WorkspaceChangedError` if an entry differs from the scan.
 */
export function holdSteps({ folder, path: root }: HeldWorkspace, steps: readonly MountStep[]): MountStep[] {
  const held: MountStep[] = [];
  try {
    for (const step of steps) {
      if (step.kind !== "read" && step.kind !== "write") continue;
      const entry = holdPath(folder, relative(root, step.path) || ".");
      const isWanted =
        entry !== null && entry.kind !== "link" && (entry.kind === "folder") === (step.type === "folder");
      if (entry && !isWanted) entry[Symbol.dispose]();
      if (!isWanted) throw new WorkspaceChangedError(step.path);
      held.push({ ...step, held: entry });
    }
    return held;
  } catch (error) {
    releaseSteps(held);
    throw error;
  }
}

/** Holds the entries of steps outside of every workspace, whose paths are free of links. */
export function holdOutside(steps: readonly MountStep[]): MountStep[] {
  using folder = holdRoot("/");
  return holdSteps({ folder, path: "/", [Symbol.dispose]() {} }, steps);
}

export function releaseSteps(steps: readonly MountStep[]): void {
  for (const step of steps) if ("held" in step) step.held?.[Symbol.dispose]();
}

/** Whether a command can write at a path that is a folder, or does not exist yet. */
export function isPlainWay({ folder }: HeldWorkspace, path: string): boolean {
  let at: HeldFolder | null = holdFolder(folder, ".");
  for (const name of path.split("/").filter(Boolean)) {
    if (at === null) return false;
    using here = at;
    using entry = holdEntry(here, name);
    if (entry === null) return true;
    at = holdFolder(here, name);
  }
  at?.[Symbol.dispose]();
  return at !== null;
}
