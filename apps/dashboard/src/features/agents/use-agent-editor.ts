import type { AgentCheck, AgentDraft, AgentFileView, AgentForm } from "@troupe/core/internal";
import { useCallback, useEffect, useRef, useState } from "react";
import { isSameForm } from "../../lib/agent-editor.ts";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import type { NewAgentChoice } from "./new-agent.tsx";
import { usePolled } from "./use-polled.ts";

/** Between the last key and the check of the draft. */
const checkDelayMs = 200;

/** A change that is not saved: values of the fields, or the whole text. */
export type Edit = { form: AgentForm } | { text: string };

interface StoredEdit {
  /** The file that the edit starts from. */
  base: AgentCheck;
  edit: Edit;
}

/** Unsaved edits by folder and agent. They survive another view of the page. */
const storedEdits = new Map<string, StoredEdit>();

export interface AgentEditing {
  /** The file as it was opened; null until it is loaded. */
  base: AgentCheck | null;
  /** The newest check of the edit, or the file itself. */
  check: AgentCheck | null;
  edit: Edit | null;
  isChanged: boolean;
  /** The check of the newest edit is under way. */
  isChecking: boolean;
  /** The file changed on the disk since it was opened. */
  isStale: boolean;
  problem: ApiProblem | null;
  change(edit: Edit): void;
  /** Forgets the edit and opens the file as it is on the disk now. */
  loadAgain(): void;
  save(): Promise<AgentFileView>;
}

export interface EditorTarget {
  choice: NewAgentChoice;
  isNew: boolean;
  folder: string | null;
}

/** Loads an agent file, follows it on the disk, and checks each edit. */
export function useAgentEditor({ choice, isNew, folder }: EditorTarget): AgentEditing {
  const { id } = choice;
  const key = `${folder ?? ""} ${isNew} ${id}`;
  const open = useCallback(
    (): Promise<AgentCheck> =>
      isNew ? api.checkAgent(draftOf(choice, folder, null)) : api.agentFile(id, folder).then(({ check }) => check),
    [id, folder, isNew, choice],
  );
  const disk = usePolled(open);
  const [stored, setStored] = useState<StoredEdit | null>(() => storedEdits.get(key) ?? null);
  const [checked, setChecked] = useState<{ edit: Edit; check: AgentCheck | null; problem: ApiProblem | null } | null>(
    null,
  );
  const newest = useRef<Edit | null>(null);
  const base = stored?.base ?? disk.value;
  const edit = stored?.edit ?? null;
  newest.current = edit;

  useEffect(() => {
    if (stored === null) return;
    const { base: from, edit: wanted } = stored;
    const timer = setTimeout(() => {
      const keep = (check: AgentCheck | null, problem: ApiProblem | null): void => {
        if (newest.current === wanted) setChecked({ edit: wanted, check, problem });
      };
      api.checkAgent({ ...draftOf(choice, folder, isNew ? null : from.version), ...wanted }).then(
        (check) => keep(check, null),
        (thrown) => keep(null, problemOf(thrown)),
      );
    }, checkDelayMs);
    return () => clearTimeout(timer);
  }, [stored, choice, folder, isNew]);

  const put = (next: StoredEdit | null): void => {
    if (next === null) storedEdits.delete(key);
    else storedEdits.set(key, next);
    newest.current = next?.edit ?? null;
    setStored(next);
    if (next === null) setChecked(null);
  };
  const isCurrent = checked !== null && checked.edit === edit;
  const isStale = !isNew && stored !== null && disk.value !== null && disk.value.version !== stored.base.version;
  return {
    base,
    edit,
    check: edit === null ? base : (checked?.check ?? base),
    isChanged: isNew || (stored !== null && isDifferent(stored)),
    isChecking: edit !== null && !isCurrent,
    isStale,
    problem: isStale ? null : ((isCurrent ? checked.problem : null) ?? (base === null ? disk.problem : null)),
    change(next) {
      if (base) put({ base, edit: next });
    },
    loadAgain() {
      put(null);
      disk.reload();
    },
    async save() {
      if (base === null) throw new Error("no file is open");
      const view = await api.saveAgent({ ...draftOf(choice, folder, isNew ? null : base.version), ...(edit ?? {}) });
      put(null);
      disk.reload();
      return view;
    },
  };
}

function draftOf(
  { id, from, folder: place }: NewAgentChoice,
  folder: string | null,
  version: string | null,
): AgentDraft {
  return { id, workspace: folder, version, folder: place, ...(from === null ? {} : { from }) };
}

function isDifferent({ base, edit }: StoredEdit): boolean {
  return "text" in edit ? edit.text !== base.text : !isSameForm(edit.form, base.form);
}
