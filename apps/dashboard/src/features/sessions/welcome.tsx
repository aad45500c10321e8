import { ProblemNote } from "../../components/text-blocks.tsx";
import { useDaemon, usePage } from "../../lib/page-context.ts";
import { Composer, type Draft } from "./composer.tsx";

/** The page without sessions: loading, no connection, or none yet. */
export function Welcome({ state, ...draft }: { state: "loading" | "unreachable" | "empty" } & Draft) {
  return (
    <main className="centered">
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
      <p className="soft">The page reconnects by itself.</p>
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
        Start a task and watch the agents work here: their delegations, steps and results.
        {demo && " The demo takes about 20 seconds, calls no model and writes real files."}
      </p>
      <Composer {...draft} />
      <p className="hint">
        Sessions from a terminal, started with <code>troupe run "a task"</code>, appear here as well.
      </p>
    </div>
  );
}
