import type { RunRow, SessionRow } from "@troupe/core";
import { StatusBadge } from "../../components/badges.tsx";
import { CopyButton } from "../../components/buttons.tsx";
import { Glyph } from "../../components/icons.tsx";
import { ApprovalsTag, DemoTag } from "../../components/tags.tsx";
import { LongText } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { useNow } from "../../lib/clock.ts";
import { formatCount, formatDuration, formatElapsed, markedCost } from "../../lib/format.ts";
import { hrefOf, navigate, selectRun, useRoute } from "../../lib/navigation.ts";
import { isActive, isFailure, type StatusFields, turnStartOf } from "../../lib/status.ts";
import { CancelButton, PauseButton } from "../run/control-buttons.tsx";

interface Props {
  session: SessionRow;
  runs: ReadonlyMap<string, RunRow>;
}

/** The task, status and controls of a session. */
export function SessionHead({ session, runs }: Props) {
  const route = useRoute();
  const root = runs.get(session.rootRun);
  const outcome = session.error ?? session.summary;
  return (
    <section className="session-head" aria-label="Session">
      <div className="head-line">
        <button type="button" className="icon-button back" aria-label="All sessions" onClick={() => navigate({})}>
          <Glyph name="back" />
        </button>
        <div className="head-task">
          <LongText text={session.task} charsMax={240} />
        </div>
        <div className="head-actions">
          <CopyButton label="Copy link" text={() => location.origin + hrefOf(route)} />
          {isActive(session) && root && (
            <PauseButton run={root} testId="pause-session">
              <span className="wide-only"> session</span>
            </PauseButton>
          )}
          {isActive(session) && (
            <CancelButton
              cancel={() => api.cancel(session.session)}
              testId="cancel-session"
              warning="Stops all runs of this session."
            >
              <span>
                Cancel<span className="wide-only"> session</span>
              </span>
            </CancelButton>
          )}
        </div>
      </div>
      <Facts session={session} runs={runs} />
      {outcome !== null && !isActive(session) && (
        <div className="outcome" data-status={session.status}>
          <LongText text={outcome} charsMax={400} />
          {session.error === null && route.run !== session.rootRun && (
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
  const elapsed = active ? formatElapsed(now - turnStartOf(session)) : formatDuration(session.durationMs ?? 0);
  return (
    <p className="facts">
      <StatusBadge row={runs.get(session.rootRun)?.exactStatus === "paused" ? pausedStatus(session) : session} />
      <ApprovalsTag waiting={session.approvalsWaiting} />
      <span className="figure">{elapsed}</span>
      {session.turns > 1 && <span className="figure">{formatCount(session.turns)} turns</span>}
      <span className="figure">
        {formatCount(session.runs)} {session.runs === 1 ? "run" : "runs"}
      </span>
      {session.runsActive > 0 && <span className="figure">{formatCount(session.runsActive)} active</span>}
      {failed > 0 && <span className="figure failed">{formatCount(failed)} failed</span>}
      <span className="figure">{formatCount(session.totalTokens)} tokens</span>
      <span className="figure">{session.costUsd === null ? "cost unknown" : markedCost(session)}</span>
      <DemoTag session={session} />
      <span className="figure path" title={`Workspace: ${session.workspace}`}>
        <bdi>{session.workspace}</bdi>
      </span>
    </p>
  );
}

/** A paused root run pauses the whole session. */
function pausedStatus({ status }: SessionRow): StatusFields {
  return { status, exactStatus: "paused" };
}
