import type { HostRow } from "@troupe/core";
import { useNow } from "../../lib/clock.ts";
import { formatAge, formatElapsed } from "../../lib/format.ts";
import { isThere } from "../../lib/hosts.ts";
import { AgentChips } from "./agent-chips.tsx";
import { DrainButton } from "./drain-button.tsx";
import { HostBadge } from "./host-badge.tsx";
import { LoadBar } from "./load-bar.tsx";

interface Props {
  row: HostRow;
  /** Serves this page: it is stopped where it was started. */
  own: boolean;
  disputed: ReadonlySet<string>;
  onAsked(): void;
}

/** One process that runs agents. */
export function HostItem({ row, own, disputed, onAsked }: Props) {
  const now = useNow(true);
  const { host, role, status, agents, place, version, pid, startedAt, lastHeartbeatAt } = row;
  return (
    <li className="host" data-testid="host" data-host={host} data-state={status}>
      <div className="host-name">
        <HostBadge status={status} />
        <h3>
          <bdi>{host}</bdi>
        </h3>
        <span className="tag">{own ? `this ${role === "run" ? "troupe run" : "daemon"}` : role}</span>
      </div>
      <AgentChips agents={agents} disputed={disputed} />
      {isThere(row) ? <LoadBar {...row} /> : <p className="soft load">its runs are for others</p>}
      <p className="host-facts">
        <span title="The disk that its workspaces are on">
          <span className="key">place</span> <bdi>{place}</bdi>
        </span>
        <span title={`process ${pid}`}>
          <span className="key">version</span> <bdi>{version}</bdi>
        </span>
        {isThere(row) && (
          <span>
            <span className="key">up</span> {formatElapsed(now - Date.parse(startedAt))}
          </span>
        )}
        <time dateTime={lastHeartbeatAt} data-testid="host-heard">
          <span className="key">heard</span> {formatAge(now - Date.parse(lastHeartbeatAt))}
        </time>
      </p>
      <div className="host-actions">{isThere(row) && !own && <DrainButton row={row} onAsked={onAsked} />}</div>
    </li>
  );
}
