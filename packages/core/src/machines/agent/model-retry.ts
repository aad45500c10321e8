import { hashText } from "../../protocol/hash.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { FactOf } from "../facts.ts";
import type { AgentContext, CallState } from "./context.ts";
import type { AgentEvent } from "./events.ts";

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
export function wasRejectedBeforeStart({ step }: AgentContext, event: AgentEvent): boolean {
  if (event.type !== "model.failed" || event.step !== step) return false;
  const { type, recoverable } = event.error;
  return type === "rate_limit" && recoverable && wasNotCharged(event.error);
}

/** Requests that are made for one turn at most, those that another layer has made for it included. */
const modelTriesMax = 5;

/** The call was lost on its way, and has not been made too often for another try. */
export function mayAskAgain({ step, modelTries }: AgentContext, event: AgentEvent): boolean {
  if (event.type !== "model.failed" || event.step !== step) return false;
  const { type, recoverable } = event.error;
  const isPassing = type === "network" || type === "timeout" || type === "rate_limit";
  return isPassing && recoverable && modelTries + triesOf(event.error) < modelTriesMax;
}

/** Requests that came to this failure. */
export function triesOf({ tries = 1 }: RunError): number {
  return tries;
}

/** Turned down before the model began to work: nothing can have been charged. */
export function wasNotCharged({ type, begun }: RunError): boolean {
  if (begun !== undefined) return !begun;
  return type === "rate_limit" || type === "auth" || type === "params" || type === "permission" || type === "budget";
}

const backoffBaseMs = 1_000;
const backoffMaxMs = 60_000;

/**
 * How long to wait before the model is asked again: as long as it says, else longer each time. Runs that failed together
 * do not come back together: each has a share of the wait that only its ids decide, so that a replay decides the same.
 */
export function backoffAfter(
  { request, step, backoff, modelTries }: Pick<AgentContext, "request" | "step" | "backoff" | "modelTries">,
  error: RunError,
): AgentContext["backoff"] {
  const { type, message, retryAfterMs } = error;
  const count = backoff.count + 1;
  const mostMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(backoff.count, 10));
  const share = Number.parseInt(hashText(`${request.run}/${step}/${count}`).slice(0, 8), 16) / 2 ** 32;
  const triesMax = type === "rate_limit" && wasNotCharged(error) ? null : modelTriesMax;
  return {
    count,
    delayMs: retryAfterMs ?? Math.round((mostMs / 2) * (1 + share)),
    retry: { type, message, tries: Math.max(1, modelTries), triesMax },
  };
}
