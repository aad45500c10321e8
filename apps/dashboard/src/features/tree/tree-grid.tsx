import type { SessionRow } from "@troupe/core";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { useNow } from "../../lib/clock.ts";
import { useRoute } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import { Cell } from "./row-parts.tsx";
import type { Tree } from "./tree-keys.ts";
import { type TreeLayout, TreeRowView } from "./tree-row.tsx";
import { useRows } from "./use-rows.ts";

/** Pixels. styles/tree.css has the same numbers. */
const rowHeight = { columns: 48, stacked: 48, lines: 80 };

/**
 * The delegation tree of one session. The document contains only the rows in view, so its size does not depend on the
 * size of the tree. It always contains the selected row, so that scrolling cannot remove the focused element.
 */
export function TreeGrid({ session, tree }: { session: SessionRow; tree: Tree }) {
  const { run: selected } = useRoute();
  const notes = usePage((state) => state.notes);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useTreeLayout(scroller);
  const active = isActive(session);
  const now = useNow(active);
  const { virtual, tabIndex } = useRows({ tree, selected, scroller, height: rowHeight[layout] });

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

const columns: readonly (readonly [string, string])[] = [
  ["status", "Status"],
  ["time", "Time"],
  ["age", "Last event"],
  ["depth", "Depth"],
  ["steps", "Steps"],
  ["tools", "Tools"],
  ["tokens", "Tokens"],
  ["cost", "Cost"],
];

/** The buttons to fold and unfold all rows. Nothing for a tree without nested runs. */
export function FoldButtons({ tree }: { tree: Tree }) {
  const hasNestedRuns = tree.roots.some((root) => root.children.some((child) => child.children.length > 0));
  if (!hasNestedRuns) return null;
  return (
    <span className="fold-all">
      <button type="button" className="link" onClick={tree.foldAll}>
        Fold all
      </button>
      <button type="button" className="link" onClick={tree.unfoldAll}>
        Unfold all
      </button>
    </span>
  );
}

/** The column names, with the buttons to fold and unfold all. */
function TreeHead({ tree }: { tree: Tree }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see TreeGrid
    // biome-ignore lint/a11y/useFocusableInteractive: the row keys do not stop at the head
    <div role="row" className="tree-row tree-head" aria-rowindex={1}>
      <Cell name="run" head>
        <span>Run</span>
        <FoldButtons tree={tree} />
      </Cell>
      {columns.map(([key, label]) => (
        <Cell key={key} name={key} head>
          {label}
        </Cell>
      ))}
    </div>
  );
}

/** The layout for the width of the tree, which also depends on the panel beside it. */
function useTreeLayout(element: RefObject<HTMLElement | null>): TreeLayout {
  const [layout, setLayout] = useState<TreeLayout>("columns");
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = (): void => setLayout(layoutFor(observed.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    measure();
    return () => observer.disconnect();
  }, [element]);
  return layout;
}

function layoutFor(widthPx: number): TreeLayout {
  if (widthPx < 600) return "lines";
  return widthPx < 1040 ? "stacked" : "columns";
}
