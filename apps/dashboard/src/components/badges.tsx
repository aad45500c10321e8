import type { ApprovalRow, HostRow } from "@troupe/core";
import type { ReactNode } from "react";
import { type StatusFields, type StatusKind, statusKind, statusText } from "../lib/status.ts";

/** Each status has its own shape, because colour must not be the only difference. */
const glyphs: Record<StatusKind, ReactNode> = {
  pending: <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 2.2" />,
  queued: <path d="M2.75 4h6.5M2.75 8h10.5M2.75 12h10.5M12 2.25v3.5m-1.75-1.75h3.5" />,
  waiting: <path d="M5.25 5.75A2.75 2.75 0 1 1 9 8.3c-.7.3-1 .75-1 1.45M8 12.75v.1" />,
  paused: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  parked: <path d="M3 12.5h10M8 2.750v6.500m-3-3 3 3 3-3" />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.25" opacity="0.3" />
      <path className="spin" d="M8 2.75A5.25 5.25 0 0 1 13.25 8" />
    </>
  ),
  completed: <path d="m3 8.5 3.4 3.4L13 4.6" />,
  failed: <path d="m4 4 8 8m0-8-8 8" />,
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="m4.4 11.6 7.2-7.2" />
    </>
  ),
  timeout: <path d="M4 2.5h8M4 13.5h8M5 2.5c0 3 3 3.5 3 5.5s-3 2.5-3 5.5m6-11c0 3-3 3.5-3 5.5s3 2.5 3 5.5" />,
};

/** The status of a run or session as glyph, text and colour. */
export function StatusBadge({ row }: { row: StatusFields }) {
  const kind = statusKind(row);
  return (
    <span className="badge" data-status={row.status} data-kind={kind}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[kind]}
      </svg>
      {statusText(row)}
    </span>
  );
}

/** An answer looks like the run status with the same meaning. */
const answerKinds = {
  waiting: "waiting",
  approved: "completed",
  denied: "failed",
  withdrawn: "cancelled",
} as const satisfies Record<ApprovalRow["state"], string>;

/** The state of an approval as glyph, text and colour. */
export function AnswerBadge({ state, text = state }: { state: ApprovalRow["state"]; text?: string }) {
  return (
    <span className="badge" data-kind={answerKinds[state]}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[answerKinds[state]]}
      </svg>
      {text}
    </span>
  );
}

/** Each status has its own shape, as above. */
const hostGlyphs: Record<HostRow["status"], ReactNode> = {
  alive: (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <circle cx="8" cy="8" r="1.6" fill="currentColor" />
    </>
  ),
  draining: <path d="M3 13h10M8 2.5v7m-3-3 3 3 3-3" />,
  gone: (
    <>
      <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 2.2" />
      <path d="m6 6 4 4m0-4-4 4" />
    </>
  ),
};

/** The status of a host as glyph, text and colour. */
export function HostBadge({ status }: { status: HostRow["status"] }) {
  return (
    <span className="badge" data-host-status={status}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {hostGlyphs[status]}
      </svg>
      {status}
    </span>
  );
}
