import type { RunRow, SessionRow } from "@troupe/core";
import { useState } from "react";
import { ApprovalsTag } from "../../components/approvals-tag.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { DemoTag } from "../../components/demo-tag.tsx";
import { Glyph } from "../../components/glyphs.tsx";
import { LongText } from "../../components/long-text.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { api } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { addressOf, selectRun, selectSession, useSelection } from "../../lib/selection.ts";
import { askedAt, isActive, isFailure, type Standing } from "../../lib/status.ts";
import { useAction } from "../../lib/use-action.ts";
import { PauseButton } from "../run/pause-button.tsx";

interface Props {
  session: SessionRow;
  runs: ReadonlyMap<string, RunRow>;
}

/** What was asked, how it stands, and how to stop it. */
export function SessionHead({ session, runs }: Props) {
  const selection = useSelection();
  const root = runs.get(session.rootRun);
  const outcome = session.error ?? session.summary;
  return (
    <section className="session-head" aria-label="Session">
      <div className="head-line">
        <button
          type="button"
          className="icon-button back"
          aria-label="All sessions"
          onClick={() => selectSession(null)}
        >
          <Glyph name="back" />
        </button>
        <div className="head-task">
          <LongText text={session.task} charsMax={240} />
        </div>
        <div className="head-actions">
          <CopyButton label="Copy link" text={() => location.origin + addressOf(selection)} />
          {isActive(session) && root && (
            <PauseButton run={root} testId="pause-session">
              <span className="roomy"> session</span>
            </PauseButton>
          )}
          {isActive(session) && <CancelButton session={session.session} />}
        </div>
      </div>
      <Facts session={session} runs={runs} />
      {outcome !== null && !isActive(session) && (
        <div className="outcome" data-status={session.status}>
          <LongText text={outcome} charsMax={400} />
          {session.error === null && selection.run !== session.rootRun && (
            <button type="button" className="link" onClick={() => selectRun(session.rootRun)}>
              Read the whole answer
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function Facts({ session, runs }: Props) {
  const active = isActive(session);
  const now = useNow(active);
  const failed = [...runs.values()].filter(isFailure).length;
  const elapsed = active ? formatElapsed(now - askedAt(session)) : formatDuration(session.durationMs ?? 0);
  return (
    <p className="facts">
      <StatusBadge row={runs.get(session.rootRun)?.exactStatus === "paused" ? paused(session) : session} />
      <ApprovalsTag waiting={session.approvalsWaiting} />
      <span className="figure">{elapsed}</span>
      {session.turns > 1 && <span className="figure">{formatCount(session.turns)} turns</span>}
      <span className="figure">
        {formatCount(session.runs)} {session.runs === 1 ? "run" : "runs"}
      </span>
      {session.runsActive > 0 && <span className="figure">{formatCount(session.runsActive)} active</span>}
      {failed > 0 && <span className="figure failed">{formatCount(failed)} failed</span>}
      <span className="figure">{formatCount(session.totalTokens)} tokens</span>
      <span className="figure">{session.costUsd === null ? "cost unknown" : formatCost(session.costUsd)}</span>
      {session.demo && <DemoTag />}
      <span className="figure path" title={`Workspace: ${session.workspace}`}>
        <bdi>{session.workspace}</bdi>
      </span>
    </p>
  );
}

/** Holding the root holds them all. */
function paused({ status }: SessionRow): Standing {
  return { status, exactStatus: "paused" };
}

function CancelButton({ session }: { session: string }) {
  const away = usePage((state) => state.connection !== "live");
  const { busy, problem, start } = useAction();
  const [asked, setAsked] = useState(false);
  const cancel = async (): Promise<void> => {
    const result = await start("cancel", () => api.cancel(session));
    if (result !== null) setAsked(true);
  };
  return (
    <>
      <ConfirmButton
        sure="Really cancel?"
        doing="Stopping…"
        busy={busy !== null || asked}
        disabled={away}
        testId="cancel-session"
        warning="Stops all runs of this session."
        onConfirm={() => void cancel()}
      >
        <span>
          Cancel<span className="roomy"> session</span>
        </span>
      </ConfirmButton>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
