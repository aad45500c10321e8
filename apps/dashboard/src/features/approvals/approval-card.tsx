import type { ApprovalRow } from "@troupe/core";
import { useId, useRef } from "react";
import { RiskTag } from "../../components/risk-tag.tsx";
import { RoleIcon } from "../../components/role-icon.tsx";
import { subjectOf } from "../../lib/approvals.ts";
import { useNow } from "../../lib/clock.ts";
import { formatAge } from "../../lib/format.ts";
import { useLeaveWithFocus } from "../../lib/use-leave-with-focus.ts";
import { ApprovalActions } from "./approval-actions.tsx";
import { ArgumentBlocks } from "./argument-blocks.tsx";
import { PlaceLink } from "./place-link.tsx";

interface Props {
  row: ApprovalRow;
  /** Names the session as well, where cards of several stand together. */
  placed: boolean;
  /** Told when the card goes while the focus is in it. */
  onGone(id: string): void;
}

/** One question: who asks, for what exactly, and why a person is asked. */
export function ApprovalCard({ row, placed, onGone }: Props) {
  const titleId = useId();
  const now = useNow(true);
  const card = useRef<HTMLElement>(null);
  useLeaveWithFocus(card, () => onGone(row.id));

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
          <span className="approval-path">{row.path.join(" › ") || row.agent}</span>{" "}
          <span className="asks">{row.tool === null ? "asks to begin" : "asks for"}</span>{" "}
          {row.tool !== null && <code>{subjectOf(row)}</code>}
        </h3>
        <RiskTag risk={row.risk} />
      </div>
      <ArgumentBlocks args={row.args} />
      {row.reason !== "" && <p className="agent-text soft">{row.reason}</p>}
      <ApprovalActions row={row} />
      <p className="approval-place">
        <span>asked {formatAge(now - Date.parse(row.requestedAt))}</span>
        <PlaceLink row={row} placed={placed} />
      </p>
    </article>
  );
}
