import { useMemo, useState } from "react";
import { Glyph } from "../../components/icons.tsx";
import { waitingOf } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { ApprovalCards } from "./approval-cards.tsx";

/** The waiting approvals of a session. After the last one it stays, to show the outcome. */
export function SessionApprovals({ session }: { session: string }) {
  const approvals = usePage((state) => state.approvals);
  const rows = useMemo(() => waitingOf(approvals, session), [approvals, session]);
  const [isShown, setShown] = useState(false);
  const [isFolded, setFolded] = useState(false);
  if (rows.length > 0 && !isShown) setShown(true);
  if (!isShown) return null;
  return (
    <section
      className="session-approvals"
      aria-labelledby="session-approvals-title"
      data-testid="session-approvals"
      data-waiting={rows.length}
    >
      <div className="approvals-head">
        <h2 id="session-approvals-title">
          {rows.length === 0 ? "No approvals are waiting" : `Waiting for approval (${rows.length})`}
        </h2>
        {rows.length > 0 ? (
          <button type="button" className="quiet" aria-expanded={!isFolded} onClick={() => setFolded(!isFolded)}>
            {isFolded ? "Show" : "Hide"}
            <span className="visually-hidden"> the approvals</span>
          </button>
        ) : (
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => setShown(false)}>
            <Glyph name="close" />
          </button>
        )}
      </div>
      <div className="approvals-body" hidden={isFolded}>
        <ApprovalCards rows={rows} showsSession={false} />
      </div>
    </section>
  );
}
