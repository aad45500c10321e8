import type { AgentFileList, AgentFileRow } from "@troupe/core/internal";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";

/** A file to edit, or to create. */
export interface NewAgentChoice {
  id: string;
  /** The folder of a new file. */
  folder: "user" | "project";
  /** The agent that a new file is a copy of. */
  from: string | null;
}

interface Props {
  list: AgentFileList;
  /** The agent to copy; null to choose. */
  from: AgentFileRow | null;
  onBegin(choice: NewAgentChoice): void;
  onCancel(): void;
}

const idPattern = "[A-Za-z0-9_\\-]{1,128}";

/** The form that names a new agent. The file is written when the editor saves it. */
export function NewAgent({ list, from: given, onBegin, onCancel }: Props) {
  const [id, setId] = useState(given?.id ?? "");
  const [from, setFrom] = useState(given?.id ?? "");
  const [folder, setFolder] = useState<NewAgentChoice["folder"]>("user");
  const name = useRef<HTMLInputElement>(null);
  const ids = useId();
  useEffect(() => name.current?.focus(), []);

  const existing = list.agents.find((row) => row.id === id);
  const isTaken = existing !== undefined && existing.editing !== "copy";
  const mayUseProject = list.project !== null && list.project.reason === null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isTaken) onBegin({ id, folder, from: from === "" ? null : from });
  };
  return (
    <section className="agent-editor" aria-labelledby={`${ids}-title`}>
      <form className="agent-fields" data-testid="new-agent-form" onSubmit={submit}>
        <h3 id={`${ids}-title`}>{given ? `Copy ${given.id}` : "New agent"}</h3>
        <div className="field">
          <label htmlFor={`${ids}-id`}>Name</label>
          <input
            id={`${ids}-id`}
            ref={name}
            value={id}
            required
            pattern={idPattern}
            maxLength={128}
            autoComplete="off"
            spellCheck={false}
            placeholder="letters, digits, - and _"
            aria-describedby={`${ids}-hint`}
            onChange={(event) => setId(event.target.value.trim())}
          />
          <p id={`${ids}-hint`} className={isTaken ? "failed" : "hint"} role={isTaken ? "alert" : undefined}>
            {isTaken && `${id} exists already. Choose another name, or edit it.`}
            {existing?.editing === "copy" &&
              `Your copy replaces the shipped agent ${id}. Delete it to get that one back.`}
            {!existing && "The name is the id of the agent and the name of its file."}
          </p>
        </div>
        <div className="field">
          <label htmlFor={`${ids}-from`}>Start from</label>
          <select id={`${ids}-from`} value={from} onChange={(event) => setFrom(event.target.value)}>
            <option value="">A template with comments</option>
            {list.agents
              .filter(({ team, origin }) => team === undefined && origin !== "remote")
              .map((row) => (
                <option key={row.id} value={row.id}>
                  A copy of {row.id}
                </option>
              ))}
          </select>
        </div>
        {mayUseProject && (
          <div className="field">
            <label htmlFor={`${ids}-folder`}>Folder</label>
            <select
              id={`${ids}-folder`}
              value={folder}
              onChange={(event) => setFolder(event.target.value === "project" ? "project" : "user")}
            >
              <option value="user">Yours, for all projects</option>
              <option value="project">.troupe/agents of {list.project?.path}</option>
            </select>
          </div>
        )}
        <div className="editor-end">
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={isTaken}>
            Continue
          </button>
        </div>
      </form>
    </section>
  );
}
