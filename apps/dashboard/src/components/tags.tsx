import type { ApprovalRow, SessionRow } from "@troupe/core";
import { demoLabel } from "../lib/status.ts";

/** Marks a session that no model answered: a demo or a replay. The short form is for lists. */
export function DemoTag({ session, isShort = false }: { session: SessionRow; isShort?: boolean }) {
  if (!session.demo) return null;
  const { short, long } = demoLabel(session);
  return (
    <span className="demo-tag" data-replay={session.replay} title={long}>
      {isShort ? short : long}
    </span>
  );
}

/** The risk of a call. */
export function RiskTag({ risk }: { risk: ApprovalRow["risk"] }) {
  return (
    <span className="risk-tag" data-risk={risk}>
      {risk} risk
    </span>
  );
}

/** The number of waiting approvals. Renders nothing for zero. */
export function ApprovalsTag({ waiting }: { waiting: number }) {
  if (waiting === 0) return null;
  return <span className="approvals-tag">{waiting} to approve</span>;
}
