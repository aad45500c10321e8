import type { MouseEvent } from "react";
import { waitingOf } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { addressOf, selectApprovals, useSelection } from "../../lib/selection.ts";

/** On every page: how many questions wait for a person, and the way to them. */
export function ApprovalsLink() {
  const waiting = usePage((state) => waitingOf(state.approvals).length);
  const { view } = useSelection();
  const open = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    selectApprovals();
  };
  return (
    <a
      className="approvals-link"
      href={addressOf({ session: null, run: null, view: "approvals" })}
      aria-current={view === "approvals" ? "page" : undefined}
      data-testid="approvals-link"
      data-waiting={waiting}
      onClick={open}
    >
      Approvals
      {waiting > 0 && (
        <>
          {" "}
          <b>{waiting}</b>
          <span className="heard-only"> waiting</span>
        </>
      )}
    </a>
  );
}
