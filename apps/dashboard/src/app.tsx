import { useEffect, useState } from "react";
import { TokenForm } from "./features/access/token-form.tsx";
import { AgentsView } from "./features/agents/agents-view.tsx";
import { ApprovalsView } from "./features/approvals/approvals-view.tsx";
import { Announcements } from "./features/header/announcements.tsx";
import { Header, LostBanner, WarningBanner } from "./features/header/header.tsx";
import { HostsView } from "./features/hosts/hosts-view.tsx";
import { SessionView } from "./features/sessions/session-view.tsx";
import { Sidebar } from "./features/sessions/sidebar.tsx";
import { Welcome } from "./features/sessions/welcome.tsx";
import { waitingOf } from "./lib/approvals.ts";
import { navigate, useRoute } from "./lib/navigation.ts";
import { useDaemon, usePage } from "./lib/page-context.ts";
import type { View } from "./lib/route.ts";
import { storedOptions } from "./lib/session-options.ts";
import { useMedia, wideQuery } from "./lib/use-media.ts";

/** The page. It shows the token form to an unknown browser and the board to a known one. */
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
          <WarningBanner />
          <Board />
        </>
      )}
      <Announcements />
    </>
  );
}

function Board() {
  const sessions = usePage((state) => state.sessions);
  const problem = usePage((state) => state.problem);
  const { session, view } = useRoute();
  // The draft survives the change from the welcome view to the board.
  const [draft, setDraft] = useState("");
  const [options, setOptions] = useState(storedOptions);
  const composer = { draft, setDraft, options, setOptions };

  if (sessions === null) return <Welcome state={problem ? "unreachable" : "loading"} {...composer} />;
  if (sessions.length === 0 && session === null && view === null) return <Welcome state="empty" {...composer} />;
  return (
    <div className="board" data-shows={session !== null ? "session" : (view ?? "list")}>
      <Sidebar sessions={sessions} selected={session} {...composer} />
      {view === null ? <SessionView /> : <OtherView view={view} />}
    </div>
  );
}

function OtherView({ view }: { view: View }) {
  if (view === "approvals") return <ApprovalsView />;
  return view === "hosts" ? <HostsView /> : <AgentsView />;
}

/** Opens the session in the URL. A wide page opens the newest session if the URL has none. */
function useOpenSession(): void {
  const daemon = useDaemon();
  const isWide = useMedia(wideQuery);
  const { session, view } = useRoute();
  const newest = usePage((state) => state.sessions?.[0]?.session ?? null);
  useEffect(() => daemon.open(session), [daemon, session]);
  useEffect(() => {
    if (isWide && session === null && view === null && newest !== null) navigate({ session: newest }, "replace");
  }, [isWide, session, view, newest]);
}

/** The title shows running sessions and waiting approvals to users of other tabs. */
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
