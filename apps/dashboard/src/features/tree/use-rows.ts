import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect } from "react";
import type { Tree } from "./tree-keys.ts";
import { useTreeKeys } from "./use-tree.ts";

export interface RowsOptions {
  tree: Tree;
  selected: string | null;
  scroller: RefObject<HTMLElement | null>;
  /** Height of a row in pixels. */
  height: number;
}

/**
 * The rows of a tree that are in view, and the keys of the tree. The rows always include the one that Tab reaches, so that
 * scrolling cannot remove the focused element.
 */
export function useRows({ tree, selected, scroller, height }: RowsOptions) {
  const tabIndex = Math.max(tree.indexOf(selected), 0);
  const virtual = useVirtualizer({
    count: tree.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => tree.rows[index]?.node.run.run ?? index,
    overscan: 12,
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), tabIndex),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is not read here, but a change needs a new measurement
  useEffect(() => virtual.measure(), [virtual, height]);
  useTreeKeys(tree, selected, scroller);
  return { virtual, tabIndex };
}

/** The range of the virtual list, with one more index: that of the row with the focus. */
function withIndex(range: number[], index: number): number[] {
  return range.includes(index) ? range : [...range, index].sort((a, b) => a - b);
}
