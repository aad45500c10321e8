import type { RunRow, SessionRow } from "@troupe/core";
import { describeAgent, describeBailout } from "@troupe/core/texts";
import { type KeyboardEvent, useEffect, useState } from "react";
import { StatusBadge } from "../../components/badges.tsx";
import { Glyph, RoleIcon } from "../../components/icons.tsx";
import { DemoTag } from "../../components/tags.tsx";
import { LineList, LongText, PanelSection } from "../../components/text-blocks.tsx";
import { api } from "../../lib/api.ts";
import { subjectOf } from "../../lib/approvals.ts";
import { activityOf } from "../../lib/live-note.ts";
import { selectRun, selectTab, useRoute } from "../../lib/navigation.ts";
import { usePage } from "../../lib/page-context.ts";
import { isActive } from "../../lib/status.ts";
import { ancestors } from "../../lib/tree.ts";
import { Conversation } from "../conversation/conversation.tsx";
import { Changes } from "./changes.tsx";
import { PassedContext } from "./passed-context.tsx";
import { RunControls } from "./run-controls.tsx";
import { BudgetFigures, RunFigures } from "./run-figures.tsx";

interface Props {
  run: RunRow;
  session: SessionRow;
  runs: ReadonlyMap<string, RunRow>;
}

/** The details of one run. */
export function RunPanel({ run, session, runs }: Props) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    document.querySelector<HTMLElement>(`[role="row"][data-run="${run.run}"]`)?.focus();
  };
  const { tab } = useRoute();
  const isConversation = tab === "conversation";
  return (
    <aside className="run-panel" data-tab={tab ?? "details"} aria-labelledby="run-title" onKeyDown={onKeyDown}>
      <div className="panel-head">
        <RoleIcon agent={run.agent} />
        <h2 id="run-title" tabIndex={-1}>
          {describeAgent(run)}
        </h2>
        <StatusBadge row={run} />
        <button type="button" className="icon-button" aria-label="Close" onClick={() => selectRun(null)}>
          <Glyph name="close" />
        </button>
      </div>
      <PanelTabs isConversation={isConversation} />
      {isConversation ? (
        <div className="panel-body" role="tabpanel" aria-labelledby="tab-conversation">
          <Conversation run={run} />
        </div>
      ) : (
        <Details run={run} session={session} runs={runs} />
      )}
    </aside>
  );
}

/** The arrow keys go to the other tab, as in every list of tabs. */
function PanelTabs({ isConversation }: { isConversation: boolean }) {
  const select = (conversation: boolean): void => selectTab(conversation ? "conversation" : null);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    select(!isConversation);
    document.getElementById(isConversation ? "tab-details" : "tab-conversation")?.focus();
  };
  const tab = (id: string, name: string, isSelected: boolean, conversation: boolean) => (
    <button
      type="button"
      role="tab"
      id={id}
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      onClick={() => select(conversation)}
    >
      {name}
    </button>
  );
  return (
    <div className="panel-tabs" role="tablist" aria-label="Parts of the run" onKeyDown={onKeyDown}>
      {tab("tab-details", "Details", !isConversation, false)}
      {tab("tab-conversation", "Conversation", isConversation, true)}
    </div>
  );
}

function Details({ run, session, runs }: Props) {
  return (
    <div className="panel-body" role="tabpanel" aria-labelledby="tab-details">
      <DemoTag session={session} />
      <RunPath run={run} runs={runs} />
      <PanelSection name="Task">
        <LongText text={run.task} />
      </PanelSection>
      <PassedContext key={`context ${run.run}`} run={run} />
      {isActive(run) && <WaitingApprovals run={run} />}
      {isActive(run) && <RunControls run={run} />}
      {isActive(run) && <Activity run={run} />}
      <Results run={run} isRoot={run.run === session.rootRun} />
      <Changes key={run.run} run={run} />
      <BudgetFigures run={run} runs={runs} />
      <RunFigures run={run} session={session} />
    </div>
  );
}

