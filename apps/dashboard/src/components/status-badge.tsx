import type { RecordStatus } from "@troupe/core";
import type { ReactNode } from "react";
import { statusWord } from "../lib/status.ts";

/** Each a shape of its own: colour is never the only difference. */
const glyphs: Record<RecordStatus, ReactNode> = {
  pending: <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 2.2" />,
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

/** A status as glyph, word and colour. */
export function StatusBadge({ row }: { row: { status: RecordStatus; exactStatus?: string } }) {
  return (
    <span className="badge" data-status={row.status}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[row.status]}
      </svg>
      {statusWord(row)}
    </span>
  );
}
