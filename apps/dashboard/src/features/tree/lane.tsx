import type { RunRow } from "@troupe/core";
import { isActive } from "../../lib/status.ts";

/** Of a bar, in pixels; the same figure stands in styles/tree.css. */
const leastPx = 3;

/** When a run was at work within its session: what went on side by side, and what waited for what, at a glance. */
export function Lane({ run, from, to }: { run: RunRow; from: number; to: number }) {
  const span = Math.max(to - from, 1);
  const start = part((Date.parse(run.startedAt) - from) / span);
  const end = isActive(run) ? 1 : part((Date.parse(run.completedAt ?? run.startedAt) - from) / span);
  return (
    <span className="lane" data-status={run.status} aria-hidden="true">
      <i style={{ left: `min(${start * 100}%, 100% - ${leastPx}px)`, width: `${Math.max(end - start, 0) * 100}%` }} />
    </span>
  );
}

function part(share: number): number {
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}
