import type { AgentList, AgentSummary } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { OptionField, type OptionProps } from "./option-field.tsx";

type Props = OptionProps & { list: AgentList };

/** Selects the team that receives the task. Hidden without teams. */
export function TeamField({ options, problems, onChange, list }: Props) {
  const { teams = [] } = list;
  const team = teams.find(({ name }) => name === options.team);
  if (teams.length === 0 && options.team === "") return null;
  return (
    <OptionField label="Team" problem={problems.team} hint={team?.description}>
      {(field) => (
        <select {...field} value={options.team} onChange={(event) => onChange({ team: event.target.value, agent: "" })}>
          <option value="">Default team</option>
          {options.team !== "" && !team && <option value={options.team}>{options.team}: not found</option>}
          {teams.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </OptionField>
  );
}

/** Selects the agent that starts: an agent of the team, or one without a team. */
export function AgentField({ options, problems, onChange, list }: Props) {
  const team = list.teams?.find(({ name }) => name === options.team);
  const entry = team && describeAgent({ agent: team.entry, team: team.name });
  const agents = list.agents.filter((agent) => (agent.team ?? "") === options.team);
  const isKnown = agents.some(({ id }) => id === options.agent);
  return (
    <OptionField label="Agent that starts" problem={problems.agent}>
      {(field) => (
        <select {...field} value={options.agent} onChange={(event) => onChange({ agent: event.target.value })}>
          <option value="">{entry ? `${entry} (entry)` : "Default agent"}</option>
          {options.agent !== "" && !isKnown && <option value={options.agent}>{options.agent}: not found</option>}
          {agents.map((each) => (
            <option key={each.id} value={each.id} disabled={each.disabled || each.unusable !== undefined}>
              {labelOf(each)}
            </option>
          ))}
        </select>
      )}
    </OptionField>
  );
}

function labelOf({ id, name, team, disabled, unusable }: AgentSummary): string {
  const agent = describeAgent({ agent: id, team });
  const label = agent === name || agent.endsWith(`/${name}`) ? agent : `${agent} (${name})`;
  if (disabled) return `${label}: disabled`;
  return unusable === undefined ? label : `${label}: unusable`;
}
