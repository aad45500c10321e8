import type { AgentSummary } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { useId } from "react";
import { RouteLink } from "../../components/route-link.tsx";
import { AgentProblems } from "./agent-problems.tsx";
import { useAgents } from "./use-agents.ts";

/** Empty strings leave the choice to the daemon. */
export interface Choice {
  team: string;
  agent: string;
}

export const noChoice: Choice = { team: "", agent: "" };

/** Selects the team, and the agent that starts. Hidden until the agents are loaded. */
export function TeamAndAgent({ choice, setChoice }: { choice: Choice; setChoice(choice: Choice): void }) {
  const { agents, teams = [], problems } = useAgents();
  const hintId = useId();
  if (agents.length === 0) return null;
  const team = teams.find(({ name }) => name === choice.team);
  const entry = team && describeAgent({ agent: team.entry, team: team.name });
  return (
    <div className="composer-choice">
      {teams.length > 0 && (
        <select
          aria-label="Team"
          aria-describedby={hintId}
          value={choice.team}
          onChange={(event) => setChoice({ team: event.target.value, agent: "" })}
        >
          <option value="">Default team</option>
          {teams.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <select
        aria-label="Agent that starts"
        value={choice.agent}
        onChange={(event) => setChoice({ ...choice, agent: event.target.value })}
      >
        <option value="">{entry ? `${entry} (entry)` : "Default agent"}</option>
        {agents
          .filter((agent) => (agent.team ?? "") === choice.team)
          .map((each) => (
            <option key={each.id} value={each.id} disabled={each.disabled || each.unusable !== undefined}>
              {labelOf(each)}
            </option>
          ))}
      </select>
      <p id={hintId} className="hint" data-testid="team-description">
        {team?.description}
      </p>
      <RouteLink
        className="link edit-agents"
        to={{ view: "agents", ...(choice.agent === "" ? {} : { agent: choice.agent }) }}
        data-testid="edit-agents"
      >
        {choice.agent === "" ? "Edit agents" : "Edit this agent"}
      </RouteLink>
      {problems.length > 0 && <AgentProblems problems={problems} />}
    </div>
  );
}

function labelOf({ id, name, team, disabled, unusable }: AgentSummary): string {
  const agent = describeAgent({ agent: id, team });
  const label = agent === name || agent.endsWith(`/${name}`) ? agent : `${agent} (${name})`;
  if (disabled) return `${label}: disabled`;
  return unusable === undefined ? label : `${label}: unusable`;
}
