import type { RunRow } from "@troupe/core";
import { type RefObject, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { isPlainKey } from "../../lib/keys.ts";
import { selectRun } from "../../lib/navigation.ts";
import { ancestors, buildTree, nextFailure, type TreeNode, visibleRows } from "../../lib/tree.ts";
import { globalKeys, pressKey, type Tree } from "./tree-keys.ts";

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
      const visible = [run, ...ancestors(runs, run)].find((id) => indexes.has(id));
      return indexes.get(visible ?? "") ?? -1;
    },
    toggle,
    fold,
    unfold,
    foldAll: () => setCollapsed(new Set(parentsBelowRoots(roots))),
    unfoldAll: () => setCollapsed(new Set()),
    unfoldToFailure(from, direction) {
      const failure = nextFailure(roots, from, direction);
      if (failure !== null) setCollapsed((known) => without(known, ancestors(runs, failure)));
      return failure;
    },
  };
}

/** Roots stay unfolded, because otherwise one row would be left. */
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

/** Handles the keys of the tree. Selection and focus move together, so the selected row must be in the document. */
export function useTreeKeys(tree: Tree, selected: string | null, scroller: RefObject<HTMLElement | null>): void {
  const inView = tree.indexOf(selected) >= 0;
  const focusNext = useRef(false);

  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    const inTree = scroller.current?.contains(document.activeElement) ?? false;
    if (!isPlainKey(event) || !(inTree || globalKeys.has(event.key))) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === "Escape") selectRun(null);
    else if (event.key === "Enter" && !onButton) openRun();
    else if (!applyKey(event.key)) return;
    event.preventDefault();
  });

  const openRun = (): void => {
    const row = document.activeElement?.getAttribute("data-run");
    if (selected === null && row) selectRun(row);
    else document.getElementById("run-title")?.focus();
  };

  const applyKey = (key: string): boolean => {
    const effect = pressKey(key, tree, selected);
    if (effect === null) return false;
    focusNext.current = effect.target !== null;
    if (effect.target === selected) scrollToSelected();
    else if (effect.target !== null) selectRun(effect.target);
    return true;
  };

  const scrollToSelected = useEffectEvent((): void => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-run="${selected}"]`);
    row?.scrollIntoView({ block: "nearest" });
    if (focusNext.current) row?.focus({ preventScroll: true });
    focusNext.current = false;
  });

  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the selection moves, not when rows appear above it
  useEffect(() => scrollToSelected(), [selected, inView]);
}
