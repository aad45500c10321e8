import type { RunRow } from "@troupe/core";
import { type ReactNode, useState } from "react";
import { ActionButton } from "../../components/action-button.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { useAction } from "../../lib/use-action.ts";

/**
 * Holds a run and all below it, or lets them go on. What is at work finishes first, so that the row says `paused` only
 * some time after it was asked for; until then the button offers to take it back.
 */
export function PauseButton({ run, children, testId }: { run: RunRow; children?: ReactNode; testId: string }) {
  const away = usePage((state) => state.connection !== "live");
  const paused = run.exactStatus === "paused";
  const { busy, problem, start } = useAction<"pause" | "resume">();
  const [asked, setAsked] = useState<"pause" | "resume" | null>(null);
  const [known, setKnown] = useState(paused);
  if (known !== paused) {
    setKnown(paused);
    setAsked(null);
  }
  const next = (asked === null ? paused : asked === "pause") ? "resume" : "pause";
  const ask = async (): Promise<void> => {
    const result = await start(next, () => api[next](run.run));
    if (result?.outcome === "requested") setAsked(next);
  };
  return (
    <>
      <ActionButton
        data-testid={testId}
        title={next === "pause" ? "Starts nothing new in this run and all below it" : "Goes on where it stands"}
        busy={busy !== null}
        disabled={away}
        onClick={() => void ask()}
      >
        <span>
          {next === "pause" ? "Pause" : "Resume"}
          {children}
        </span>
      </ActionButton>
      <span className="pause-said" role="status">
        {asked === "pause" && !paused && "Pausing: what is at work finishes first."}
        {asked === "resume" && paused && "Going on…"}
      </span>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
