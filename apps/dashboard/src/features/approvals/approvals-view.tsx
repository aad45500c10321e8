import { useEffect, useMemo } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { waitingOf } from "../../lib/approvals.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { selectSession } from "../../lib/selection.ts";
import { useAction } from "../../lib/use-action.ts";
import { ApprovalCards } from "./approval-cards.tsx";
import { RuleList } from "./rule-list.tsx";
import { SettledList } from "./settled-list.tsx";

/** What waits for a person, what was answered, and what needs no answer any more: over all sessions. */
export function ApprovalsView() {
  const daemon = useDaemon();
  const approvals = usePage((state) => state.approvals);
  const waiting = useMemo(() => waitingOf(approvals), [approvals]);
  const settled = useMemo(() => (approvals ?? []).filter(({ state }) => state !== "waiting").reverse(), [approvals]);
  const { start, problem } = useAction();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; the stream brings the rest
  useEffect(() => void start("load", () => daemon.loadAllApprovals()), []);

  return (
    <main className="approvals-view" data-testid="approvals-view">
      <div className="view-head">
        <button
          type="button"
          className="icon-button back"
          aria-label="All sessions"
          onClick={() => selectSession(null)}
        >
          <Glyph name="back" />
        </button>
        <h2>Approvals</h2>
      </div>
      <section aria-labelledby="waiting-title" data-testid="approvals-waiting">
        <h3 id="waiting-title" className="section-title">
          Waiting for an answer <span className="soft">{waiting.length}</span>
        </h3>
        {waiting.length === 0 && (
          <p className="soft">
            Nothing waits. A tool call that this machine's policy wants a person to allow appears here, and in its
            session, with all its arguments.
          </p>
        )}
        <ApprovalCards rows={waiting} placed />
      </section>
      <section aria-labelledby="rules-title" data-testid="approval-rules">
        <h3 id="rules-title" className="section-title">
          Rules of this machine
        </h3>
        <RuleList />
      </section>
      <section aria-labelledby="settled-title" data-testid="approvals-settled">
        <h3 id="settled-title" className="section-title">
          Answered <span className="soft">{settled.length}</span>
        </h3>
        {problem && <ProblemNote problem={problem} />}
        <SettledList rows={settled} />
      </section>
    </main>
  );
}
