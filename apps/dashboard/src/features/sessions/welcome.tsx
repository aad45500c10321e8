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
        Give the troupe a task, and watch it here while it happens: who takes it, whom they delegate to, what each of
        them does, and what comes back.
        {demo && " The demo takes some 20 seconds, calls no model and writes real files."}
      </p>
      <Composer {...draft} />
      <p className="hint">
        Sessions that are started in a terminal, with <code>troupe run "a task"</code>, appear here by themselves.
      </p>
    </div>
  );
}
