import type { ApprovalRow } from "@troupe/core";
import { useRef, useState } from "react";
import { whatBecame } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { useFocusAfter } from "./use-focus-after.ts";

/** Cards in the page at once: nobody reads more, and each has its controls. */
const cardsMax = 20;

/** A card for each question that waits, oldest first, and below them what became of the last one. */
export function ApprovalCards({ rows, placed }: { rows: readonly ApprovalRow[]; placed: boolean }) {
  const [more, setMore] = useState(1);
  const list = useRef<HTMLDivElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const said = useWhatBecame(rows);
  const shown = rows.slice(0, cardsMax * more);
  const onGone = useFocusAfter(
    shown.map(({ id }) => id),
    list,
    status,
  );
  return (
    <>
      <p ref={status} className="approvals-said" role="status" tabIndex={-1} data-testid="approvals-said">
        {said}
      </p>
      {shown.length > 0 && (
        <div ref={list} className="approval-cards">
          {shown.map((row) => (
            <ApprovalCard key={row.id} row={row} placed={placed} onGone={onGone} />
          ))}
        </div>
      )}
      {shown.length < rows.length && (
        <button type="button" onClick={() => setMore(more + 1)}>
          Show {Math.min(cardsMax, rows.length - shown.length)} more of {rows.length}
        </button>
      )}
    </>
  );
}

/** Rows that no longer wait were settled, here or elsewhere: the page says how. */
function useWhatBecame(rows: readonly ApprovalRow[]): string | null {
  const all = usePage((state) => state.approvals);
  const [before, setBefore] = useState(rows);
  const [said, setSaid] = useState<string | null>(null);
  if (before !== rows) {
    setBefore(rows);
    const words = whatBecame(before, all);
    if (words !== null) setSaid(words);
  }
  return said;
}
