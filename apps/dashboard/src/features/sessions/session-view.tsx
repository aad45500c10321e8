import type { SessionRow } from "@troupe/core";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { navigate, useRoute } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import type { OpenSession } from "../../lib/store.ts";
import { SessionApprovals } from "../approvals/session-approvals.tsx";
import { RunPanel } from "../run/run-panel.tsx";
import { ContinueForm } from "./continue-form.tsx";
import { SessionHead } from "./session-head.tsx";
import { SessionRuns } from "./session-runs.tsx";

/** The selected session: its head, its tree, and the selected run beside it. */
export function SessionView() {
  const open = usePage((state) => state.open);
  const session = usePage((state) => state.sessions?.find((row) => row.session === state.open?.id) ?? null);
  const { run } = useRoute();
  if (open === null) return <main className="session-view" />;
  const selected = run === null ? undefined : open.runs.get(run);
  return (
    <>
      {/* The key resets all local state when the session changes. */}
      <main key={open.id} className="session-view">
        {session && <SessionHead session={session} runs={open.runs} />}
        <SessionApprovals session={open.id} />
        <Content open={open} session={session} />
        {session && !isActive(session) && (
          <ContinueForm key={session.rootRun} session={session.session} rootRun={session.rootRun} />
        )}
      </main>
      {selected && session && <RunPanel key={selected.run} run={selected} session={session} runs={open.runs} />}
    </>
  );
}

function Content({ open, session }: { open: OpenSession; session: SessionRow | null }) {
  if (open.state === "missing") return <MissingSession id={open.id} />;
  if (open.runs.size > 0 && session) return <SessionRuns session={session} runs={open.runs} />;
  if (open.problem) {
    return (
      <div className="centered">
        <div className="card">
          <ProblemNote problem={open.problem} />
        </div>
      </div>
    );
  }
  return (
    <div className="centered">
      <p className="soft" role="status">
        {open.state === "loading" ? "Loading the tree…" : "Waiting for the first run…"}
      </p>
    </div>
  );
}

function MissingSession({ id }: { id: string }) {
  return (
    <div className="centered">
      <div className="card">
        <h2>No such session</h2>
        <p className="soft">
          The record of this daemon has no session <code>{id}</code>. It may belong to another home.
        </p>
        <button type="button" onClick={() => navigate({}, "replace")}>
          Show the sessions
        </button>
      </div>
    </div>
  );
}
