import type { RunRow, SessionRow } from "@troupe/core";
import { useState } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { DemoTag } from "../../components/demo-tag.tsx";
import { Glyph } from "../../components/glyphs.tsx";
import { LongText } from "../../components/long-text.tsx";
import { ProblemNote } from "../../components/problem-note.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { addressOf, selectRun, selectSession, useSelection } from "../../lib/selection.ts";
import { isActive, isFailure } from "../../lib/status.ts";

interface Props {
  session: SessionRow;
  runs: ReadonlyMap<string, RunRow>;
}

/** What was asked, how it stands, and how to stop it. */
export function SessionHead({ session, runs }: Props) {
  const selection = useSelection();
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
  const elapsed = active ? formatElapsed(now - Date.parse(session.startedAt)) : formatDuration(session.durationMs ?? 0);
  return (
    <p className="facts">
      <StatusBadge row={session} />
      <span className="figure">{elapsed}</span>
      <span className="figure">
        {formatCount(session.runs)} {session.runs === 1 ? "run" : "runs"}
      </span>
      {session.runsActive > 0 && <span className="figure">{formatCount(session.runsActive)} active</span>}
      {failed > 0 && <span className="figure failed">{formatCount(failed)} failed</span>}
      <span className="figure">{formatCount(session.totalTokens)} tokens</span>
      {session.demo && <DemoTag />}
      <span className="figure path" title={`Workspace: ${session.workspace}`}>
        <bdi>{session.workspace}</bdi>
      </span>
    </p>
  );
}

function CancelButton({ session }: { session: string }) {
  const away = usePage((state) => state.connection !== "live");
  const [asked, setAsked] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const cancel = async (): Promise<void> => {
    setAsked(true);
    setProblem(null);
    try {
      await api.cancel(session);
    } catch (thrown) {
      setProblem(problemOf(thrown));
      setAsked(false);
    }
  };
  return (
    <>
      <button
        type="button"
        className="danger"
        data-testid="cancel-session"
        disabled={asked || away}
        onClick={() => void cancel()}
      >
        {asked ? (
          "Stopping…"
        ) : (
          <span>
            Cancel<span className="roomy"> session</span>
          </span>
        )}
      </button>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
