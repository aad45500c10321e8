import type { HostRow } from "@troupe/core";
import type { ReactNode } from "react";

/** Each a shape of its own: colour is never the only difference. */
const glyphs: Record<HostRow["status"], ReactNode> = {
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

/** How a host is, as glyph, word and colour. */
export function HostBadge({ status }: { status: HostRow["status"] }) {
  return (
    <span className="badge" data-host-status={status}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[status]}
      </svg>
      {status}
    </span>
  );
}
