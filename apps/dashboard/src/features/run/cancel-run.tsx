import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/** Stops a run and all runs below it; its parent goes on. */
export function CancelRun({ run }: { run: string }) {
  const away = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [asked, setAsked] = useState(false);
  const cancel = async (): Promise<void> => {
    const result = await start("cancel", () => api.cancelRun(run));
    if (result !== null) setAsked(true);
  };
  return (
    <>
      <ConfirmButton
        sure="Really cancel?"
        doing="Stopping…"
        busy={busy !== null || asked}
        disabled={away}
        testId="cancel-run"
        warning="Stops this run and all runs below it."
        onConfirm={() => void cancel()}
      >
        Cancel run
      </ConfirmButton>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
