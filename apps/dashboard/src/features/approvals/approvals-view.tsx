import { useEffect, useMemo, useState } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { type ApiProblem, problemOf } from "../../lib/api.ts";
import { settledOf, waitingOf } from "../../lib/approvals.ts";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { selectSession } from "../../lib/selection.ts";
import { ApprovalCards } from "./approval-cards.tsx";
import { RuleList } from "./rule-list.tsx";
import { SettledList } from "./settled-list.tsx";

/** What waits for a person, what was answered, and what needs no answer any more: over all sessions. */
export function ApprovalsView() {
  const approvals = usePage((state) => state.approvals);
  const waiting = useMemo(() => waitingOf(approvals), [approvals]);
  const settled = useMemo(() => settledOf(approvals), [approvals]);
  const { loaded, problem } = useAllApprovals();

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
        {approvals === null && <p className="soft">Loading the approvals…</p>}
        {approvals !== null && waiting.length === 0 && (
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
        {settled.length === 0 && !problem && (
          <p className="soft">{loaded ? "Nobody has answered anything yet." : "Loading what was answered…"}</p>
        )}
        <SettledList rows={settled} />
      </section>
    </main>
  );
}

/** Those that were answered are loaded once they are wanted, and again when the daemon is back; the stream goes on. */
function useAllApprovals(): { loaded: boolean; problem: ApiProblem | null } {
  const daemon = useDaemon();
  const live = usePage((state) => state.connection === "live");
  const [loaded, setLoaded] = useState(false);
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
  return { loaded, problem };
}
