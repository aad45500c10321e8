import type { RunResponse } from "../../../protocol/response.ts";
import { permanentError } from "../../../protocol/run-error.ts";
import { openChecks } from "../child-checks.ts";
import { type AgentContext, withStatus } from "../context.ts";
import { withMessage } from "../conversation.ts";
import { isCurrentRound } from "../events.ts";
import { failedOutcome, rejectionOf } from "../outcomes.ts";
import { composeResponse, outputSchemaOf } from "../response.ts";
import { reachedCap } from "../turn.ts";
import { agentBase, type Guard } from "./base.ts";

/** The end of a run: rejection, the grace period for its children, the response, and its verification. */

/** Verifiers send a run back to work at most this often. */
const verifyRoundsMax = 2;

export const graceTimer = "grace";

export const endingGuards = {
  isRejected: ({ context }) => rejectionOf(context) !== null,
  isGraceOver: ({ event }) => event.type === "timer.fired" && event.timer === graceTimer,
  hasVerifiers: ({ context }) =>
    context.outcome?.status === "completed" &&
    (context.pin.definition.verifiers.length > 0 || outputSchemaOf(context) !== null || openChecks(context).length > 0),
  isVerified: ({ context, event }) => isCurrentRound(context, event) && event.failures.length === 0,
  canTryAgain: ({ context, event }) =>
    isCurrentRound(context, event) &&
    context.verifyRound <= verifyRoundsMax &&
    context.turn?.last === null &&
    reachedCap(context) === null,
  isCurrentRound: ({ context, event }) => isCurrentRound(context, event),
} satisfies Record<string, Guard>;

export const endingActions = {
  composeResponse: agentBase.assign(({ context }) => {
    // The message says "verdict" because recorded journals contain it.
    const outcome = context.outcome ?? failedOutcome(permanentError("crashed", "ended without a verdict"));
    return { response: composeResponse(context, outcome) };
  }),
  beginVerification: agentBase.assign(({ context }) => ({ verifyRound: context.verifyRound + 1 })),
  appendVerificationFailures: agentBase.assign(({ context, event }) => {
    if (event.type !== "verify.finished") return {};
    const text = `Your result was checked and does not hold:\n- ${event.failures.join("\n- ")}\nMend it.`;
    return { ...withMessage(context, { role: "user", text }), outcome: null };
  }),
  storeSettlement: agentBase.assign(({ context, event }) => {
    const response = event.type === "run.settled" ? event.response : context.response;
    return { response, intent: withStatus(context.intent, response?.success ? "complete" : "failed") };
  }),
};

export function responseOf({ response }: AgentContext): RunResponse {
  if (!response) throw new Error("a run reached its end without a response");
  return response;
}
