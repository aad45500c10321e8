import { planFailure } from "../../plan/plan-runner.ts";
import type { BailoutReason } from "../../protocol/response.ts";
import { permanentError, type RunError } from "../../protocol/run-error.ts";
import type { AgentContext, RunOutcome } from "./context.ts";
import type { AgentEvent } from "./events.ts";
import { identicalCallsFatal } from "./loop-detection.ts";
import { spawnRefusal } from "./spawn.ts";
import { owedDelegation } from "./triggers.ts";
import { reachedCap } from "./turn.ts";

export const completedOutcome: RunOutcome = { status: "completed", error: null, bailoutReason: null };

export function failedOutcome(error: RunError): RunOutcome {
  return { status: "failed", error, bailoutReason: null };
}

export function rejectedOutcome(error: RunError): RunOutcome {
  return { status: "rejected", error, bailoutReason: null };
}

function cancelledOutcome(reason: string): RunOutcome {
  return { status: "cancelled", error: permanentError("cancelled", reason), bailoutReason: null };
}

function bailedOutOutcome(reason: BailoutReason): RunOutcome {
  const message = `stopped at its limit (${reason}); what was achieved so far is in the details`;
  return {
    status: reason === "timeout" ? "timeout" : "bailed_out",
    error: permanentError(reason === "timeout" ? "timeout" : "budget", message),
    bailoutReason: reason,
  };
}

/** Why a request must not run at all; null if it may. The receiver checks this, whatever the sender has checked. */
export function rejectionOf({ request, pin }: Pick<AgentContext, "request" | "pin">): RunError | null {
  if (request.depth > pin.limits.maxDepth) {
    return permanentError("depth", `depth ${request.depth} is over the limit of ${pin.limits.maxDepth}`);
  }
  if (request.chain.includes(request.agent)) {
    return permanentError("permission", `${[...request.chain, request.agent].join(" → ")} is a cycle`);
  }
  if (request.agent !== pin.definition.id) {
    return permanentError("params", `the request is for ${request.agent}, the definition is of ${pin.definition.id}`);
  }
  if (pin.definition.disabled) return permanentError("permission", `the agent ${request.agent} is switched off`);
  const capUsd = pin.limits.maxCostUsd ?? pin.budget.costUsd;
  if (capUsd !== null && pin.price === null) {
    return permanentError("budget", `the price of ${pin.model} is unknown, so a cap of ${capUsd} USD cannot be kept`);
  }
  return null;
}

// One function per transition that ends a run: the parameters of the action `setOutcome`.

interface Args {
  context: AgentContext;
  event: AgentEvent;
}

interface Params {
  outcome: RunOutcome;
}

export function onCompletion({ context }: Pick<Args, "context">): Params {
  const last = context.messages.at(-1);
  const failure = context.request.plan && last?.role === "assistant" ? planFailure(last.text) : null;
  return { outcome: failure === null ? completedOutcome : failedOutcome(permanentError("tool_error", failure)) };
}

export function onRejection({ context }: Args): Params {
  return { outcome: rejectedOutcome(rejectionOf(context) ?? permanentError("params", "rejected")) };
}

export function onCancel({ event }: Args): Params {
  return { outcome: cancelledOutcome(cancelReason(event) || "cancelled") };
}

function cancelReason(event: AgentEvent): string | null {
  if (event.type !== "inbox.received") return null;
  const { item } = event;
  return item.kind === "session.cancelled" || item.kind === "run.cancelled" ? item.reason : null;
}

export function onDeadline(): Params {
  return { outcome: bailedOutOutcome("timeout") };
}

export function onDenial({ event }: Args): Params {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") {
    return { outcome: rejectedOutcome(permanentError("permission", "denied")) };
  }
  const { by, reason } = event.item;
  return { outcome: rejectedOutcome(permanentError("permission", `denied by ${by}${reason ? `: ${reason}` : ""}`)) };
}

export function onLastTurn({ context }: Args): Params {
  return { outcome: cappedOutcome(context, context.turn?.last ?? "max_iterations") };
}

export function onCap({ context }: Args): Params {
  return { outcome: cappedOutcome(context, reachedCap(context) ?? "max_tokens") };
}

/** Without a turn to mend it, a failed check of a child's result is the reason of the end. */
function cappedOutcome({ failedChecks }: AgentContext, reason: BailoutReason): RunOutcome {
  const failures = failedChecks.flatMap(({ agent, failures: each }) => each.map((failure) => `${agent}: ${failure}`));
  if (failures.length === 0) return bailedOutOutcome(reason);
  return { ...verificationOutcome(failures), bailoutReason: reason };
}

export function onOwedDelegation({ context }: Args): Params {
  const owed = owedDelegation(context);
  const message = owed
    ? `the request says “${owed.phrase}”, so it had to be delegated to ${owed.trigger.agent}, and was not`
    : "a mandatory delegation did not happen";
  return { outcome: failedOutcome(permanentError("verification", message)) };
}

/** The delegation of a `/spawn` was refused, so nothing was started. */
export function onSpawnRefusal({ context }: Args): Params {
  return {
    outcome: failedOutcome(spawnRefusal(context) ?? permanentError("params", "the agent could not be started")),
  };
}

export function onLoop(): Params {
  const message = `ended: the same call was asked for ${identicalCallsFatal} times and nothing had changed; what was achieved so far is in the details`;
  return { outcome: { ...bailedOutOutcome("repeated_calls"), error: permanentError("budget", message) } };
}

export function onModelFailure({ context, event }: Args): Params {
  if (event.type !== "model.failed") return { outcome: failedOutcome(permanentError("model", "the model failed")) };
  const { error } = event;
  const { modelTries } = context;
  if (modelTries < 2) return { outcome: failedOutcome(error) };
  const message = `${error.message} (asked ${modelTries} times)`;
  return { outcome: failedOutcome({ ...error, message, tries: modelTries }) };
}

export function onRefusal(): Params {
  return { outcome: failedOutcome(permanentError("model", "the model refused to answer")) };
}

export function onEmptyReply(): Params {
  return { outcome: failedOutcome(permanentError("model", "the model answered nothing, twice in a row")) };
}

export function onVerification({ event }: Args): Params {
  const failures = event.type === "verify.finished" ? event.failures : [];
  return { outcome: verificationOutcome(failures) };
}

function verificationOutcome(failures: readonly string[]): RunOutcome {
  return failedOutcome(permanentError("verification", failures.join("; ")));
}
