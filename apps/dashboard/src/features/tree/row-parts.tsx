import type { RunRow } from "@troupe/core";
import type { ReactNode } from "react";
import { Glyph } from "../../components/icons.tsx";
import { formatAge } from "../../lib/format.ts";
import { isActive } from "../../lib/status.ts";
import type { TreeNode, TreeRow } from "../../lib/tree.ts";

/** A cell of the treegrid. The layouts use its class. */
export function Cell({ name, head = false, children }: { name: string; head?: boolean; children: ReactNode }) {
  return (
    <div role={head ? "columnheader" : "gridcell"} className={`cell cell-${name}`}>
      {children}
    </div>
  );
}

/** The minimum width of a bar in pixels. styles/tree.css has the same number. */
const minWidthPx = 3;

/** The time of a run within its session, as a bar. It shows which runs overlapped. */
export function TimeBar({ run, from, to }: { run: RunRow; from: number; to: number }) {
  const span = Math.max(to - from, 1);
  const start = clampShare((Date.parse(run.startedAt) - from) / span);
  const end = isActive(run) ? 1 : clampShare((Date.parse(run.completedAt ?? run.startedAt) - from) / span);
  return (
    <span className="time-bar" data-status={run.status} aria-hidden="true">
      <i
        style={{ left: `min(${start * 100}%, 100% - ${minWidthPx}px)`, width: `${Math.max(end - start, 0) * 100}%` }}
      />
    </span>
  );
}

function clampShare(share: number): number {
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}

/** The age of the last event is marked after this time. */
const quietMs = 30_000;

/** Not a tab stop, because the arrow keys of the row do the same. */
export function Fold({ row, onToggle }: { row: TreeRow; onToggle: (run: string) => void }) {
  if (row.expanded === null) return <span className="fold" />;
  const { expanded } = row;
  return (
    <button
      type="button"
      className="fold"
      tabIndex={-1}
      aria-label={expanded ? "Fold" : "Unfold"}
      data-expanded={expanded}
      onClick={(event) => {
        event.stopPropagation();
        onToggle(row.node.run.run);
      }}
    >
      <Glyph name="chevron" />
    </button>
  );
}

/** Counts of the hidden descendants of a folded row. */
export function FoldedBelow({ node: { below } }: { node: TreeNode }) {
  return (
    <span className="folded">
      +{below.runs}
      {below.active > 0 && ` · ${below.active} active`}
      {below.failed > 0 && <span className="failed"> · {below.failed} failed</span>}
    </span>
  );
}

export function Age({ at, now }: { at: number; now: number }) {
  const ageMs = now - at;
  return (
    <span className="figure" data-quiet={ageMs > quietMs}>
      {formatAge(ageMs)}
    </span>
  );
}
