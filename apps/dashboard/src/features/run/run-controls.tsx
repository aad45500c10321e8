import type { RunRow } from "@troupe/core";
import type { GrantExplanation } from "@troupe/core/internal";
import { useId, useRef, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";
import { useLeaveWithFocus } from "../../lib/use-leave-with-focus.ts";
import { CancelRun } from "./cancel-run.tsx";
import { Grants } from "./grants.tsx";
import { PauseButton } from "./pause-button.tsx";
import { SteerForm } from "./steer-form.tsx";

/** What can be done about a run while it goes on. */
export function RunControls({ run }: { run: RunRow }) {
  const away = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [explanation, setExplanation] = useState<GrantExplanation | null>(null);
  const id = useId();
  const controls = useRef<HTMLElement>(null);
  // It ended under somebody's hands.
  useLeaveWithFocus(controls, () => document.getElementById("run-title")?.focus());
  const why = async (): Promise<void> => {
    if (explanation !== null) setExplanation(null);
    else setExplanation(await start("explain", () => api.explain(run.run)));
  };
  return (
    <section ref={controls} className="run-controls" aria-label={`Steering ${run.agent}`} data-testid="run-controls">
      <div className="control-line">
        <PauseButton run={run} testId="pause-run">
          {" run"}
        </PauseButton>
        <CancelRun run={run.run} />
      </div>
      <SteerForm run={run.run} agent={run.agent} />
      <ActionButton
        className="link"
        data-testid="explain-run"
        aria-expanded={explanation !== null}
        aria-controls={explanation === null ? undefined : id}
        busy={busy !== null}
        disabled={away}
        onClick={() => void why()}
      >
        {busy === null ? "Why these tools and agents?" : "Asking…"}
      </ActionButton>
      {problem && <ProblemNote problem={problem} />}
      {explanation && <Grants id={id} explanation={explanation} />}
    </section>
  );
}
