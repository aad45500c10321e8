import type { ApprovalRow } from "@troupe/core";
import { describeAgent } from "@troupe/core/texts";
import { useState } from "react";
import { AnswerBadge } from "../../components/badges.tsx";
import { RiskTag } from "../../components/tags.tsx";
import { LongText } from "../../components/text-blocks.tsx";
import { outcomeText, subjectOf } from "../../lib/approvals.ts";
import { argumentsLine } from "../../lib/arguments.ts";
import { useNow } from "../../lib/clock.ts";
import { firstLine, formatAge } from "../../lib/format.ts";
import { RunLink } from "./approval-cards.tsx";
import { ArgumentBlocks } from "./argument-blocks.tsx";

/** Rows on the page before "Show more". */
const rowsMax = 50;

/** Settled approvals, newest first. Each one unfolds to its arguments and its answer. */
export function SettledList({ rows }: { rows: readonly ApprovalRow[] }) {
  const [pages, setPages] = useState(1);
  const now = useNow(true);
  if (rows.length === 0) return null;
  const shown = rows.slice(0, rowsMax * pages);
  return (
    <>
      <ul className="settled-list">
        {shown.map((row) => (
          <Settled key={row.id} row={row} now={now} />
        ))}
      </ul>
      {shown.length < rows.length && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show {Math.min(rowsMax, rows.length - shown.length)} more of {rows.length}
        </button>
      )}
    </>
  );
}

function Settled({ row, now }: { row: ApprovalRow; now: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li data-testid="approval-settled" data-approval={row.id} data-state={row.state}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <AnswerBadge state={row.state} />
          <b className="agent">{describeAgent(row)}</b>
          <span className="settled-subject">
            {subjectOf(row)} <span className="soft">{firstLine(argumentsLine(row.args))}</span>
          </span>
          <span className="figure end">{formatAge(now - Date.parse(row.answeredAt ?? row.requestedAt))}</span>
        </summary>
        {isOpen && (
          <div className="settled-body">
            <p>
              {outcomeText(row)} <RiskTag risk={row.risk} />
            </p>
            {row.answerReason !== null && <LongText text={row.answerReason} />}
            <ArgumentBlocks args={row.args} />
            {row.reason !== "" && <p className="agent-text soft">{row.reason}</p>}
            <p className="approval-facts">
              <span>{row.path.join(" › ")}</span>
              <time dateTime={row.requestedAt}>requested {new Date(row.requestedAt).toLocaleString()}</time>
              <RunLink row={row} showsSession />
            </p>
          </div>
        )}
      </details>
    </li>
  );
}
