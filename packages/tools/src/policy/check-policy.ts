import { defaultPolicy, type Policy, type ToolCall, type ToolContext } from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import { type ToolAssessment, toolRemoval } from "@troupe/core/internal";
import type { BoundCall, Tool } from "../define-tool.ts";

/** What is done with a call, and the call as it would be run: null where it is denied without a look at its arguments. */
export interface PolicyDecision {
  verdict: ToolAssessment;
  bound: BoundCall | null;
}

export interface CheckPolicyOptions {
  /** All that this machine has. */
  tools?: readonly Tool[];
  policy?: Policy | undefined;
  rules?: Pick<ApprovalRules, "match"> | undefined;
}

/**
 * What this machine says to a call, in the order in which it counts: a stored denial, the tools that its policy lets
 * be used, then the risk of this very call. Throws a `RunFailure` for arguments that do not fit.
 */
export function createPolicyCheck({ tools = [], policy = defaultPolicy, rules }: CheckPolicyOptions) {
  const names = new Set(tools.map((tool) => tool.spec.name));
  return (tool: Tool, call: ToolCall, context: ToolContext): PolicyDecision => {
    const { spec } = tool;
    const rule = rules?.match(call, { ...context, workspace: context.project ?? context.workspace }) ?? null;
    const denial =
      rule?.decision === "deny"
        ? `denied by the stored rule ${rule.id} of ${rule.by}`
        : (toolRemoval([policy.layer], spec, names)?.reason ?? null);
    if (denial !== null) return { verdict: { decision: "deny", risk: spec.risk, reason: denial }, bound: null };

    const bound = tool.bind(call.args, context);
    const { risk } = bound;
    const { decision, reason } = decisionFor(bound, policy);
    const stored = rule ? `allowed by the stored rule ${rule.id} of ${rule.by}` : null;
    const allowed = decision === "ask" ? (context.approved ? "a person has allowed it" : stored) : null;
    if (allowed !== null) return { verdict: { decision: "allow", risk, reason: allowed }, bound };
    return { verdict: { decision, risk, reason }, bound };
  };
}

/** What the policy says to a call's risk, unless a person has to be asked whatever that is. */
function decisionFor({ risk, consent }: BoundCall, policy: Policy): Pick<ToolAssessment, "decision" | "reason"> {
  const decision = policy.risk[risk];
  if (decision === "allow" && consent !== null) return { decision: "ask", reason: consent };
  return { decision, reason: `this machine's policy for ${risk} risk is "${decision}"` };
}
