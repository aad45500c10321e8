import type { RunRow, SessionRow } from "@troupe/core";
import type { KeyboardEvent } from "react";
import { DemoTag } from "../../components/demo-tag.tsx";
import { Glyph } from "../../components/glyphs.tsx";
import { LongText } from "../../components/long-text.tsx";
import { Lines, Part } from "../../components/part.tsx";
import { RoleIcon } from "../../components/role-icon.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { activityOf } from "../../lib/live-note.ts";
import { usePage } from "../../lib/page-context.ts";
import { selectRun } from "../../lib/selection.ts";
import { bailoutWords, isActive } from "../../lib/status.ts";
import { Answer } from "./answer.tsx";
import { BudgetFigures } from "./budget-figures.tsx";
import { Changes } from "./changes.tsx";
import { RunControls } from "./run-controls.tsx";
import { RunFigures } from "./run-figures.tsx";
import { RunPath } from "./run-path.tsx";
import { WaitingPart } from "./waiting-part.tsx";

interface Props {
  run: RunRow;
  session: SessionRow;
  runs: ReadonlyMap<string, RunRow>;
}

/** All that the record says of one run. */
export function RunPanel({ run, session, runs }: Props) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    document.querySelector<HTMLElement>(`[data-testid="run-row"][data-run="${run.run}"]`)?.focus();
  };
  return (
    <aside className="run-panel" aria-labelledby="run-title" onKeyDown={onKeyDown}>
      <div className="panel-head">
        <RoleIcon agent={run.agent} />
        <h2 id="run-title" tabIndex={-1}>
          {run.agent}
        </h2>
        <StatusBadge row={run} />
        <button type="button" className="icon-button" aria-label="Close" onClick={() => selectRun(null)}>
          <Glyph name="close" />
        </button>
      </div>
      <div className="panel-body">
        {session.demo && <DemoTag />}
        <RunPath run={run} runs={runs} />
        <Part name="Task">
          <LongText text={run.task} />
        </Part>
        {isActive(run) && <WaitingPart run={run} />}
        {isActive(run) && <RunControls run={run} />}
        {isActive(run) && <Now run={run} />}
        <Texts run={run} isRoot={run.run === session.rootRun} />
        <Changes key={run.run} run={run} />
        <BudgetFigures run={run} runs={runs} />
        <RunFigures run={run} session={session} />
      </div>
    </aside>
  );
}

function Now({ run }: { run: RunRow }) {
  const note = usePage((state) => state.notes.get(run.run));
  const activity = activityOf(run, note);
  if (activity === null) return null;
  return (
    <Part name="Now">
      <p className="agent-text">{activity}</p>
      {note && note.text !== "" && <p className="agent-text stream">{note.text}</p>}
    </Part>
  );
}

/** What it is said to have ended by. A cancel was somebody's wish, and no error. */
const failed = { name: "Error", tone: "failed" };
const cancelled = { name: "Cancelled", tone: "cancelled" };

function Texts({ run, isRoot }: { run: RunRow; isRoot: boolean }) {
  return (
    <>
      {run.error !== null && (
        <Part {...(run.status === "cancelled" ? cancelled : failed)}>
          <LongText text={run.error} />
        </Part>
      )}
      {run.bailoutReason !== null && (
        <Part name="Stopped by a limit" tone="timeout">
          <p>{bailoutWords(run.bailoutReason)}</p>
        </Part>
      )}
      {run.summary !== null && run.summary !== run.error && (
        <Part name={isRoot ? "Answer" : "Summary"}>
          {isRoot ? <Answer run={run} summary={run.summary} /> : <LongText text={run.summary} />}
        </Part>
      )}
      {run.warnings.length > 0 && (
        <Part name="Warnings" tone="timeout">
          <Lines lines={run.warnings} />
        </Part>
      )}
    </>
  );
}
