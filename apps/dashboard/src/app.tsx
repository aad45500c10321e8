import { useEffect, useState } from "react";
import { TokenForm } from "./features/access/token-form.tsx";
import { FinalStates } from "./features/header/final-states.tsx";
import { Header } from "./features/header/header.tsx";
import { LostBanner } from "./features/header/lost-banner.tsx";
import { SessionView } from "./features/sessions/session-view.tsx";
import { Sidebar } from "./features/sessions/sidebar.tsx";
import { Welcome } from "./features/sessions/welcome.tsx";
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
  const { session } = useSelection();
  // Kept here, so that what somebody is typing survives the first session's arrival.
  const [draft, setDraft] = useState("");

  if (sessions === null)
    return <Welcome state={problem ? "unreachable" : "loading"} draft={draft} setDraft={setDraft} />;
  if (sessions.length === 0 && session === null) return <Welcome state="empty" draft={draft} setDraft={setDraft} />;
  return (
    <div className="board" data-shows={session === null ? "list" : "session"}>
      <Sidebar sessions={sessions} selected={session} draft={draft} setDraft={setDraft} />
      <SessionView />
    </div>
  );
}

/** Opens what the address selects; where there is room for both list and tree, the newest session when it selects none. */
function useOpenSession(): void {
  const daemon = useDaemon();
  const wide = useMedia(wideQuery);
  const { session } = useSelection();
  const newest = usePage((state) => state.sessions?.[0]?.session ?? null);
  useEffect(() => daemon.open(session), [daemon, session]);
  useEffect(() => {
    if (wide && session === null && newest !== null) selectSession(newest, "replace");
  }, [wide, session, newest]);
}

/** What runs is worth seeing from another tab. */
function useTitle(): void {
  const running = usePage((state) => (state.sessions ?? []).filter((row) => row.status === "running").length);
  useEffect(() => {
    document.title = running > 0 ? `(${running} running) troupe` : "troupe";
  }, [running]);
}
