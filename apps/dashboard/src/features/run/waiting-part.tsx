import type { RunRow } from "@troupe/core";
import { subjectOf } from "../../lib/approvals.ts";
import { usePage } from "../../lib/page-context.ts";
import { selectRun } from "../../lib/selection.ts";

/** Leads from a run to its questions, which stand above the tree; in one column the panel covers them. */
export function WaitingPart({ run }: { run: RunRow }) {
  const approvals = usePage((state) => state.approvals);
  const [first, ...others] = (approvals ?? []).filter((row) => row.run === run.run && row.state === "waiting");
  if (!first) return null;
  const answer = (): void => {
    const find = (): HTMLElement | null => document.querySelector(`[data-approval="${first.id}"] h3`);
    if (find()?.checkVisibility() !== true) selectRun(null);
    requestAnimationFrame(() => {
      find()?.focus();
      find()?.closest("article")?.scrollIntoView({ block: "nearest" });
    });
  };
  return (
    <section className="part" data-tone="waiting" data-testid="run-waits">
      <h3>Waits for approval</h3>
      <p>
        {subjectOf(first)}
        {others.length > 0 && ` and ${others.length} more`}{" "}
        <button type="button" className="link" onClick={answer}>
          Answer
        </button>
      </p>
    </section>
  );
}
