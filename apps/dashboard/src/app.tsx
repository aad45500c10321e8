import { useEffect, useState } from "react";
import { TokenForm } from "./features/access/token-form.tsx";
import { ApprovalsView } from "./features/approvals/approvals-view.tsx";
import { FinalStates } from "./features/header/final-states.tsx";
import { Header } from "./features/header/header.tsx";
import { LostBanner } from "./features/header/lost-banner.tsx";
import { HostsView } from "./features/hosts/hosts-view.tsx";
import { SessionView } from "./features/sessions/session-view.tsx";
import { Sidebar } from "./features/sessions/sidebar.tsx";
import { Welcome } from "./features/sessions/welcome.tsx";
import { waitingOf } from "./lib/approvals.ts";
import { useDaemon, usePage } from "./lib/page-context.ts";
import { selectSession, useSelection } from "./lib/selection.ts";
import { useMedia, wideQuery } from "./lib/use-media.ts";

/** The page: decides which of its states is shown; everything else is below. */
export function App() {
  const connection = usePage((state) => state.connection);
  useOpenSession();
  useTitle();
  return (
    <>
      <Header />
      {connection === "unauthorised" ? (
        <TokenForm />
      ) : (
        <>
          <LostBanner />
          <Board />
        </>
      )}
      <FinalStates />
    </>
  );
}

function Board() {
  const sessions = usePage((state) => state.sessions);
  const problem = usePage((state) => state.problem);
  const { session, view } = useSelection();
  // Kept here, so that what somebody is typing survives the first session's arrival.
  const [draft, setDraft] = useState("");

  if (sessions === null)
    return <Welcome state={problem ? "unreachable" : "loading"} draft={draft} setDraft={setDraft} />;
  if (sessions.length === 0 && session === null && view === null)
    return <Welcome state="empty" draft={draft} setDraft={setDraft} />;
  return (
    <div className="board" data-shows={session !== null ? "session" : (view ?? "list")}>
      <Sidebar sessions={sessions} selected={session} draft={draft} setDraft={setDraft} />
      {view === "approvals" ? <ApprovalsView /> : view === "hosts" ? <HostsView /> : <SessionView />}
    </div>
  );
}

/** Opens what the address selects; where there is room for both list and tree, the newest session when it selects none. */
function useOpenSession(): void {
  const daemon = useDaemon();
  const wide = useMedia(wideQuery);
  const { session, view } = useSelection();
  const newest = usePage((state) => state.sessions?.[0]?.session ?? null);
  useEffect(() => daemon.open(session), [daemon, session]);
  useEffect(() => {
    if (wide && session === null && view === null && newest !== null) selectSession(newest, "replace");
  }, [wide, session, view, newest]);
}

/** What runs, and what waits for somebody, is worth seeing from another tab. */
function useTitle(): void {
  const running = usePage((state) => (state.sessions ?? []).filter((row) => row.status === "running").length);
  const waiting = usePage((state) => waitingOf(state.approvals).length);
  useEffect(() => {
    document.title = titleOf(running, waiting);
  }, [running, waiting]);
}

function titleOf(running: number, waiting: number): string {
  const parts = [waiting > 0 && `${waiting} to approve`, running > 0 && `${running} running`].filter(Boolean);
  return parts.length > 0 ? `(${parts.join(", ")}) troupe` : "troupe";
}
