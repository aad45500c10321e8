import type { HostRow } from "@troupe/core";
import { useState } from "react";
import { HostBadge } from "../../components/badges.tsx";
import { ConfirmButton } from "../../components/buttons.tsx";
import { RoleIcon } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatAge, formatElapsed } from "../../lib/format.ts";
import { isOnline, shortHash } from "../../lib/hosts.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

interface Props {
  row: HostRow;
  /** The host serves this page, so the page does not offer to drain it. */
  isPageServer: boolean;
  conflicting: ReadonlySet<string>;
  onRequested(): void;
}

/** One host: status, agents, load and facts. */
export function HostItem({ row, isPageServer, conflicting, onRequested }: Props) {
  const now = useNow(true);
  const { host, role, status, agents, place, version, pid, startedAt, lastHeartbeatAt } = row;
  return (
    <li className="host" data-testid="host" data-host={host} data-state={status}>
      <div className="host-name">
        <HostBadge status={status} />
        <h3>
          <bdi>{host}</bdi>
        </h3>
        <span className="tag">{isPageServer ? `this ${role === "run" ? "troupe run" : "daemon"}` : role}</span>
      </div>
      <AgentChips agents={agents} conflicting={conflicting} />
      {isOnline(row) ? <LoadBar {...row} /> : <p className="soft load">other hosts take its runs</p>}
      <p className="host-facts">
        <span title="The disk of its workspaces">
          <span className="key">locality</span> <bdi>{place}</bdi>
        </span>
        <span title={`process ${pid}`}>
          <span className="key">version</span> <bdi>{version}</bdi>
        </span>
        {isOnline(row) && (
          <span>
            <span className="key">up</span> {formatElapsed(now - Date.parse(startedAt))}
          </span>
        )}
        <time dateTime={lastHeartbeatAt} data-testid="host-heartbeat">
          <span className="key">heartbeat</span> {formatAge(now - Date.parse(lastHeartbeatAt))}
        </time>
      </p>
      <div className="host-actions">
        {isOnline(row) && !isPageServer && <DrainButton row={row} onRequested={onRequested} />}
      </div>
    </li>
  );
}

/** Agents before "more". A daemon can serve many. */
const chipsMax = 6;

interface AgentChipsProps {
  agents: HostRow["agents"];
  /** Agents with different definitions on hosts. Their chip shows the hash. */
  conflicting: ReadonlySet<string>;
}

/** The agents of a host. */
function AgentChips({ agents, conflicting }: AgentChipsProps) {
  const [showsAll, setShowsAll] = useState(false);
  if (agents.length === 0) return <p className="soft">serves no agents</p>;
  const rest = agents.length - chipsMax;
  const shown = showsAll || rest <= 1 ? agents : agents.slice(0, chipsMax);
  return (
    <ul className="chips">
      {shown.map(({ id, hash }) => (
        <li key={id} title={`${id}, definition ${shortHash(hash)}`} data-testid="host-agent" data-agent={id}>
          <RoleIcon agent={id} />
          <bdi>{id}</bdi>
          {conflicting.has(id) && (
            <code title="Online hosts have different definitions of this agent">{shortHash(hash)}</code>
          )}
        </li>
      ))}
      {shown.length < agents.length && (
        <li className="chips-more">
          <button type="button" className="link" onClick={() => setShowsAll(true)}>
            {rest} more
          </button>
        </li>
      )}
    </ul>
  );
}

/** The used slots of a host. The text says the same as the bar. */
function LoadBar({ busy, capacity, runs }: Pick<HostRow, "busy" | "capacity" | "runs">) {
  const share = Math.min(1, busy / Math.max(1, capacity));
  // A run that waits for its child runs or for a person occupies no slot.
  const waiting = runs - busy;
  return (
    <div className="load" data-full={busy >= capacity}>
      <div className="load-track" aria-hidden="true">
        <i style={{ width: `${Math.round(share * 100)}%` }} />
      </div>
      <p>
        <span className="figure">
          {busy}/{capacity}
        </span>{" "}
        busy{waiting > 0 && `, ${waiting} waiting`}
      </p>
    </div>
  );
}

/** Drains a host. The row shows it as draining when its heartbeat says so. */
function DrainButton({ row, onRequested }: { row: HostRow; onRequested(): void }) {
  const { host } = row;
  const isDraining = row.status === "draining";
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [isRequested, setRequested] = useState(false);
  const drain = async (): Promise<void> => {
    if (await start("drain", () => api.drainHost(host))) setRequested(true);
    onRequested();
  };
  return (
    <>
      <ConfirmButton
        confirmLabel="Really drain?"
        busyLabel={isDraining ? "Draining…" : "Sending…"}
        busy={busy !== null || isDraining}
        disabled={isOffline}
        testId="drain-host"
        warning={`${host} takes no new runs, hands its runs to other hosts, and stops.`}
        onConfirm={() => void drain()}
      >
        {isRequested ? "Drain again" : "Drain"}
        <span className="visually-hidden"> {host}</span>
      </ConfirmButton>
      {isRequested && !isDraining && !problem && (
        <p className="soft" role="status">
          Drain requested…
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
