import type { AgentCheck, AgentFileList, AgentFileRow, AgentProblem } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { useRef, useState } from "react";
import { ActionButton, ConfirmButton } from "../../components/buttons.tsx";
import { Glyph, RoleIcon } from "../../components/icons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { originTexts } from "../../lib/agent-editor.ts";
import { api } from "../../lib/api.ts";
import { navigate, useRoute } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { Abilities } from "./abilities.tsx";
import { AgentFields } from "./agent-fields.tsx";
import type { NewAgentChoice } from "./new-agent.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { type AgentEditing, useAgentEditor } from "./use-agent-editor.ts";

interface Props {
  list: AgentFileList;
  /** Null for a new file. */
  row: AgentFileRow | null;
  choice: NewAgentChoice;
  isNew: boolean;
  onCopy(from: AgentFileRow): void;
  onSaved(): void;
  onClosed(): void;
}

/** The editor of one agent file: its abilities, its fields or its text, its problems, and the way to save it. */
export function AgentEditor({ list, row, choice, isNew, onCopy, onSaved, onClosed }: Props) {
  const { folder } = useRoute();
  const editing = useAgentEditor({ choice, isNew, folder });
  const { base, check, edit } = editing;
  const [wantsText, setWantsText] = useState(false);
  const isReadOnly = !isNew && row?.editing !== "file";
  if (base === null || check === null) {
    return (
      <section className="agent-editor" aria-label={choice.id}>
        {editing.problem ? <ProblemNote problem={editing.problem} /> : <p className="soft">Loading the file…</p>}
      </section>
    );
  }
  const form = edit && "form" in edit ? edit.form : check.form;
  const showsText = wantsText || form === null;
  return (
    <section className="agent-editor" aria-labelledby="agent-title" data-testid="agent-editor" data-agent={choice.id}>
      <EditorHead
        row={row}
        id={choice.id}
        path={check.path}
        isNew={isNew}
        onCopy={onCopy}
        onClosed={onClosed}
        editing={editing}
        onSaved={onSaved}
      />
      {editing.isStale && <StaleNote editing={editing} />}
      {editing.problem && <ProblemNote problem={editing.problem} />}
      <section className="part" aria-labelledby="reach-title">
        <h3 id="reach-title">Abilities</h3>
        {check.reach === null ? (
          <p className="soft">No run can use it while its file has an error.</p>
        ) : (
          <Abilities reach={check.reach} tools={list.tools} />
        )}
      </section>
      <Problems check={check} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form */}
      <div className="ways" role="group" aria-label="Edit the file as">
        <button
          type="button"
          aria-pressed={!showsText}
          disabled={check.form === null}
          onClick={() => setWantsText(false)}
        >
          Fields
        </button>
        <button type="button" aria-pressed={showsText} data-testid="edit-text" onClick={() => setWantsText(true)}>
          Text
        </button>
      </div>
      {check.formProblem !== null && <p className="hint">{check.formProblem}</p>}
      {showsText ? (
        <textarea
          className="agent-source"
          aria-label="Text of the file"
          spellCheck={false}
          rows={28}
          readOnly={isReadOnly}
          value={edit && "text" in edit ? edit.text : check.text}
          onChange={(event) => editing.change({ text: event.target.value })}
        />
      ) : (
        form && (
          <AgentFields
            form={form}
            id={choice.id}
            list={list}
            problems={check.problems}
            disabled={isReadOnly}
            onChange={(changed) => editing.change({ form: changed })}
          />
        )
      )}
      {!isReadOnly && <SaveBar editing={editing} isNew={isNew} onSaved={onSaved} onClosed={onClosed} />}
    </section>
  );
}

interface HeadProps extends Pick<Props, "row" | "isNew" | "onCopy" | "onSaved" | "onClosed"> {
  id: string;
  path: string;
  editing: AgentEditing;
}

