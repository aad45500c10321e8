import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { RunRow, SessionRow } from "@troupe/core";
import { useEffect, useRef } from "react";
import { useNow } from "../../lib/clock.ts";
import { usePage } from "../../lib/page-context.ts";
import { useSelection } from "../../lib/selection.ts";
import { isActive } from "../../lib/status.ts";
import { TreeHead } from "./tree-head.tsx";
import { TreeRowView } from "./tree-row.tsx";
import { useCompact } from "./use-compact.ts";
import { useTree } from "./use-tree.ts";
import { useTreeKeys } from "./use-tree-keys.ts";

/** Pixels; the same figures stand in styles/tree.css. */
const rowHeight = { wide: 48, compact: 86 };
const headHeight = 32;

/**
 * The delegation tree of one session. Only the rows in view exist in the document, so its size does not depend on the
 * tree's; the selected one always exists, so that the focus cannot fall out of the page while scrolling.
 */
export function TreeGrid({ session, runs }: { session: SessionRow; runs: ReadonlyMap<string, RunRow> }) {
  const { run: selected } = useSelection();
  const notes = usePage((state) => state.notes);
  const tree = useTree(runs);
  const scroller = useRef<HTMLDivElement>(null);
  const compact = useCompact(scroller);
  const active = isActive(session);
  const now = useNow(active);
  const tabIndex = Math.max(tree.indexOf(selected), 0);

  const height = compact ? rowHeight.compact : rowHeight.wide;
  const virtual = useVirtualizer({
    count: tree.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => tree.rows[index]?.node.run.run ?? index,
    overscan: 12,
    // The head stays on top and takes this much of the view.
    scrollPaddingEnd: headHeight,
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), tabIndex),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when the height changes
  useEffect(() => virtual.measure(), [virtual, height]);

  useTreeKeys(tree, selected, scroller, (index) => virtual.scrollToIndex(index, { align: "auto" }));

  const from = Date.parse(session.startedAt);
  const to = active ? Math.max(now, from + 1) : Date.parse(session.completedAt ?? session.startedAt);
  return (
    <div className="tree" ref={scroller} data-compact={compact}>
      <div role="treegrid" aria-label="Delegation tree" aria-rowcount={tree.rows.length + 1}>
        <TreeHead tree={tree} />
        <div className="tree-body" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = tree.rows[item.index];
            if (!row) return null;
            const { run } = row.node.run;
            return (
              <TreeRowView
                key={run}
                row={row}
                index={item.index}
                top={item.start}
                compact={compact}
                note={notes.get(run)}
                selected={run === selected}
                tabbable={item.index === tabIndex}
                from={from}
                to={to}
                now={now}
                onToggle={tree.toggle}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function withIndex(range: number[], index: number): number[] {
  return range.includes(index) ? range : [...range, index].sort((a, b) => a - b);
}
