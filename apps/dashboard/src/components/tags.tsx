import type { ApprovalRow } from "@troupe/core";
import { demoLabel } from "../lib/status.ts";

/** Marks a demo session. The short form is for lists. */
export function DemoTag({ short = false }: { short?: boolean }) {
  return (
    <span className="demo-tag" title={demoLabel}>
      {short ? "Demo" : demoLabel}
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
