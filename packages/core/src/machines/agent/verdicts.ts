import type { AgentContext, Verdict } from "./context.ts";
import type { AgentEvent } from "./event.ts";
import { repeatsFatal } from "./repeats.ts";
import { bailedOut, cancelled, failed, refusal, rejected, rejectionOf } from "./rules.ts";
import { reachedCap } from "./turn.ts";

/** What a machine knows when it decides how its run will end. */
interface Moment {
  context: AgentContext;
  event: AgentEvent;
}

export function onRejection({ context }: Moment): { verdict: Verdict } {
  return { verdict: rejected(rejectionOf(context) ?? refusal("params", "rejected")) };
}

export function onCancel({ event }: Moment): { verdict: Verdict } {
  return { verdict: cancelled(cancelReason(event) || "cancelled") };
}

function cancelReason(event: AgentEvent): string | null {
  if (event.type !== "inbox.received") return null;
  const { item } = event;
  return item.kind === "session.cancelled" || item.kind === "run.cancelled" ? item.reason : null;
}

export function onDeadline(): { verdict: Verdict } {
  return { verdict: bailedOut("timeout") };
}

export function onDenial({ event }: Moment): { verdict: Verdict } {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") {
    return { verdict: rejected(refusal("permission", "denied")) };
  }
  const { by, reason } = event.item;
  return { verdict: rejected(refusal("permission", `denied by ${by}${reason ? `: ${reason}` : ""}`)) };
}

export function onLastTurn({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(context.turn?.last ?? "max_iterations") };
}

export function onCap({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(reachedCap(context) ?? "max_tokens") };
}

export function onLoop(): { verdict: Verdict } {
  const message = `ended: the same call was asked for ${repeatsFatal} times and nothing had changed; what was achieved so far is in the details`;
  return { verdict: { ...bailedOut("repeated_calls"), error: refusal("budget", message) } };
}

export function onModelFailure({ context, event }: Moment): { verdict: Verdict } {
  if (event.type !== "model.failed") return { verdict: failed(refusal("model", "the model failed")) };
  const { error } = event;
  const { modelTries } = context;
  if (modelTries < 2) return { verdict: failed(error) };
  return { verdict: failed({ ...error, message: `${error.message} (asked ${modelTries} times)`, tries: modelTries }) };
}

export function onRefusal(): { verdict: Verdict } {
  return { verdict: failed(refusal("model", "the model refused to answer")) };
}

export function onEmptyReply(): { verdict: Verdict } {
  return { verdict: failed(refusal("model", "the model answered nothing, twice in a row")) };
}

export function onVerification({ event }: Moment): { verdict: Verdict } {
  const failures = event.type === "verify.finished" ? event.failures : [];
  return { verdict: failed(refusal("verification", failures.join("; "))) };
}
