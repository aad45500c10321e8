import type { HostRow } from "@troupe/core";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { CopyButton } from "../../components/buttons.tsx";
import { Glyph } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { announceHosts, conflictingAgents, hostTotals, isPageServer, natsUrlOf, sortHosts } from "../../lib/hosts.ts";
import { navigate } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { HostItem } from "./host-item.tsx";

/** The processes that run agents, on this and other machines, with their status and load. */
export function HostsView() {
  const { hosts, problem, reload } = useHosts();
  const status = usePage((state) => state.status);
  const announcement = useHostAnnouncement(hosts);
  const rows = useMemo(() => sortHosts(hosts ?? []), [hosts]);
  const conflicting = useMemo(() => conflictingAgents(rows), [rows]);
  const isAlone = hosts !== null && rows.every((row) => isPageServer(row, status) || row.status === "gone");

  return (
    <main className="hosts-view" data-testid="hosts-view">
      <div className="view-head">
        <button type="button" className="icon-button back" aria-label="All sessions" onClick={() => navigate({})}>
          <Glyph name="back" />
        </button>
        <h2>Hosts</h2>
        {hosts !== null && <Totals rows={rows} />}
      </div>
      {problem && <ProblemNote problem={problem} />}
      {hosts === null && !problem && <p className="soft">Loading the hosts…</p>}
      {conflicting.size > 0 && (
        <p className="hosts-note" data-testid="conflicting-agents">
          Hosts have different definitions of {[...conflicting].join(", ")}: the host that takes a new run decides which
          one it follows.
        </p>
      )}
      {rows.length > 0 && (
        <ul className="hosts">
          {rows.map((row) => (
            <HostItem
              key={row.host}
              row={row}
              isPageServer={isPageServer(row, status)}
              conflicting={conflicting}
              onRequested={reload}
            />
          ))}
        </ul>
      )}
      {isAlone && <ConnectHint />}
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
    </main>
  );
}

function Totals({ rows }: { rows: readonly HostRow[] }) {
  const { online, busy, capacity } = hostTotals(rows);
  return (
    <p className="soft hosts-total" data-testid="hosts-total">
      {online} online, {busy} of {capacity} slots busy
    </p>
  );
}

/** Announces changed hosts to screen readers. */
function useHostAnnouncement(hosts: readonly HostRow[] | null): string {
  const previous = useRef<readonly HostRow[] | null>(null);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    const next = previous.current && hosts ? announceHosts(previous.current, hosts) : null;
    previous.current = hosts;
    if (next !== null) setAnnouncement(next);
  }, [hosts]);
  return announcement;
}

/** The interval of host heartbeats. */
const pollMs = 2_000;

interface Hosts {
  hosts: readonly HostRow[] | null;
  problem: ApiProblem | null;
  reload(): void;
}

/** Polls the hosts while the view is visible, because the stream does not contain them. */
function useHosts(): Hosts {
  const live = usePage((state) => state.connection === "live");
  const [loaded, setLoaded] = useState<Omit<Hosts, "reload">>({ hosts: null, problem: null });
  const lastRequest = useRef(0);
  const reload = useCallback((): void => {
    lastRequest.current += 1;
    const request = lastRequest.current;
    api.hosts().then(
      ({ hosts }) => request === lastRequest.current && setLoaded({ hosts, problem: null }),
      (thrown) => request === lastRequest.current && setLoaded(({ hosts }) => ({ hosts, problem: problemOf(thrown) })),
    );
  }, []);
  useEffect(() => {
    if (!live) return;
    const poll = (): void => {
      if (!document.hidden) reload();
    };
    poll();
    const timer = setInterval(poll, pollMs);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  }, [live, reload]);
  return { ...loaded, reload };
}

/** How to connect another machine. */
function ConnectHint() {
  const bus = usePage((state) => state.status?.bus ?? "");
  const server = natsUrlOf(bus);
  const isAlone = !bus.includes("://");
  return (
    <section className="connect" aria-labelledby="connect-title" data-testid="connect-hint">
      <h3 id="connect-title">Connect another machine</h3>
      {isAlone && (
        <>
          <p className="soft">This daemon runs everything in its own process. Start it with a NATS server instead:</p>
          <Command text={`troupe up --nats ${server}`} />
        </>
      )}
      <p className="soft">
        {isAlone ? "Then, on" : "On"} the other machine, with the agents that it has tools and files for:
      </p>
      <Command text={`troupe worker --agents coder,tester --nats ${server}`} />
      <p className="soft">It appears here within two seconds, and every run can delegate to its agents.</p>
    </section>
  );
}

function Command({ text }: { text: string }) {
  return (
    <p className="command">
      <code>{text}</code>
      <CopyButton text={() => text} label="Copy" />
    </p>
  );
}
