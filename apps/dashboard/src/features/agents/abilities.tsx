import type { AgentAbility, AgentReach, ToolChoice } from "@troupe/core/internal";
import type { ReactNode } from "react";
import { roleIcons } from "../../components/icons.tsx";
import { abilityTexts, readsOnly, toolsByAbility } from "../../lib/agent-editor.ts";

/** Each ability has its own shape, because colour must not be the only difference. */
const glyphs: Readonly<Record<AgentAbility | "reads", ReactNode>> = {
  reads: roleIcons.reviewer,
  changes_files: roleIcons.writer,
  runs_commands: <path d="m2.5 4 4 4-4 4M8.5 12h5" />,
  talks_outward: (
    <path d="M8 14.25A6.25 6.25 0 1 0 8 1.75a6.25 6.25 0 0 0 0 12.5ZM1.75 8h12.5M8 1.75c-4 4.5-4 8 0 12.5 4-4.5 4-8 0-12.5" />
  ),
  delegates: <path d="M8 2v4M8 6 3.5 10v3M8 6l4.5 4v3M8 6v7" />,
  acts_otherwise: (
    <path d="M8 1.75v3M8 11.25v3M1.75 8h3M11.25 8h3M3.6 3.6l2 2M10.4 10.4l2 2M3.6 12.4l2-2M10.4 5.6l2-2" />
  ),
};

function Sign({ ability, children }: { ability: AgentAbility | "reads"; children: ReactNode }) {
  return (
    <span className="ability" data-testid="ability" data-ability={ability}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {glyphs[ability]}
      </svg>
      {children}
    </span>
  );
}

/** The abilities of an agent as short signs. */
export function AbilityTags({ abilities }: { abilities: readonly AgentAbility[] }) {
  return (
    <span className="abilities">
      {abilities.length === 0 && <Sign ability="reads">{readsOnly.short}</Sign>}
      {abilities.map((ability) => (
        <Sign key={ability} ability={ability}>
          {abilityTexts[ability].short}
        </Sign>
      ))}
    </span>
  );
}

/** Names before "and N more". */
const namesMax = 12;

function listed(names: readonly string[]): string {
  const more = names.length - namesMax;
  return names.slice(0, namesMax).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** All that an agent could do with its definition, each ability with its tools or agents. */
export function Abilities({ reach, tools }: { reach: AgentReach; tools: readonly ToolChoice[] }) {
  const granted = (kind: string): string[] =>
    reach.decisions.filter((decision) => decision.granted && decision.kind === kind).map(({ name }) => name);
  const byAbility = toolsByAbility(granted("tool"), tools);
  const reading = byAbility.get(null) ?? [];
  return (
    <ul className="reach" data-testid="reach">
      {reach.abilities.length === 0 && (
        <li>
          <Sign ability="reads">{readsOnly.short}</Sign>
          <span>{readsOnly.long}</span>
        </li>
      )}
      {reach.abilities.map((ability) => (
        <li key={ability}>
          <Sign ability={ability}>{abilityTexts[ability].short}</Sign>
          <span>
            {abilityTexts[ability].long}{" "}
            <span className="soft">
              {listed(ability === "delegates" ? granted("agent") : (byAbility.get(ability) ?? []))}
            </span>
          </span>
        </li>
      ))}
      {reading.length > 0 && (
        <li className="soft">
          <span>Reads with</span>
          <span>{listed(reading)}</span>
        </li>
      )}
    </ul>
  );
}
