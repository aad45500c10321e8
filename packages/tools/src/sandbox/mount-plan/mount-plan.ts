import { posix } from "node:path";

/** One thing that a command finds in its world. Nothing else of the machine is there. */
export type ViewStep =
  /** Of the machine, at its own path: to be read, or to be written as well. */
  | { kind: "read" | "write"; path: string; type: "folder" | "file" }
  /** Empty, and the command's own for as long as it runs. */
  | { kind: "scratch"; path: string }
  /** A folder in something empty. */
  | { kind: "folder"; path: string }
  /** Of the machine, but empty to see. */
  | { kind: "hidden"; path: string; type: "folder" | "file" }
  | { kind: "link"; path: string; target: string }
  | { kind: "processes" | "devices"; path: string };

/** A world for a command, as a list that is worked off from the first to the last. */
export interface View {
  steps: readonly ViewStep[];
  /** Where the command starts. */
  folder: string;
  env: Readonly<Record<string, string>>;
}

/**
 * Puts the steps of a world in the order in which they have to be taken: what holds something before what is in it. Of
 * two steps for one path the later one counts. What changes nothing is left out: what is hidden where nothing is shown,
 * or shown read-only where all around it is.
 *
 * @example
 * orderSteps([{ kind: "hidden", path: "/a/b", type: "folder" }, { kind: "read", path: "/a", type: "folder" }]);
 * // [{ kind: "read", path: "/a", … }, { kind: "hidden", path: "/a/b", … }]
 */
export function orderSteps(steps: readonly ViewStep[]): ViewStep[] {
  const byPath = new Map(steps.map((step) => [step.path, step]));
  const ordered = [...byPath.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path) || compare(a.path, b.path));
  const kept = new Map<string, ViewStep>();
  for (const step of ordered) {
    if (!isIdle(step, around(step.path, kept)?.kind)) kept.set(step.path, step);
  }
  return [...kept.values()];
}

/** Whether a step changes nothing in what is around it. */
function isIdle({ kind }: ViewStep, surroundings: ViewStep["kind"] | undefined): boolean {
  const shown = surroundings === "read" || surroundings === "write";
  if (kind === "hidden") return !shown;
  if (kind === "link") return shown;
  return kind === "read" && surroundings === "read";
}

function around(path: string, steps: ReadonlyMap<string, ViewStep>): ViewStep | null {
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