function Activity({ run }: { run: RunRow }) {
  const note = usePage((state) => state.notes.get(run.run));
  const activity = activityOf(run, note);
  if (activity === null) return null;
  return (
    <PanelSection name="Now">
      <p className="agent-text">{activity}</p>
      {note && note.text !== "" && <p className="agent-text stream">{note.text}</p>}
    </PanelSection>
  );
}

/** A cancellation is intended, so it is not shown as an error. */
const failed = { name: "Error", tone: "failed" };
const cancelled = { name: "Cancelled", tone: "cancelled" };

function Results({ run, isRoot }: { run: RunRow; isRoot: boolean }) {
  return (
    <>
      {run.error !== null && (
        <PanelSection {...(run.status === "cancelled" ? cancelled : failed)}>
          <LongText text={run.error} />
        </PanelSection>
      )}
      {run.bailoutReason !== null && (
        <PanelSection name="Stopped by a limit" tone="timeout">
          <p>{describeBailout(run.bailoutReason)}</p>
        </PanelSection>
      )}
      {run.summary !== null && run.summary !== run.error && (
        <PanelSection name={isRoot ? "Answer" : "Summary"}>
          {isRoot ? <Answer run={run} summary={run.summary} /> : <LongText text={run.summary} />}
        </PanelSection>
      )}
      {run.warnings.length > 0 && (
        <PanelSection name="Warnings" tone="timeout">
          <LineList lines={run.warnings} />
        </PanelSection>
      )}
    </>
  );
}

/** The path names the nearest ancestors and counts the others. */
const namedMax = 4;

/** The ancestors of a run, from the root down. */
function RunPath({ run, runs }: { run: RunRow; runs: ReadonlyMap<string, RunRow> }) {
  const above = ancestors(runs, run.run).filter((id) => runs.has(id));
  if (above.length === 0) return null;
  return (
    <p className="run-path">
      delegated by {above.length > namedMax && <span className="soft">{above.length - namedMax} more › </span>}
      {above
        .slice(0, namedMax)
        .reverse()
        .map((id, i) => (
          <span key={id}>
            {i > 0 && " › "}
            <button type="button" className="link" onClick={() => selectRun(id)}>
              {nameOf(runs.get(id))}
            </button>
          </span>
        ))}
    </p>
  );
}

/** A button that leads to the first waiting approval of the run. On a narrow page it closes the panel. */
function WaitingApprovals({ run }: { run: RunRow }) {
  const approvals = usePage((state) => state.approvals);
  const [first, ...others] = (approvals ?? []).filter((row) => row.run === run.run && row.state === "waiting");
  if (!first) return null;
  const showApproval = (): void => {
    const findTitle = (): HTMLElement | null => document.querySelector(`[data-approval="${first.id}"] h3`);
    if (findTitle()?.checkVisibility() !== true) selectRun(null);
    requestAnimationFrame(() => {
      findTitle()?.focus();
      findTitle()?.closest("article")?.scrollIntoView({ block: "nearest" });
    });
  };
  return (
    <section className="part" data-tone="waiting" data-testid="run-waiting">
      <h3>Waiting for approval</h3>
      <p>
        {subjectOf(first)}
        {others.length > 0 && ` and ${others.length} more`}{" "}
        <button type="button" className="link" onClick={showApproval}>
          Answer
        </button>
      </p>
    </section>
  );
}

/** The full answer of a session. It shows the summary of the row until the answer is loaded. */
function Answer({ run, summary }: { run: RunRow; summary: string }) {
  const [details, setDetails] = useState<string | null>(null);
  const isSettled = !isActive(run);
  useEffect(() => {
    let isCurrent = true;
    if (isSettled) {
      api.response(run.session).then(
        (response) => isCurrent && setDetails(response.details),
        // The summary stays.
        () => {},
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [run.session, isSettled]);
  return <LongText text={details || summary} charsMax={6_000} />;
}

function nameOf(run: RunRow | undefined): string {
  return run ? describeAgent(run) : "";
}
