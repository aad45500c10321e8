import type { RunRow } from "@troupe/core";
import { type ReactNode, useState } from "react";
import { ActionButton, ConfirmButton } from "../../components/buttons.tsx";
import { ProblemNote } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/**
 * Pauses or resumes a run and its descendants. Calls in progress finish first, so the row says `paused` some time after
 * the request. Until then the button offers to undo the request.
 */
export function PauseButton({ run, children, testId }: { run: RunRow; children?: ReactNode; testId: string }) {
  const isOffline = usePage((state) => state.connection !== "live");
  const isPaused = run.exactStatus === "paused";
  const { busy, problem, start } = useAction<"pause" | "resume">();
  const [requested, setRequested] = useState<"pause" | "resume" | null>(null);
  const [wasPaused, setWasPaused] = useState(isPaused);
  if (wasPaused !== isPaused) {
    setWasPaused(isPaused);
    setRequested(null);
  }
  const next = (requested === null ? isPaused : requested === "pause") ? "resume" : "pause";
  const send = async (): Promise<void> => {
    const result = await start(next, () => api[next](run.run));
    if (result?.outcome === "requested") setRequested(next);
  };
  return (
    <>
      <ActionButton
        data-testid={testId}
        title={next === "pause" ? "Starts nothing new in this run and its child runs" : "Continues the paused work"}
        busy={busy !== null}
        disabled={isOffline}
        onClick={() => void send()}
      >
        <span>
          {next === "pause" ? "Pause" : "Resume"}
          {children}
        </span>
      </ActionButton>
      <span className="pause-status" role="status">
        {requested === "pause" && !isPaused && "Pausing: calls in progress finish first."}
        {requested === "resume" && isPaused && "Resuming…"}
      </span>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

interface CancelButtonProps {
  cancel(): Promise<unknown>;
  warning: string;
  testId: string;
  children: ReactNode;
}

/** Cancels a run or a session, after a confirmation. */
export function CancelButton({ cancel, warning, testId, children }: CancelButtonProps) {
  const isOffline = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [isRequested, setRequested] = useState(false);
  const send = async (): Promise<void> => {
    const result = await start("cancel", cancel);
    if (result !== null) setRequested(true);
  };
  return (
    <>
      <ConfirmButton
        confirmLabel="Really cancel?"
        busyLabel="Stopping…"
        busy={busy !== null || isRequested}
        disabled={isOffline}
        testId={testId}
        warning={warning}
        onConfirm={() => void send()}
      >
        {children}
      </ConfirmButton>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
