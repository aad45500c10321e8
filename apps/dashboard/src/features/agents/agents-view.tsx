import type { AgentFileList, AgentFileRow } from "@troupe/core/internal";
import { useCallback, useMemo, useState } from "react";
import { Glyph } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { projectFolders } from "../../lib/agent-editor.ts";
import { api } from "../../lib/api.ts";
import { navigate, useRoute } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { AgentEditor } from "./agent-editor.tsx";
import { AgentListing } from "./agent-listing.tsx";
import { NewAgent, type NewAgentChoice } from "./new-agent.tsx";
import { usePolled } from "./use-polled.ts";

/** All agents of this machine, or of a project, and an editor for one of them. */
export function AgentsView() {
  const { agent, folder } = useRoute();
  const load = useCallback(() => api.agentFiles(folder), [folder]);
  const { value: list, problem, reload } = usePolled(load);
  const [draft, setDraft] = useState<NewAgentChoice | null>(null);
  const [isNaming, setNaming] = useState<{ from: AgentFileRow | null } | null>(null);
  const row = list?.agents.find(({ id }) => id === agent) ?? null;
  const isNew = draft !== null && draft.id === agent;

  const begin = (choice: NewAgentChoice): void => {
    setNaming(null);
    setDraft(choice);
    navigate({ view: "agents", agent: choice.id, folder });
  };
  const open = agent !== null && list !== null && (isNew || row !== null);
  return (
    <main className="agents-view" data-testid="agents-view" data-shows={open || isNaming ? "editor" : "list"}>
      <section className="agents-side" aria-label="Agents">
        <div className="view-head">
          <button type="button" className="icon-button back" aria-label="All sessions" onClick={() => navigate({})}>
            <Glyph name="back" />
          </button>
          <h2>Agents</h2>
          {list !== null && <span className="soft">{list.agents.length}</span>}
          <button
            type="button"
            className="primary agents-new"
            data-testid="new-agent"
            onClick={() => setNaming({ from: null })}
          >
            New agent
          </button>
        </div>
        <FolderChoice list={list} />
        {problem && <ProblemNote problem={problem} />}
        {list === null && !problem && <p className="soft agents-note">Loading the agents…</p>}
        {list !== null && <AgentListing list={list} selected={agent} folder={folder} />}
      </section>
      {isNaming && list && (
        <NewAgent list={list} from={isNaming.from} onBegin={begin} onCancel={() => setNaming(null)} />
      )}
      {!isNaming && open && list && (
        <AgentEditor
          key={`${folder} ${agent} ${isNew}`}
          list={list}
          row={isNew ? null : row}
          choice={isNew && draft ? draft : { id: agent, folder: "user", from: null }}
          isNew={isNew}
          onCopy={(from) => setNaming({ from })}
          onSaved={() => {
            setDraft(null);
            reload();
          }}
          onClosed={() => {
            setDraft(null);
            reload();
            navigate({ view: "agents", folder });
          }}
        />
      )}
      {!isNaming && !open && <Nothing agent={agent} isLoaded={list !== null} />}
    </main>
  );
}

function Nothing({ agent, isLoaded }: { agent: string | null; isLoaded: boolean }) {
  return (
    <section className="agents-nothing">
      <p className="soft">
        {agent !== null && isLoaded
          ? `No agent is called ${agent} here.`
          : "Select an agent to see its file, its tools and the agents that it may delegate to."}
      </p>
    </section>
  );
}

/** Selects the project whose agents are listed too. */
function FolderChoice({ list }: { list: AgentFileList | null }) {
  const { folder } = useRoute();
  const sessions = usePage((state) => state.sessions);
  const home = usePage((state) => state.status?.home ?? "");
  const folders = useMemo(() => {
    const known = projectFolders(
      (sessions ?? []).map(({ workspace }) => workspace),
      home,
    );
    return folder === null || known.includes(folder) ? known : [...known, folder];
  }, [sessions, home, folder]);
  if (folders.length === 0) return null;
  const reason = list?.project?.reason ?? null;
  return (
    <div className="agents-folder">
      <select
        aria-label="Project"
        value={folder ?? ""}
        onChange={(event) => navigate({ view: "agents", folder: event.target.value || null })}
      >
        <option value="">Your agents and the shipped ones</option>
        {folders.map((path) => (
          <option key={path} value={path}>
            With those of {path}
          </option>
        ))}
      </select>
      {reason !== null && <p className="hint">The files of the project cannot be changed here: {reason}</p>}
    </div>
  );
}
