import type { SessionRow } from "@troupe/core";
import { type MouseEvent, memo } from "react";
import { ApprovalsTag } from "../../components/approvals-tag.tsx";
import { DemoTag } from "../../components/demo-tag.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { useNow } from "../../lib/clock.ts";
import { firstLine, formatAge, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { addressOf, selectSession } from "../../lib/selection.ts";
import { askedAt, isActive } from "../../lib/status.ts";

/** One session of the list: a link, so that it can be opened in another tab. */
export const SessionItem = memo(function SessionItem({ row, selected }: { row: SessionRow; selected: boolean }) {
  const now = useNow(true);
  const open = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    selectSession(row.session);
  };
  return (
    <li>
      <a
        className="session-item"
        href={addressOf({ session: row.session, run: null, view: null })}
        aria-current={selected ? "true" : undefined}
        data-testid="session-item"
        data-session={row.session}
        data-status={row.status}
        onClick={open}
      >
        <span className="session-task">{firstLine(row.task)}</span>
        <span className="session-facts">
          <StatusBadge row={row} />
          <span className="figure">{took(row, now)}</span>
          {row.approvalsWaiting > 0 && (
            <span className="end">
              <ApprovalsTag waiting={row.approvalsWaiting} />
            </span>
          )}
          {!isActive(row) && <span className="figure end">{formatAge(now - askedAt(row))}</span>}
        </span>
        <span className="session-facts">
          <span className="figure">
            {row.runsActive > 0 ? `${formatCount(row.runsActive)} of ${countOf(row.runs)} active` : countOf(row.runs)}
          </span>
          {row.demo && (
            <span className="end">
              <DemoTag short />
            </span>
          )}
        </span>
      </a>
    </li>
  );
});

function countOf(runs: number): string {
  return `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}`;
}

function took(row: SessionRow, now: number): string {
  if (isActive(row)) return formatElapsed(now - askedAt(row));
  return row.durationMs === null ? "" : formatDuration(row.durationMs);
}
