import type { ApprovalRow } from "@troupe/core";

/** How risky, in words and colour. */
export function RiskTag({ risk }: { risk: ApprovalRow["risk"] }) {
  return (
    <span className="risk-tag" data-risk={risk}>
      {risk} risk
    </span>
  );
}
