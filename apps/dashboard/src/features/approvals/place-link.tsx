import type { ApprovalRow } from "@troupe/core";
import type { MouseEvent } from "react";
import { firstLine } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { addressOf, selectPlace } from "../../lib/selection.ts";

/** Leads to the run that asks. */
export function PlaceLink({ row, placed }: { row: Pick<ApprovalRow, "session" | "run">; placed: boolean }) {
  const task = usePage((state) => state.sessions?.find(({ session }) => session === row.session)?.task);
  const open = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    selectPlace(row.session, row.run);
  };
  const words = placed ? firstLine(task ?? "its session", 80) : "Show the run";
  return (
    <a className="link" href={addressOf({ session: row.session, run: row.run, view: null })} onClick={open}>
      {words}
    </a>
  );
}
