import type { BailoutReason } from "../../protocol/response.ts";
import type { RunError, RunErrorType } from "../../protocol/run-error.ts";
import type { AgentContext, RunOutcome } from "./context.ts";

/** Verifiers send a run back to work at most this often. */
export const verifyRoundsMax = 2;

/** Why a request may not run at all; null when it may. Checked by the receiver, whatever the sender did. */
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

export const lastTurnNotice =
  "This is your last turn: no more tools can be used. Answer now with what you have, and say what is missing.";

export const emptyReplyNotice = "Your reply was empty. Go on with the task: use a tool, or give your answer.";

export const completedOutcome: RunOutcome = { status: "completed", error: null, bailoutReason: null };

export function failedOutcome(error: RunError): RunOutcome {
  return { status: "failed", error, bailoutReason: null };
}

export function bailedOutOutcome(reason: BailoutReason): RunOutcome {
  const message = `stopped at its limit (${reason}); what was achieved so far is in the details`;
  return {
    status: reason === "timeout" ? "timeout" : "bailed_out",
    error: permanentError(reason === "timeout" ? "timeout" : "budget", message),
    bailoutReason: reason,
  };
}

export function cancelledOutcome(reason: string): RunOutcome {
  return { status: "cancelled", error: permanentError("cancelled", reason), bailoutReason: null };
}

export function rejectedOutcome(error: RunError): RunOutcome {
  return { status: "rejected", error, bailoutReason: null };
}

export function permanentError(type: RunErrorType, message: string): RunError {
  return { type, message, tool: null, recoverable: false, retryAfterMs: null };
}
