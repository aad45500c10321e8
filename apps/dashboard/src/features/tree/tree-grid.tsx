import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { RunRow, SessionRow } from "@troupe/core";
import { useEffect, useRef } from "react";
import { useNow } from "../../lib/clock.ts";
import { usePage } from "../../lib/page-context.ts";
import { useSelection } from "../../lib/selection.ts";
import { isActive } from "../../lib/status.ts";
import { TreeHead } from "./tree-head.tsx";
import { TreeRowView } from "./tree-row.tsx";
import { useTree } from "./use-tree.ts";
import { useTreeKeys } from "./use-tree-keys.ts";
import { useTreeLayout } from "./use-tree-layout.ts";

/** Pixels; the same figures stand in styles/tree.css. */
const rowHeight = { columns: 48, stacked: 48, lines: 80 };

/**
 * The delegation tree of one session. Only the rows in view exist in the document, so its size does not depend on the
 * tree's; the selected one always exists, so that the focus cannot fall out of the page while scrolling.
 */
export function TreeGrid({ session, runs }: { session: SessionRow; runs: ReadonlyMap<string, RunRow> }) {
  const { run: selected } = useSelection();
  const notes = usePage((state) => state.notes);
  const tree = useTree(runs);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useTreeLayout(scroller);
  const active = isActive(session);
  const now = useNow(active);
  const tabIndex = Math.max(tree.indexOf(selected), 0);

  const height = rowHeight[layout];
  const virtual = useVirtualizer({
    count: tree.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => tree.rows[index]?.node.run.run ?? index,
    overscan: 12,
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), tabIndex),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when the height changes
  useEffect(() => virtual.measure(), [virtual, height]);

  useTreeKeys(tree, selected, scroller);

  const from = Date.parse(session.startedAt);
  const to = active ? Math.max(now, from + 1) : Date.parse(session.completedAt ?? session.startedAt);
  return (
    <div className="tree" ref={scroller} data-layout={layout}>
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
                layout={layout}
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
