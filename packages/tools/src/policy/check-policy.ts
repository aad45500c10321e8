import { defaultPolicy, type Policy, type ToolCall, type ToolContext } from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import { type ToolAssessment, toolRemoval } from "@troupe/core/internal";
import type { BoundCall, Tool } from "../define-tool.ts";
import { outwardConsent } from "./outward-calls.ts";

/**
 * The decision about a call, and the call as it would run; `bound` is null if it was denied before its arguments were
 * read.
 */
export interface PolicyDecision {
  verdict: ToolAssessment;
  bound: BoundCall | null;
  /** Whether the call sends content for which the rule of two needs a person: an approval covers that content only. */
  sends: boolean;
}

export interface CheckPolicyOptions {
  /** All tools of this machine. */
  tools?: readonly Tool[];
  policy?: Policy | undefined;
  rules?: Pick<ApprovalRules, "match"> | undefined;
}

/**
 * Creates the check that decides about each call. A stored denial comes first, then the policy's tool lists, then the
 * risk of this call. Throws a `RunFailure` for arguments that do not fit.
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
    if (denial !== null)
      return { verdict: { decision: "deny", risk: spec.risk, reason: denial }, bound: null, sends: false };

    const bound = tool.bind(call.args, context);
    const { risk } = bound;
    const { decision, reason, sends } = decisionFor(bound, policy, context);
    // A rule for any arguments says nothing about the content that this call sends.
    const isStored = rule !== null && !(sends && rule.argsHash === null);
    const stored = isStored ? `allowed by the stored rule ${rule.id} of ${rule.by}` : null;
    const allowed = decision === "ask" ? (context.approved ? "a person has allowed it" : stored) : null;
    if (allowed !== null) return { verdict: { decision: "allow", risk, reason: allowed }, bound, sends };
    return { verdict: { decision, risk, reason }, bound, sends };
  };
}

/** The policy's decision about a call's risk. A call that needs consent turns `allow` into `ask`. */
function decisionFor(
  { risk, consent, outward }: BoundCall,
  policy: Policy,
  { taint }: ToolContext,
): Pick<ToolAssessment, "decision" | "reason"> & Pick<PolicyDecision, "sends"> {
  const decision = policy.risk[risk];
  const sent = outwardConsent(outward, taint, policy.web.trustedHosts);
  const needed = [consent, sent].filter((each) => each !== null).join("; and ");
  const sends = sent !== null;
  if (decision === "allow" && needed !== "") return { decision: "ask", reason: needed, sends };
  const reason = `this machine's policy for ${risk} risk is "${decision}"`;
  return { decision, reason: sends && decision === "ask" ? `${reason}; and ${sent}` : reason, sends };
}
