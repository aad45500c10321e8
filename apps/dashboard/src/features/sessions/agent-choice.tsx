import type { AgentSummary } from "@troupe/core/internal";
import { useEffect, useState } from "react";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

/** Who starts: the daemon's default unless chosen. Absent while the agents are unknown: nothing depends on it. */
export function AgentChoice({ agent, setAgent }: { agent: string; setAgent(agent: string): void }) {
  const live = usePage((state) => state.connection === "live");
  const [agents, setAgents] = useState<readonly AgentSummary[]>([]);
  useEffect(() => {
    let current = true;
    if (live) {
      api.agents().then(
        (list) => current && setAgents(list.agents),
        () => {},
      );
    }
    return () => {
      current = false;
    };
  }, [live]);

  if (agents.length === 0) return null;
  return (
    <select aria-label="Agent that starts" value={agent} onChange={(event) => setAgent(event.target.value)}>
      <option value="">Default agent</option>
      {agents.map(({ id, name }) => (
        <option key={id} value={id}>
          {id === name ? id : `${id} (${name})`}
        </option>
      ))}
    </select>
  );
}