function EditorHead({ row, id, path, isNew, onCopy, onSaved, onClosed, editing }: HeadProps) {
  const { folder } = useRoute();
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction<"switch" | "delete">();
  const { base } = editing;
  const version = base?.version ?? null;
  const toggle = async (): Promise<void> => {
    if (!base?.form || version === null) return;
    const form = { ...base.form, disabled: !base.form.disabled };
    const draft = { id, workspace: folder, version, folder: "user" as const, form };
    if ((await start("switch", () => api.saveAgent(draft))) !== null) {
      editing.loadAgain();
      onSaved();
    }
  };
  const remove = async (): Promise<void> => {
    if (version === null) return;
    if ((await start("delete", () => api.removeAgent(id, { workspace: folder, version }))) !== null) onClosed();
  };
  return (
    <header className="editor-head">
      <div className="editor-line">
        <button
          type="button"
          className="icon-button back"
          aria-label="All agents"
          onClick={() => navigate({ view: "agents", folder })}
        >
          <Glyph name="back" />
        </button>
        <RoleIcon agent={id} />
        <h2 id="agent-title">{describeAgent({ agent: id, team: row?.team })}</h2>
        <span className="tag">{isNew || row === null ? "new" : (originTexts[row.origin] ?? row.origin)}</span>
        {row?.disabled && <span className="agent-state">disabled</span>}
        {row?.replaces && <span className="tag">replaces the {originTexts[row.replaces] ?? row.replaces} one</span>}
        <span className="editor-actions">
          {row?.editing === "copy" && (
            <button type="button" className="primary" data-testid="copy-agent" onClick={() => onCopy(row)}>
              Copy to edit
            </button>
          )}
          {row?.editing === "file" && base?.form && !editing.isChanged && (
            <ActionButton
              data-testid="switch-agent"
              busy={busy === "switch"}
              disabled={isOffline}
              onClick={() => void toggle()}
            >
              {base.form.disabled ? "Enable" : "Disable"}
            </ActionButton>
          )}
          {row?.editing === "file" && (
            <ConfirmButton
              confirmLabel="Really delete?"
              busyLabel="Deleting…"
              busy={busy === "delete"}
              disabled={isOffline}
              testId="delete-agent"
              warning={`Deletes ${path}.`}
              onConfirm={() => void remove()}
            >
              Delete
            </ConfirmButton>
          )}
        </span>
      </div>
      <p className="soft agent-path">
        <bdi>{path}</bdi>
      </p>
      {row?.reason && <p className="hint">Its file cannot be changed here: {row.reason}</p>}
      {row?.unusable !== undefined && <p className="failed">Not usable: {row.unusable}</p>}
      {problem && <ProblemNote problem={problem} />}
    </header>
  );
}

function StaleNote({ editing }: { editing: AgentEditing }) {
  return (
    <div className="problem" role="alert" data-testid="stale-file">
      <p>The file changed on the disk since you opened it. Your changes are not saved, and cannot be saved over it.</p>
      <button type="button" onClick={editing.loadAgain}>
        Discard my changes and load the new file
      </button>
    </div>
  );
}

/** The problems of the file, and those that the change would cause in other files. */
function Problems({ check }: { check: AgentCheck }) {
  const { problems, otherProblems } = check;
  return (
    <div aria-live="polite" data-testid="draft-problems" data-count={problems.length}>
      {problems.length > 0 && <ProblemList problems={problems} />}
      {otherProblems.length > 0 && (
        <>
          <p className="failed">The change would cause problems in other files:</p>
          <ProblemList problems={otherProblems} />
        </>
      )}
    </div>
  );
}

function ProblemList({ problems }: { problems: readonly AgentProblem[] }) {
  return (
    <ul className="draft-problems">
      {problems.map(({ path, line, severity, code, message, fix }) => (
        <li key={`${path}:${line}:${code}:${message}`} data-severity={severity} data-code={code}>
          <b>{severity}</b> <span className="soft">line {line}</span> {message}
          {fix !== null && <span className="fix"> Fix: {fix}</span>}
        </li>
      ))}
    </ul>
  );
}

interface SaveProps extends Pick<Props, "isNew" | "onSaved" | "onClosed"> {
  editing: AgentEditing;
}

function SaveBar({ editing, isNew, onSaved, onClosed }: SaveProps) {
  const isOffline = usePage((state) => state.connection !== "live");
  const review = useRef<HTMLDialogElement>(null);
  const { check, isChanged, isChecking, isStale } = editing;
  const errors = check?.problems.filter(({ severity }) => severity === "error").length ?? 0;
  const isReady = isChanged && !isChecking && !isStale && editing.problem === null && errors === 0 && !isOffline;
  return (
    <footer className="save-bar">
      <p className="soft" role="status">
        {saveText({ isNew, isChanged, isChecking, errors })}
      </p>
      {isChanged && (
        <button type="button" onClick={isNew ? onClosed : editing.loadAgain}>
          Discard
        </button>
      )}
      <button
        type="button"
        className="primary"
        data-testid="review-agent"
        disabled={!isReady}
        onClick={() => review.current?.showModal()}
      >
        Review and save
      </button>
      {check && <ReviewDialog dialog={review} check={check} editing={editing} onSaved={onSaved} />}
    </footer>
  );
}

interface SaveState {
  isNew: boolean;
  isChanged: boolean;
  isChecking: boolean;
  errors: number;
}

function saveText({ isNew, isChanged, isChecking, errors }: SaveState): string {
  if (!isChanged) return "No changes";
  if (isChecking) return "Checking…";
  if (errors > 0) return errors === 1 ? "1 error to correct" : `${errors} errors to correct`;
  return isNew ? "Not saved yet" : "Unsaved changes";
}
