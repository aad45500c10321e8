import type { SessionRow } from "@troupe/core";
import { type KeyboardEvent, memo } from "react";
import { StatusBadge } from "../../components/badges.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { ApprovalsTag, DemoTag } from "../../components/tags.tsx";
import { useNow } from "../../lib/clock.ts";
import { firstLine, formatAge, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { isActive, turnStartOf } from "../../lib/status.ts";
import { Composer, type Draft } from "./composer.tsx";

/** The form that starts a session, and all sessions, newest first. */
export function Sidebar({
  sessions,
  selected,
  ...draft
}: { sessions: readonly SessionRow[]; selected: string | null } & Draft) {
  return (
    <nav className="sidebar" aria-label="Sessions">
      <Composer {...draft} />
      <h2 className="list-title">
        Sessions <span className="soft">{sessions.length}</span>
      </h2>
      <ul className="session-list" onKeyDown={moveFocus}>
        {sessions.map((row) => (
          <SessionItem key={row.session} row={row} selected={row.session === selected} />
        ))}
      </ul>
    </nav>
  );
}

function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll("a")];
  links[links.findIndex((link) => link.matches(":focus")) + step]?.focus();
  event.preventDefault();
}

/** One session of the list. It is a link, so that users can open it in another tab. */
const SessionItem = memo(function SessionItem({ row, selected }: { row: SessionRow; selected: boolean }) {
  const now = useNow(true);
  return (
    <li>
      <RouteLink
        className="session-item"
        to={{ session: row.session }}
        aria-current={selected ? "true" : undefined}
        data-testid="session-item"
        data-session={row.session}
        data-status={row.status}
      >
        <span className="session-task">{firstLine(row.task)}</span>
        <span className="session-facts">
          <StatusBadge row={row} />
          <span className="figure">{durationText(row, now)}</span>
          {row.approvalsWaiting > 0 && (
            <span className="end">
              <ApprovalsTag waiting={row.approvalsWaiting} />
            </span>
          )}
          {!isActive(row) && <span className="figure end">{formatAge(now - turnStartOf(row))}</span>}
        </span>
        <span className="session-facts">
          <span className="figure">
            {row.runsActive > 0 ? `${formatCount(row.runsActive)} of ${runCount(row.runs)} active` : runCount(row.runs)}
          </span>
          {row.demo && (
            <span className="end">
              <DemoTag session={row} isShort />
            </span>
          )}
        </span>
      </RouteLink>
    </li>
  );
});

function runCount(runs: number): string {
  return `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}`;
}

function durationText(row: SessionRow, now: number): string {
  if (isActive(row)) return formatElapsed(now - turnStartOf(row));
  return row.durationMs === null ? "" : formatDuration(row.durationMs);
}
