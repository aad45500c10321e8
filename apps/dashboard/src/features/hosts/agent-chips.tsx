import type { HostRow } from "@troupe/core";
import { useState } from "react";
import { RoleIcon } from "../../components/role-icon.tsx";
import { shortHash } from "../../lib/hosts.ts";

/** Shown at once; a daemon serves a whole company. */
const chipsMax = 6;

interface Props {
  agents: HostRow["agents"];
  /** Of these, hosts have different definitions: the hash is shown. */
  disputed: ReadonlySet<string>;
}

/** Whom a host serves. */
export function AgentChips({ agents, disputed }: Props) {
  const [all, setAll] = useState(false);
  if (agents.length === 0) return <p className="soft">serves nobody</p>;
  const rest = agents.length - chipsMax;
  const shown = all || rest <= 1 ? agents : agents.slice(0, chipsMax);
  return (
    <ul className="chips">
      {shown.map(({ id, hash }) => (
        <li key={id} title={`${id}, definition ${shortHash(hash)}`} data-testid="host-agent" data-agent={id}>
          <RoleIcon agent={id} />
          <bdi>{id}</bdi>
          {disputed.has(id) && (
            <code title="Hosts that are there have different definitions of it">{shortHash(hash)}</code>
          )}
        </li>
      ))}
      {shown.length < agents.length && (
        <li className="chips-more">
          <button type="button" className="link" onClick={() => setAll(true)}>
            {rest} more
          </button>
        </li>
      )}
    </ul>
  );
}
