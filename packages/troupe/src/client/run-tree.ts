import type { RunRow } from "@troupe/core";

/** A run with the runs that it delegated to. */
export interface RunTree {
  run: RunRow;
  children: RunTree[];
}

/** The trees of a session, one for each turn, in the order of appearance. */
export function treesOf(rows: readonly RunRow[]): RunTree[] {
  const nodes = new Map(rows.map((run) => [run.run, { run, children: [] } as RunTree]));
  const roots: RunTree[] = [];
  for (const node of [...nodes.values()].sort((a, b) => a.run.order - b.run.order)) {
    const parent = node.run.parentRun === null ? undefined : nodes.get(node.run.parentRun);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
