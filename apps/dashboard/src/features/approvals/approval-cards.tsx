import type { ApprovalRow } from "@troupe/core";
import { type RefObject, useCallback, useId, useLayoutEffect, useRef, useState } from "react";
import { RoleIcon } from "../../components/icons.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import { RiskTag } from "../../components/tags.tsx";
import { announceSettled, pathOf, subjectOf } from "../../lib/approvals.ts";
import { useNow } from "../../lib/clock.ts";
import { firstLine, formatAge } from "../../lib/format.ts";
import { usePage } from "../../lib/page-context.ts";
import { useLeaveWithFocus } from "../../lib/use-leave-with-focus.ts";
import { ApprovalActions } from "./approval-actions.tsx";
import { ArgumentBlocks } from "./argument-blocks.tsx";
import { PreviewedCall } from "./call-preview.tsx";
import { LostFiles } from "./lost-files.tsx";

/** Cards before "Show more". Each card has many controls. */
const cardsMax = 20;

/** A card for each waiting approval, oldest first, and the outcome of the last settled one. */
export function ApprovalCards({ rows, showsSession }: { rows: readonly ApprovalRow[]; showsSession: boolean }) {
  const [pages, setPages] = useState(1);
  const list = useRef<HTMLDivElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const outcome = useOutcome(rows);
  const shown = rows.slice(0, cardsMax * pages);
  const onRemoved = useFocusAfterRemoval(
    shown.map(({ id }) => id),
    list,
    status,
  );
  return (
    <>
      <p ref={status} className="approvals-status" role="status" tabIndex={-1} data-testid="approvals-status">
        {outcome}
      </p>
      {shown.length > 0 && (
        <div ref={list} className="approval-cards">
          {shown.map((row) => (
            <ApprovalCard key={row.id} row={row} showsSession={showsSession} onRemoved={onRemoved} />
          ))}
        </div>
      )}
      {shown.length < rows.length && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show {Math.min(cardsMax, rows.length - shown.length)} more of {rows.length}
        </button>
      )}
    </>
  );
}

/** The outcome of the last approval that was settled, on this page or anywhere else. */
function useOutcome(rows: readonly ApprovalRow[]): string | null {
  const all = usePage((state) => state.approvals);
  const [before, setBefore] = useState(rows);
  const [outcome, setOutcome] = useState<string | null>(null);
  if (before !== rows) {
    setBefore(rows);
    const announcement = announceSettled(before, all);
    if (announcement !== null) setOutcome(announcement);
  }
  return outcome;
}

interface Props {
  row: ApprovalRow;
  /** The link names the session, in a list with several sessions. */
  showsSession: boolean;
  /** Called when the card is removed while it has the focus. */
  onRemoved(id: string): void;
}

/** One waiting approval: agent, tool, arguments and reason. */
function ApprovalCard({ row, showsSession, onRemoved }: Props) {
  const titleId = useId();
  const now = useNow(true);
  const card = useRef<HTMLElement>(null);
  useLeaveWithFocus(card, () => onRemoved(row.id));

  return (
    <article
      ref={card}
      className="approval-card"
      aria-labelledby={titleId}
      data-testid="approval-card"
      data-approval={row.id}
      data-run={row.run}
      data-risk={row.risk}
    >
      <div className="approval-head">
        <RoleIcon agent={row.agent} />
        <h3 id={titleId} tabIndex={-1}>
          <span className="approval-path">{pathOf(row)}</span>{" "}
          <span className="approval-verb">{row.tool === null ? "asks to start" : "asks for"}</span>{" "}
          {row.tool !== null && <code>{subjectOf(row)}</code>}
        </h3>
        <RiskTag risk={row.risk} />
      </div>
      {row.preview ? <PreviewedCall preview={row.preview} args={row.args} /> : <ArgumentBlocks args={row.args} />}
      {row.losses && <LostFiles losses={row.losses} />}
      {row.reason !== "" && <p className="agent-text soft">{row.reason}</p>}
      <ApprovalActions row={row} />
      <p className="approval-facts">
        <span>requested {formatAge(now - Date.parse(row.requestedAt))}</span>
        <RunLink row={row} showsSession={showsSession} />
      </p>
    </article>
  );
}

/** A link to the run of an approval. */
export function RunLink({ row, showsSession }: { row: Pick<ApprovalRow, "session" | "run">; showsSession: boolean }) {
  const task = usePage((state) => state.sessions?.find(({ session }) => session === row.session)?.task);
  return (
    <RouteLink className="link" to={{ session: row.session, run: row.run }}>
      {showsSession ? firstLine(task ?? "its session", 80) : "Show the run"}
    </RouteLink>
  );
}

/**
 * Moves the focus when the card with the focus is removed: to the next card, or to the outcome without one. Returns the
 * callback for removed cards.
 */
function useFocusAfterRemoval(
  ids: readonly string[],
  list: RefObject<HTMLElement | null>,
  fallback: RefObject<HTMLElement | null>,
): (id: string) => void {
  const previousIds = useRef<readonly string[]>(ids);
  const removedIndex = useRef<number | null>(null);
  const onRemoved = useCallback((id: string) => {
    removedIndex.current = previousIds.current.indexOf(id);
  }, []);
  useLayoutEffect(() => {
    previousIds.current = ids;
    if (removedIndex.current === null) return;
    const next = ids[Math.min(removedIndex.current, ids.length - 1)];
    removedIndex.current = null;
    const card = next === undefined ? null : list.current?.querySelector<HTMLElement>(`[data-approval="${next}"] h3`);
    (card ?? fallback.current)?.focus();
  });
  return onRemoved;
}
