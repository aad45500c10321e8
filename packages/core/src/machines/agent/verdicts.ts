import type { AgentContext, Verdict } from "./context.ts";
import type { AgentEvent } from "./event.ts";
import { bailedOut, cancelled, failed, lastTurnReason, reachedCap, refusal, rejected, rejectionOf } from "./rules.ts";

/** What a machine knows when it decides how its run will end. */
interface Moment {
  context: AgentContext;
  event: AgentEvent;
}

export function onRejection({ context }: Moment): { verdict: Verdict } {
  return { verdict: rejected(rejectionOf(context) ?? refusal("params", "rejected")) };
}

export function onCancel({ event }: Moment): { verdict: Verdict } {
  const reason = event.type === "inbox.received" && event.item.kind === "session.cancelled" ? event.item.reason : "";
  return { verdict: cancelled(reason || "cancelled") };
}

export function onDeadline(): { verdict: Verdict } {
  return { verdict: bailedOut("timeout") };
}

export function onDenial({ event }: Moment): { verdict: Verdict } {
  const by = event.type === "inbox.received" && event.item.kind === "approval.answered" ? event.item.by : "a person";
  return { verdict: rejected(refusal("permission", `denied by ${by}`)) };
}

export function onLastTurn({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(lastTurnReason(context)) };
}

export function onCap({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(reachedCap(context) ?? "max_tokens") };
}

export function onModelFailure({ event }: Moment): { verdict: Verdict } {
  return { verdict: failed(event.type === "model.failed" ? event.error : refusal("model", "the model failed")) };
}

export function onRefusal(): { verdict: Verdict } {
  return { verdict: failed(refusal("model", "the model refused to answer")) };
}

export function onVerification({ event }: Moment): { verdict: Verdict } {
  const failures = event.type === "verify.finished" ? event.failures : [];
  return { verdict: failed(refusal("verification", failures.join("; "))) };
}
