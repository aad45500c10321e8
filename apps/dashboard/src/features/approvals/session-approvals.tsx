import { useMemo, useState } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { waitingOf } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { ApprovalCards } from "./approval-cards.tsx";

/** What waits for a person in one session. Once there was something, it stays to say what became of it. */
export function SessionApprovals({ session }: { session: string }) {
  const approvals = usePage((state) => state.approvals);
  const rows = useMemo(() => waitingOf(approvals, session), [approvals, session]);
  const [seen, setSeen] = useState(false);
  const [folded, setFolded] = useState(false);
  if (rows.length > 0 && !seen) setSeen(true);
  if (!seen) return null;
  return (
    <section
      className="session-approvals"
      aria-labelledby="session-approvals-title"
      data-testid="session-approvals"
      data-waiting={rows.length}
    >
      <div className="approvals-head">
        <h2 id="session-approvals-title">
          {rows.length === 0 ? "Nothing waits for approval any more" : `Waiting for approval (${rows.length})`}
        </h2>
        {rows.length > 0 ? (
          <button type="button" className="quiet" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
            {folded ? "Show" : "Hide"}
            <span className="heard-only"> the approvals</span>
          </button>
        ) : (
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => setSeen(false)}>
            <Glyph name="close" />
          </button>
        )}
      </div>
      <div className="approvals-body" hidden={folded}>
        <ApprovalCards rows={rows} placed={false} />
      </div>
    </section>
  );
}
