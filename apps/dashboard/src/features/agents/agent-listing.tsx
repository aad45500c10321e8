import type { AgentFileList, AgentFileRow } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { RoleIcon } from "../../components/icons.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { findAgents, groupOf, originTexts } from "../../lib/agent-editor.ts";
import { firstLine } from "../../lib/format.ts";
import { AgentProblems } from "../sessions/agent-problems.tsx";
import { AbilityTags } from "./abilities.tsx";

const groups = [
  ["", "All"],
  ["user", "Yours"],
  ["project", "Of the project"],
  ["builtin", "Shipped"],
  ["team", "Of teams"],
  ["remote", "Of other hosts"],
] as const;

interface Props {
  list: AgentFileList;
  selected: string | null;
  folder: string | null;
}

/** The list of all agents, with a search. */
export function AgentListing({ list, selected, folder }: Props) {
  const [text, setText] = useState("");
  const [origin, setOrigin] = useState("");
  const wanted = useDeferredValue(text);
  const present = useMemo(() => new Set<string>(list.agents.map(groupOf)), [list]);
  const shown = useMemo(() => findAgents(list.agents, wanted, origin), [list, wanted, origin]);
  const problems = useMemo(() => problemCounts(list), [list]);
  return (
    <>
      <div className="agents-filter">
        <input
          type="search"
          aria-label="Find an agent"
          placeholder="Find an agent"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <select aria-label="Origin" value={origin} onChange={(event) => setOrigin(event.target.value)}>
          {groups
            .filter(([group]) => group === "" || group === origin || present.has(group))
            .map(([group, label]) => (
              <option key={group} value={group}>
                {label}
              </option>
            ))}
        </select>
      </div>
      <ul className="agent-list" aria-label="Agents">
        {shown.map((row) => (
          <AgentItem
            key={row.id}
            row={row}
            problems={problems.get(row.path) ?? 0}
            selected={row.id === selected}
            folder={folder}
          />
        ))}
      </ul>
      {shown.length === 0 && <p className="soft agents-note">No agent matches.</p>}
      {list.problems.length > 0 && <AgentProblems problems={list.problems} />}
    </>
  );
}

function problemCounts({ problems }: AgentFileList): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of problems) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

interface ItemProps {
  row: AgentFileRow;
  problems: number;
  selected: boolean;
  folder: string | null;
}

const AgentItem = memo(function AgentItem({ row, problems, selected, folder }: ItemProps) {
  const { id, team, origin, description, model, broken, unusable, disabled } = row;
  const state = broken ? "error" : unusable !== undefined ? "unusable" : disabled ? "disabled" : "usable";
  return (
    <li>
      <RouteLink
        className="agent-item"
        to={{ view: "agents", agent: id, folder }}
        aria-current={selected ? "true" : undefined}
        data-testid="agent-item"
        data-agent={id}
        data-state={state}
      >
        <span className="agent-line">
          <RoleIcon agent={id} />
          <b className="agent">{describeAgent({ agent: id, team })}</b>
          <span className="tag">{team === undefined ? (originTexts[origin] ?? origin) : `team ${team}`}</span>
          {state !== "usable" && <span className="agent-state">{state}</span>}
          {problems > 0 && <span className="agent-state">{problems === 1 ? "1 problem" : `${problems} problems`}</span>}
          {model !== "inherit" && model !== "" && <span className="agent-model">{model}</span>}
        </span>
        <span className="agent-description">{firstLine(description, 160)}</span>
        {!broken && <AbilityTags abilities={row.abilities} />}
      </RouteLink>
    </li>
  );
}, isSameItem);

/** The list is loaded again and again: only an item whose values differ is drawn again. */
function isSameItem(a: ItemProps, b: ItemProps): boolean {
  const isSameChoice = a.selected === b.selected && a.folder === b.folder && a.problems === b.problems;
  return isSameChoice && (a.row === b.row || JSON.stringify(a.row) === JSON.stringify(b.row));
}
