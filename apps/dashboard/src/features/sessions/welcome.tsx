import { ProblemNote } from "../../components/problem-note.tsx";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { Composer, type Draft } from "./composer.tsx";

/** The page without a session to show: still loading, nobody there, or none yet. */
export function Welcome({ state, ...draft }: { state: "loading" | "unreachable" | "empty" } & Draft) {
  return (
    <main className="lonely">
      {state === "loading" && (
        <p className="soft" role="status">
          Loading sessions…
        </p>
      )}
      {state === "unreachable" && <Unreachable />}
      {state === "empty" && <Empty {...draft} />}
    </main>
  );
}

function Unreachable() {
  const daemon = useDaemon();
  const problem = usePage((page) => page.problem);
  return (
    <div className="card">
      <h2>No connection to the daemon</h2>
      {problem && <ProblemNote problem={problem} />}
      <p className="soft">This page tries again by itself.</p>
      <button type="button" onClick={() => daemon.retry()}>
        Try now
      </button>
    </div>
  );
}

function Empty(draft: Draft) {
  const demo = usePage((page) => page.status?.demo ?? false);
  return (
    <div className="card">
      <h2>No sessions yet</h2>
      <p className="soft">
        A session is one task and all that follows from it: the agent that takes it, whom it delegates to, and what
        comes back. You watch it here while it happens, whether it was started below or with <code>troupe run "…"</code>
        {demo && " No model is configured: until one is, sessions are played from a script."}
      </p>
      <Composer {...draft} />
    </div>
  );
}
