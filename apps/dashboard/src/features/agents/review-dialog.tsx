import type { AgentCheck } from "@troupe/core/internal";
import type { RefObject } from "react";
import { ActionButton } from "../../components/buttons.tsx";
import { DiffView } from "../../components/diff-view.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { useAction } from "../../lib/use-action.ts";
import type { AgentEditing } from "./use-agent-editor.ts";

interface Props {
  dialog: RefObject<HTMLDialogElement | null>;
  check: AgentCheck;
  editing: AgentEditing;
  onSaved(): void;
}

/** Shows the difference that saving makes in the file, and saves it. */
export function ReviewDialog({ dialog, check, editing, onSaved }: Props) {
  const { busy, problem, start } = useAction<"save">();
  const save = async (): Promise<void> => {
    if ((await start("save", editing.save)) === null) return;
    dialog.current?.close();
    onSaved();
  };
  const { path, diff, linesAdded, linesRemoved, version } = check;
  return (
    <dialog ref={dialog} className="review" aria-labelledby="review-title" data-testid="review">
      <h2 id="review-title">{version === null ? "New file" : "Changes of the file"}</h2>
      <p className="soft agent-path">
        <bdi>{path}</bdi> <span className="figure">+{linesAdded}</span> <span className="figure">−{linesRemoved}</span>
      </p>
      <DiffView change={{ diff, cut: false, path }} />
      {problem && <ProblemNote problem={problem} />}
      <div className="editor-end">
        <button type="button" onClick={() => dialog.current?.close()}>
          Back
        </button>
        <ActionButton className="primary" data-testid="save-agent" busy={busy === "save"} onClick={() => void save()}>
          {busy === "save" ? "Saving…" : "Save"}
        </ActionButton>
      </div>
    </dialog>
  );
}
