import type { ApprovalRow } from "@troupe/core";
import { useState } from "react";
import { AnswerBadge } from "../../components/answer-badge.tsx";
import { LongText } from "../../components/long-text.tsx";
import { RiskTag } from "../../components/risk-tag.tsx";
import { outcomeWords, subjectOf } from "../../lib/approvals.ts";
import { argumentsLine } from "../../lib/arguments.ts";
import { useNow } from "../../lib/clock.ts";
import { firstLine, formatAge } from "../../lib/format.ts";
import { ArgumentBlocks } from "./argument-blocks.tsx";
import { PlaceLink } from "./place-link.tsx";

/** Rows in the page at once. */
const rowsMax = 50;

/** Questions that are no longer open, newest first; each unfolds to all that was asked and answered. */
export function SettledList({ rows }: { rows: readonly ApprovalRow[] }) {
  const [more, setMore] = useState(1);
  const now = useNow(true);
  if (rows.length === 0) return null;
  const shown = rows.slice(0, rowsMax * more);
  return (
    <>
      <ul className="settled-list">
        {shown.map((row) => (
          <Settled key={row.id} row={row} now={now} />
        ))}
      </ul>
      {shown.length < rows.length && (
        <button type="button" onClick={() => setMore(more + 1)}>
          Show {Math.min(rowsMax, rows.length - shown.length)} more of {rows.length}
        </button>
      )}
    </>
  );
}

function Settled({ row, now }: { row: ApprovalRow; now: number }) {
  const [open, setOpen] = useState(false);
  return (
    <li data-testid="approval-settled" data-approval={row.id} data-state={row.state}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <AnswerBadge state={row.state} />
          <b className="agent">{row.agent}</b>
          <span className="settled-what">
            {subjectOf(row)} <span className="soft">{firstLine(argumentsLine(row.args))}</span>
          </span>
          <span className="figure end">{formatAge(now - Date.parse(row.answeredAt ?? row.requestedAt))}</span>
        </summary>
        {open && (
          <div className="settled-body">
            <p>
              {outcomeWords(row)} <RiskTag risk={row.risk} />
            </p>
            {row.answerReason !== null && <LongText text={row.answerReason} />}
            <ArgumentBlocks args={row.args} />
            {row.reason !== "" && <p className="agent-text soft">{row.reason}</p>}
            <p className="approval-place">
              <span>{row.path.join(" › ")}</span>
              <time dateTime={row.requestedAt}>asked {new Date(row.requestedAt).toLocaleString()}</time>
              <PlaceLink row={row} placed />
            </p>
          </div>
        )}
      </details>
    </li>
  );
}
