import type { RunError } from "../../protocol/run-error.ts";
import type { FactOf } from "../events.ts";
import type { AgentContext, CallState } from "./context.ts";
import type { AgentEvent } from "./event.ts";

/** Questions that guards ask of an event. */

export function isCancel(event: AgentEvent): boolean {
  if (event.type !== "inbox.received") return false;
  return event.item.kind === "session.cancelled" || event.item.kind === "run.cancelled";
}

/** A person's answer to the question about the whole run; null for any other event. */
export function wholeRunAnswer({ awaiting }: AgentContext, event: AgentEvent): boolean | null {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") return null;
  return event.item.approval === awaiting ? event.item.approved : null;
}

/** The call that a person's answer is about; null for one that does not wait, or no longer. */
export function answeredCall({ calls }: AgentContext, event: AgentEvent): CallState | null {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") return null;
  const { approval } = event.item;
  return calls.find((call) => call.phase === "waiting" && call.approval === approval) ?? null;
}

export function isThisRound(context: AgentContext, event: AgentEvent): event is FactOf<"verify.finished"> {
  return event.type === "verify.finished" && event.round === context.verifyRound;
}

/** A reply or failure of the model call that is under way. */
export function isThisReply({ step }: AgentContext, event: AgentEvent): event is FactOf<"model.replied"> {
  return event.type === "model.replied" && event.step === step;
}

/** The provider asks to wait: no reason to give a run up. */
export function isTurnedAway({ step }: AgentContext, event: AgentEvent): event is FactOf<"model.failed"> {
  return (
    event.type === "model.failed" && event.step === step && event.error.type === "rate_limit" && event.error.recoverable
  );
}

/** Turned down before the model began to work: nothing can have been charged. */
export function isFree({ type, begun }: RunError): boolean {
  if (begun !== undefined) return !begun;
  return type === "rate_limit" || type === "auth" || type === "params" || type === "permission";
}

const backoffBaseMs = 1_000;
const backoffMaxMs = 60_000;

/** How long to wait before the model is asked again: as long as it says, else longer each time. */
export function backoffAfter(count: number, { retryAfterMs }: RunError): AgentContext["backoff"] {
  const delayMs = retryAfterMs ?? Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(count, 10));
  return { count: count + 1, delayMs };
}
