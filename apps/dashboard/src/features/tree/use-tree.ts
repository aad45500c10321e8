import type { RunRow } from "@troupe/core";
import { useCallback, useMemo, useState } from "react";
import { ancestors, buildTree, nextFailure, type TreeNode, type TreeRow, visibleRows } from "../../lib/tree.ts";

/** The tree as it is shown, and the ways to change what is folded. */
export interface Tree {
  roots: readonly TreeNode[];
  rows: readonly TreeRow[];
  /** Index of a run's row, or of the nearest ancestor's where it is folded away; -1 where there is neither. */
  indexOf(run: string | null): number;
  fold(run: string): void;
  unfold(run: string): void;
  toggle(run: string): void;
  foldAll(): void;
  unfoldAll(): void;
  /** The next failed run that way; made visible. */
  reachFailure(from: string | null, direction: 1 | -1): string | null;
}

export function useTree(runs: ReadonlyMap<string, RunRow>): Tree {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const roots = useMemo(() => buildTree(runs.values()), [runs]);
  const rows = useMemo(() => visibleRows(roots, collapsed), [roots, collapsed]);
  const fold = useCallback((run: string) => setCollapsed((known) => new Set(known).add(run)), []);
  const unfold = useCallback((run: string) => setCollapsed((known) => without(known, [run])), []);
  const toggle = useCallback((run: string) => setCollapsed((known) => toggled(known, run)), []);
  const indexes = useMemo(() => new Map(rows.map((row, i) => [row.node.run.run, i])), [rows]);
  return {
    roots,
    rows,
    indexOf(run) {
      if (run === null) return -1;
      const inView = [run, ...ancestors(runs, run)].find((id) => indexes.has(id));
      return indexes.get(inView ?? "") ?? -1;
    },
    toggle,
    fold,
    unfold,
    foldAll: () => setCollapsed(new Set(parentsBelowRoots(roots))),
    unfoldAll: () => setCollapsed(new Set()),
    reachFailure(from, direction) {
      const found = nextFailure(roots, from, direction);
      if (found !== null) setCollapsed((known) => without(known, ancestors(runs, found)));
      return found;
    },
  };
}

/** Roots stay open: folding them too would leave one line. */
function parentsBelowRoots(roots: readonly TreeNode[]): string[] {
  return roots.flatMap((root) => root.children.filter((child) => child.children.length > 0)).map(({ run }) => run.run);
}

function toggled(known: ReadonlySet<string>, run: string): ReadonlySet<string> {
  return known.has(run) ? without(known, [run]) : new Set(known).add(run);
}

function without(known: ReadonlySet<string>, runs: readonly string[]): ReadonlySet<string> {
  const rest = new Set(known);
  for (const run of runs) rest.delete(run);
  return rest;
}
