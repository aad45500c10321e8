import type { AgentContext, RunOutcome } from "./context.ts";
import type { AgentEvent } from "./events.ts";
import { repeatsFatal } from "./loop-detection.ts";
import {
  bailedOutOutcome,
  cancelledOutcome,
  failedOutcome,
  permanentError,
  rejectedOutcome,
  rejectionOf,
} from "./rules.ts";
import { reachedCap } from "./turn.ts";

/** What a machine knows when it decides how its run will end. */
interface Moment {
  context: AgentContext;
  event: AgentEvent;
}

export function onRejection({ context }: Moment): { verdict: RunOutcome } {
  return { verdict: rejectedOutcome(rejectionOf(context) ?? permanentError("params", "rejected")) };
}

export function onCancel({ event }: Moment): { verdict: RunOutcome } {
  return { verdict: cancelledOutcome(cancelReason(event) || "cancelled") };
}

function cancelReason(event: AgentEvent): string | null {
  if (event.type !== "inbox.received") return null;
  const { item } = event;
  return item.kind === "session.cancelled" || item.kind === "run.cancelled" ? item.reason : null;
}

export function onDeadline(): { verdict: RunOutcome } {
  return { verdict: bailedOutOutcome("timeout") };
}

export function onDenial({ event }: Moment): { verdict: RunOutcome } {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") {
    return { verdict: rejectedOutcome(permanentError("permission", "denied")) };
  }
  const { by, reason } = event.item;
  return { verdict: rejectedOutcome(permanentError("permission", `denied by ${by}${reason ? `: ${reason}` : ""}`)) };
}

export function onLastTurn({ context }: Moment): { verdict: RunOutcome } {
  return { verdict: bailedOutOutcome(context.turn?.last ?? "max_iterations") };
}

export function onCap({ context }: Moment): { verdict: RunOutcome } {
  return { verdict: bailedOutOutcome(reachedCap(context) ?? "max_tokens") };
}

export function onLoop(): { verdict: RunOutcome } {
  const message = `ended: the same call was asked for ${repeatsFatal} times and nothing had changed; what was achieved so far is in the details`;
  return { verdict: { ...bailedOutOutcome("repeated_calls"), error: permanentError("budget", message) } };
}

export function onModelFailure({ context, event }: Moment): { verdict: RunOutcome } {
  if (event.type !== "model.failed") return { verdict: failedOutcome(permanentError("model", "the model failed")) };
  const { error } = event;
  const { modelTries } = context;
  if (modelTries < 2) return { verdict: failedOutcome(error) };
  return {
    verdict: failedOutcome({ ...error, message: `${error.message} (asked ${modelTries} times)`, tries: modelTries }),
  };
}

export function onRefusal(): { verdict: RunOutcome } {
  return { verdict: failedOutcome(permanentError("model", "the model refused to answer")) };
}

export function onEmptyReply(): { verdict: RunOutcome } {
  return { verdict: failedOutcome(permanentError("model", "the model answered nothing, twice in a row")) };
}

export function onVerification({ event }: Moment): { verdict: RunOutcome } {
  const failures = event.type === "verify.finished" ? event.failures : [];
  return { verdict: failedOutcome(permanentError("verification", failures.join("; "))) };
}
