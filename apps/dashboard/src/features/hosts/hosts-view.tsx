import type { HostRow } from "@troupe/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { Glyph } from "../../components/glyphs.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { announceHosts, disputedAgents, hostTotals, inOrder, isOwn } from "../../lib/hosts.ts";
import { usePage } from "../../lib/page-context.ts";
import { selectSession } from "../../lib/selection.ts";
import { ConnectHint } from "./connect-hint.tsx";
import { HostItem } from "./host-item.tsx";
import { useHosts } from "./use-hosts.ts";

/** The processes that run agents, here and on other machines: what they serve, how busy they are, whether they live. */
export function HostsView() {
  const { hosts, problem, reload } = useHosts();
  const status = usePage((state) => state.status);
  const said = useHeard(hosts);
  const rows = useMemo(() => inOrder(hosts ?? []), [hosts]);
  const disputed = useMemo(() => disputedAgents(rows), [rows]);
  const isAlone = hosts !== null && rows.every((row) => isOwn(row, status) || row.status === "gone");

  return (
    <main className="hosts-view" data-testid="hosts-view">
      <div className="view-head">
        <button
          type="button"
          className="icon-button back"
          aria-label="All sessions"
          onClick={() => selectSession(null)}
        >
          <Glyph name="back" />
        </button>
        <h2>Hosts</h2>
        {hosts !== null && <Totals rows={rows} />}
      </div>
      {problem && <ProblemNote problem={problem} />}
      {hosts === null && !problem && <p className="soft">Loading the hosts…</p>}
      {disputed.size > 0 && (
        <p className="hosts-note" data-testid="disputed-agents">
          Hosts have different definitions of {[...disputed].join(", ")}: which one a new run follows depends on who
          takes it.
        </p>
      )}
      {rows.length > 0 && (
        <ul className="hosts">
          {rows.map((row) => (
            <HostItem key={row.host} row={row} own={isOwn(row, status)} disputed={disputed} onAsked={reload} />
          ))}
        </ul>
      )}
      {isAlone && <ConnectHint />}
      <p className="heard-only" role="status">
        {said}
      </p>
    </main>
  );
}

function Totals({ rows }: { rows: readonly HostRow[] }) {
  const { there, busy, capacity } = hostTotals(rows);
  return (
    <p className="soft hosts-total" data-testid="hosts-total">
      {there} there, {busy} of {capacity} places busy
    </p>
  );
}

/** Who came and who went, for those who hear the page. */
function useHeard(hosts: readonly HostRow[] | null): string {
  const before = useRef<readonly HostRow[] | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    const words = before.current && hosts ? announceHosts(before.current, hosts) : null;
    before.current = hosts;
    if (words !== null) setSaid(words);
  }, [hosts]);
  return said;
}
