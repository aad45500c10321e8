import type { ApprovalRow } from "@troupe/core";
import { glyphs } from "./status-badge.tsx";

const looks = {
  waiting: "waiting",
  approved: "completed",
  denied: "failed",
  withdrawn: "cancelled",
} as const satisfies Record<ApprovalRow["state"], string>;

/** An answer as glyph, word and colour. */
export function AnswerBadge({ state, word = state }: { state: ApprovalRow["state"]; word?: string }) {
  return (
    <span className="badge" data-kind={looks[state]}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[looks[state]]}
      </svg>
      {word}
    </span>
  );
}
