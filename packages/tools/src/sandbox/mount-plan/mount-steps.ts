import { posix } from "node:path";
import type { HeldEntry } from "../../workspace/held-folder.ts";

/** One mount, folder or link in the file system that a command sees. Every path without a step is absent or empty. */
export type MountStep =
  /**
   * A path of the machine, mounted at the same path: read-only or writable. With `held`, the mount must show this entry:
   * before the command starts, every backend checks what is mounted.
   */
  | { kind: "read" | "write"; path: string; type: "folder" | "file"; held?: HeldEntry }
  /** An empty, writable folder that exists as long as the command. */
  | { kind: "scratch"; path: string }
  /** A folder to make in a scratch folder. */
  | { kind: "folder"; path: string }
  /** A path of the machine that the command sees as empty. */
  | { kind: "hidden"; path: string; type: "folder" | "file" }
  | { kind: "link"; path: string; target: string }
  | { kind: "processes" | "devices"; path: string };

export type HiddenStep = Extract<MountStep, { kind: "hidden" }>;

/**
 * Everything that a command sees, as data. A backend renders it into arguments for bubblewrap, a script of mounts, or a
 * seatbelt profile, and takes the steps in their order.
 */
export interface MountPlan {
  steps: readonly MountStep[];
  /** Working folder of the command. */
  folder: string;
  env: Readonly<Record<string, string>>;
}

/**
 * Sorts steps so that a folder comes before the paths in it. Of two steps for one path the later one counts. Redundant
 * steps are left out, such as a hidden path that no step shows, or a read-only path in a read-only folder.
 *
 * @example
 * orderSteps([{ kind: "hidden", path: "/a/b", type: "folder" }, { kind: "read", path: "/a", type: "folder" }]);
 * // [{ kind: "read", path: "/a", … }, { kind: "hidden", path: "/a/b", … }]
 */
export function orderSteps(steps: readonly MountStep[]): MountStep[] {
  const byPath = new Map(steps.map((step) => [step.path, step]));
  const ordered = [...byPath.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path) || compare(a.path, b.path));
  const needed = new Map<string, MountStep>();
  for (const step of ordered) {
    if (!isRedundant(step, enclosingStep(step.path, needed)?.kind)) needed.set(step.path, step);
  }
  return [...needed.values()];
}

/**
 * Lets hidden paths win over every other step at or below them. Only the workspace of the command stays visible if it
 * lies in a hidden folder, and so do the files that the command itself needs to read.
 *
 * @param visible paths that stay visible, with everything below them
 */
export function hideAll(
  steps: readonly MountStep[],
  hidden: readonly HiddenStep[],
  visible: readonly string[],
): MountStep[] {
  const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
  const staysVisible = (path: string, folder: string): boolean =>
    visible.some((one) => isBelow(one, folder) && (path === one || isBelow(path, one)));
  const isCovered = ({ path }: MountStep): boolean =>
    hidden.some((by) => (path === by.path || isBelow(path, by.path)) && !staysVisible(path, by.path));
  return [...steps.filter((step) => step.kind === "hidden" || !isCovered(step)), ...hidden];
}

function isRedundant({ kind }: MountStep, enclosing: MountStep["kind"] | undefined): boolean {
  const isShown = enclosing === "read" || enclosing === "write";
  if (kind === "hidden") return !isShown && enclosing !== "processes";
  if (kind === "link") return isShown;
  return kind === "read" && enclosing === "read";
}

function enclosingStep(path: string, steps: ReadonlyMap<string, MountStep>): MountStep | null {
  for (let parent = posix.dirname(path); parent !== "/"; parent = posix.dirname(parent)) {
    const step = steps.get(parent);
    if (step) return step;
  }
  return null;
}

function depthOf(path: string): number {
  return path.split("/").length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
