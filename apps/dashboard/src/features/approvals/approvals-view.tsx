import { useEffect, useMemo, useState } from "react";
import { Glyph } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, problemOf } from "../../lib/api.ts";
import { settledOf, waitingOf } from "../../lib/approvals.ts";
import { navigate } from "../../lib/navigation.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { ApprovalCards } from "./approval-cards.tsx";
import { RuleList } from "./rule-list.tsx";
import { SettledList } from "./settled-list.tsx";

/** The approvals of all sessions, and the rules of this machine. */
export function ApprovalsView() {
  const approvals = usePage((state) => state.approvals);
  const waiting = useMemo(() => waitingOf(approvals), [approvals]);
  const settled = useMemo(() => settledOf(approvals), [approvals]);
  const { isLoaded, problem } = useAllApprovals();

  return (
    <main className="approvals-view" data-testid="approvals-view">
      <div className="view-head">
        <button type="button" className="icon-button back" aria-label="All sessions" onClick={() => navigate({})}>
          <Glyph name="back" />
        </button>
        <h2>Approvals</h2>
      </div>
      <section aria-labelledby="waiting-title" data-testid="approvals-waiting">
        <h3 id="waiting-title" className="section-title">
          Waiting for an answer <span className="soft">{waiting.length}</span>
        </h3>
        {approvals === null && <p className="soft">Loading the approvals…</p>}
        {approvals !== null && waiting.length === 0 && (
          <p className="soft">
            No approvals are waiting. A tool call that needs approval by the policy of this machine appears here and in
            its session, with all its arguments.
          </p>
        )}
        <ApprovalCards rows={waiting} showsSession />
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
        {settled.length === 0 && !problem && (
          <p className="soft">
            {isLoaded ? "No approvals have been answered yet." : "Loading the answered approvals…"}
          </p>
        )}
        <SettledList rows={settled} />
      </section>
    </main>
  );
}

/** Loads the answered approvals for this view, and again after a reconnect. The stream updates them. */
function useAllApprovals(): { isLoaded: boolean; problem: ApiProblem | null } {
  const daemon = useDaemon();
  const live = usePage((state) => state.connection === "live");
  const [isLoaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useEffect(() => {
    if (!live) return;
    daemon.loadAllApprovals().then(
      () => {
        setLoaded(true);
        setProblem(null);
      },
      (thrown) => setProblem(problemOf(thrown)),
    );
  }, [daemon, live]);
  return { isLoaded, problem };
}
