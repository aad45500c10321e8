import type { BailoutReason } from "../../protocol/response.ts";
import type { RunError, RunErrorType } from "../../protocol/run-error.ts";
import { type AgentContext, contextTokens, type Verdict } from "./context.ts";

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
  return null;
}

/** The cap that the run has reached, checked between turns; null while there is room for another. */
export function reachedCap(context: AgentContext): BailoutReason | null {
  const { limits } = context.pin;
  const { usage } = context.tally;
  if (limits.maxTokens !== null && usage.inputTokens + usage.outputTokens >= limits.maxTokens) return "max_tokens";
  if (limits.maxCostUsd !== null && isOverCost(usage.costUsd, limits.maxCostUsd)) return "max_cost";
  if (limits.maxContextTokens !== null && contextTokens(context) >= limits.maxContextTokens) return "max_context";
  return null;
}

/** An unknown price may be any: under a cap it counts as over it. */
function isOverCost(costUsd: number | null, maxCostUsd: number): boolean {
  return costUsd === null || costUsd >= maxCostUsd;
}

/** Whether the turn about to be made is the last one that the caps permit: the model is told so. */
export function isLastTurn(context: AgentContext): boolean {
  const { limits } = context.pin;
  return context.step >= limits.maxIterations || context.tally.toolCalls >= limits.maxToolCalls;
}

/** The cap because of which the last turn was the last. */
export function lastTurnReason(context: AgentContext): BailoutReason {
  return context.step >= context.pin.limits.maxIterations ? "max_iterations" : "max_tool_calls";
}

export const lastTurnNotice =
  "This is your last turn: no more tools can be used. Answer now with what you have, and say what is missing.";

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
