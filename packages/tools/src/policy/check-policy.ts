import { defaultPolicy, type Policy, type ToolCall, type ToolContext } from "@troupe/core";
import type { ApprovalRule, ApprovalRules } from "@troupe/core/internal";
import { commandLimits, commandRefusal, couldNameCall, type ToolAssessment, toolRemoval } from "@troupe/core/internal";
import type { BoundCall, Tool } from "@troupe/core/tool";
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
  /** The stored rule that allows the call. Null if none was needed. */
  rule: ApprovalRule | null;
}

export interface CheckPolicyOptions {
  /** All tools of this machine. */
  tools?: readonly Tool[];
  policy?: Policy | undefined;
  rules?: Pick<ApprovalRules, "match"> | undefined;
}

/**
 * Creates the check that decides about each call. A stored denial comes first, then the policy's tool lists, then the
 * risk of this call. Throws a `RunFailure` for arguments that do not fit. `known` is the call with the risk that its preview
 * shows.
 */
export function createPolicyCheck({ tools = [], policy = defaultPolicy, rules }: CheckPolicyOptions) {
  const names = new Set(tools.map((tool) => tool.spec.name));
  return (tool: Tool, call: ToolCall, context: ToolContext, known?: BoundCall): PolicyDecision => {
    const { spec } = tool;
    const commands = tool.commandsOf?.(call.args) ?? null;
    const scope = { ...context, workspace: context.project ?? context.workspace };
    const rule = rules?.match(call, scope, ...(commands ? [commands] : [])) ?? null;
    const limits = [...commandLimits(policy.layer), ...(context.grant.commands ?? [])];
    const denial =
      rule?.decision === "deny"
        ? `denied by the stored rule ${rule.id} of ${rule.by}`
        : (toolRemoval([policy.layer], spec, names)?.reason ?? commandRefusal(limits, spec, commands, names));
    if (denial !== null) {
      return { verdict: { decision: "deny", risk: spec.risk, reason: denial }, bound: null, sends: false, rule: null };
    }

    const bound = known ?? tool.bind(call.args, context);
    const isListed = couldNameCall(policy.ask ?? [], spec, commands);
    const asked = decisionFor(bound, isListed, policy, context);
    const { decision, reason } = withAllowance(asked, allowanceOf(rule, asked, context));
    return {
      verdict: { decision, risk: bound.risk, reason },
      bound,
      sends: asked.sends,
      rule: context.approved ? null : rule,
    };
  };
}

function withAllowance(
  asked: Pick<ToolAssessment, "decision" | "reason">,
  allowed: string | null,
): Pick<ToolAssessment, "decision" | "reason"> {
  return asked.decision !== "ask" || allowed === null ? asked : { decision: "allow", reason: allowed };
}

/** The reason why a call that would be asked about is allowed. Null if it is not. */
function allowanceOf(
  rule: ApprovalRule | null,
  { sends }: Pick<PolicyDecision, "sends">,
  { approved }: Pick<ToolContext, "approved">,
): string | null {
  if (approved) return "a person has allowed it";
  // A rule for any arguments says nothing about the content that this call sends.
  if (rule === null || (sends && rule.argsHash === null)) return null;
  return `allowed by the stored rule ${rule.id} of ${rule.by}`;
}

/** The policy's decision about a call's risk. A call that needs consent turns `allow` into `ask`. */
function decisionFor(
  { risk, riskReason, consent, outward }: BoundCall,
  isListed: boolean,
  policy: Policy,
  { taint }: ToolContext,
): Pick<ToolAssessment, "decision" | "reason"> & Pick<PolicyDecision, "sends"> {
  const decision = policy.risk[risk];
  const listed = isListed ? "this machine's policy asks about this call" : null;
  const sent = outwardConsent(outward, taint, policy.web.trustedHosts);
  const needed = [listed, consent, sent].filter((each) => each !== null).join("; and ");
  const sends = sent !== null;
  if (decision === "allow" && needed !== "") return { decision: "ask", reason: needed, sends };
  const why = riskReason ? ` (${riskReason})` : "";
  const reason = `this machine's policy for ${risk} risk is "${decision}"${why}`;
  return { decision, reason: sends && decision === "ask" ? `${reason}; and ${sent}` : reason, sends };
}
