import type { RunRow } from "@troupe/core";
import type { UndoFile, UndoOutcome, UndoRow } from "@troupe/core/internal";
import { useEffect, useRef, useState } from "react";
import { ActionButton, ConfirmButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { reveal } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import { useAction } from "../../lib/use-action.ts";

/** Undoes the changes of a run: first the list of files, then a confirmation, then the result. */
export function UndoChanges({ run }: { run: RunRow }) {
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction<"plan" | "undo" | "redo">();
  const [outcome, setOutcome] = useState<UndoOutcome | null>(null);
  const undos = useUndos(run.run, outcome);
  const heading = useRef<HTMLHeadingElement>(null);
  const isPlan = outcome?.outcome === "planned";
  // The list replaces the button, so the focus moves to it.
  useEffect(() => {
    if (outcome !== null) heading.current?.focus();
  }, [outcome]);

  const send = async (name: "plan" | "undo" | "redo", request: Parameters<typeof api.undo>[1]): Promise<void> => {
    const result = await start(name, () => api.undo(run.run, request));
    if (result) setOutcome(result);
  };
  if (isActive(run)) return null;
  return (
    <div className="undo" data-testid="undo">
      {outcome && (
        <section aria-labelledby="undo-title">
          <h4 id="undo-title" tabIndex={-1} ref={heading}>
            {titleOf(outcome)}
          </h4>
          <FileList files={outcome.files} />
          {outcome.notes.map((note) => (
            <p key={note} className="soft">
              {reveal(note)}
            </p>
          ))}
        </section>
      )}
      <div className="undo-actions">
        {isPlan ? (
          <>
            <Confirmation
              outcome={outcome}
              busy={busy !== null}
              disabled={isOffline}
              onConfirm={(partial) => void send("undo", { partial })}
            />
            <button type="button" className="quiet" onClick={() => setOutcome(null)}>
              Close
            </button>
          </>
        ) : (
          <ActionButton
            data-testid="undo-plan"
            title="Lists the files that an undo would restore. It changes nothing yet."
            busy={busy !== null}
            disabled={isOffline}
            onClick={() => void send("plan", { dryRun: true })}
          >
            Undo changes
          </ActionButton>
        )}
        {!isPlan && canRedo(undos) && (
          <ConfirmButton
            confirmLabel="Really take it back?"
            busyLabel="Restoring…"
            busy={busy === "redo"}
            disabled={isOffline}
            testId="undo-redo"
            warning="The files get the contents that they had before the newest undo."
            onConfirm={() => void send("redo", { redo: true })}
          >
            Take the undo back
          </ConfirmButton>
        )}
      </div>
      {problem && <ProblemNote problem={problem} />}
      {undos.length > 0 && <History undos={undos} />}
    </div>
  );
}

interface ConfirmationProps {
  outcome: UndoOutcome;
  busy: boolean;
  disabled: boolean;
  onConfirm(partial: boolean): void;
}

function Confirmation({ outcome: { files }, busy, disabled, onConfirm }: ConfirmationProps) {
  const changed = files.filter(({ action }) => action === "restore" || action === "delete").length;
  const left = files.filter(({ action }) => action === "conflict" || action === "unkept").length;
  if (changed === 0) return null;
  const label = left > 0 ? `Undo the other ${countOf(changed)}` : `Undo ${countOf(changed)}`;
  return (
    <ConfirmButton
      confirmLabel="Really undo?"
      busyLabel="Restoring…"
      busy={busy}
      disabled={disabled}
      testId="undo-confirm"
      warning={`${countOf(changed)} in the workspace will change${left > 0 ? `, ${countOf(left)} will stay` : ""}.`}
      onConfirm={() => onConfirm(left > 0)}
    >
      {label}
    </ConfirmButton>
  );
}

const stateWords = { restored: "restored", deleted: "deleted", left: "left" } as const;
const actionWords = {
  restore: "will be restored",
  delete: "will be deleted",
  none: "unchanged",
  conflict: "changed since",
  unkept: "not kept",
} as const;

function FileList({ files }: { files: readonly UndoFile[] }) {
  return (
    <ul className="undo-files">
      {files.map(({ path, action, state, reason }) => (
        <li key={path} data-testid="undo-file" data-path={path} data-action={state ?? action}>
          <span className="agent-text change-path">{reveal(path)}</span>
          <span className="undo-state">{state === undefined ? actionWords[action] : stateWords[state]}</span>
          {reason !== null && <span className="soft">{reveal(reason)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The undos of the run, by people on this page, the command line or the API. */
function History({ undos }: { undos: readonly UndoRow[] }) {
  return (
    <ul className="undo-history" aria-label="Undos of this run">
      {undos.map(({ undo, by, redoes, at, finishedAt, files }) => (
        <li key={undo} className="soft" data-testid="undo-row">
          {redoes === null ? "Undone" : "Undo taken back"} by {reveal(by)},{" "}
          <time dateTime={at}>{at.slice(0, 16).replace("T", " ")}</time>:{" "}
          {countOf(files.filter(({ state }) => state !== "left").length)}
          {finishedAt === null && ", not finished: undo again to finish it"}
        </li>
      ))}
    </ul>
  );
}

function titleOf({ outcome, files }: UndoOutcome): string {
  switch (outcome) {
    case "planned":
      return files.some(({ action }) => action === "restore" || action === "delete")
        ? "An undo would change these files"
        : "There is nothing to undo";
    case "refused":
      return "Nothing was changed";
    case "nothing":
      return "There was nothing to undo";
    case "done":
      return "The changes are undone";
    case "partial":
      return "Some files were left";
  }
}

function countOf(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function canRedo(undos: readonly UndoRow[]): boolean {
  const redone = new Set(undos.map(({ redoes }) => redoes));
  return undos.some(({ undo, redoes }) => redoes === null && !redone.has(undo));
}

/** The undos of a run. They are loaded again after each of its undos on this page, and when the session changes. */
function useUndos(run: string, outcome: UndoOutcome | null): readonly UndoRow[] {
  const [undos, setUndos] = useState<readonly UndoRow[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an outcome means that there may be another undo
  useEffect(() => {
    let isCurrent = true;
    api.undos(run).then(
      (list) => isCurrent && setUndos(list.undos),
      // The list is not needed to undo.
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [run, outcome]);
  return undos;
}
