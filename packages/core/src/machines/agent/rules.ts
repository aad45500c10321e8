import type { BailoutReason } from "../../protocol/response.ts";
import type { RunError, RunErrorType } from "../../protocol/run-error.ts";
import type { AgentContext, Verdict } from "./context.ts";

/** Verifiers send a run back to work at most this often. */
export const verifyRoundsMax = 2;

/** Why a request may not run at all; null when it may. Checked by the receiver, whatever the sender did. */
export function rejectionOf({ request, pin }: Pick<AgentContext, "request" | "pin">): RunError | null {
  if (request.depth > pin.limits.maxDepth) {
    return refusal("depth", `depth ${request.depth} is over the limit of ${pin.limits.maxDepth}`);
  }
  if (request.chain.includes(request.agent)) {
    return refusal("permission", `${[...request.chain, request.agent].join(" → ")} is a cycle`);
  }
  if (request.agent !== pin.definition.id) {
    return refusal("params", `the request is for ${request.agent}, the definition is of ${pin.definition.id}`);
  }
  if (pin.definition.disabled) return refusal("permission", `the agent ${request.agent} is switched off`);
  const capUsd = pin.limits.maxCostUsd ?? pin.budget.costUsd;
  if (capUsd !== null && pin.price === null) {
    return refusal("budget", `the price of ${pin.model} is unknown, so a cap of ${capUsd} USD cannot be kept`);
  }
  return null;
}

export const lastTurnNotice =
  "This is your last turn: no more tools can be used. Answer now with what you have, and say what is missing.";

export const emptyReplyNotice = "Your reply was empty. Go on with the task: use a tool, or give your answer.";

export const completed: Verdict = { status: "completed", error: null, bailoutReason: null };

export function failed(error: RunError): Verdict {
  return { status: "failed", error, bailoutReason: null };
}

export function bailedOut(reason: BailoutReason): Verdict {
  const message = `stopped at its limit (${reason}); what was achieved so far is in the details`;
  return {
    status: reason === "timeout" ? "timeout" : "bailed_out",
    error: refusal(reason === "timeout" ? "timeout" : "budget", message),
    bailoutReason: reason,
  };
}

export function cancelled(reason: string): Verdict {
  return { status: "cancelled", error: refusal("cancelled", reason), bailoutReason: null };
}

export function rejected(error: RunError): Verdict {
  return { status: "rejected", error, bailoutReason: null };
}

export function refusal(type: RunErrorType, message: string): RunError {
  return { type, message, tool: null, recoverable: false, retryAfterMs: null };
}
