import type { FactOf } from "../../facts.ts";
import { compactConversation, compactionTokens, mustCompact, mustTrim, trimConversation } from "../compaction.ts";
import { type AgentContext, noBackoff, withStatus } from "../context.ts";
import { withMessage, withReply } from "../conversation.ts";
import { isCurrentReply } from "../events.ts";
import { countCalls, identicalCallsFatal, resetCounts } from "../loop-detection.ts";
import { type LostUsage, withInterruptedCall, withLostCall } from "../lost-call.ts";
import { backoffAfter, backoffTimer, canRetryModel, isRateLimited, triesOf, wasNotCharged } from "../model-retry.ts";
import { isSpawnTurn } from "../spawn.ts";
import { callCost, lastTurnReason, nextStep, openTurn, planTurn, reachedCap, sideCallOutput } from "../turn.ts";
import { addReply, addUsage } from "../usage.ts";
import { agentBase, type Guard } from "./base.ts";

/** Model calls: turns, replies, retries, the assessment of the intent, summaries and compaction. */

/** Output tokens of model calls outside of the turns. */
export const summaryOutputTokens = 1_024;
export const assessOutputTokens = 512;

export const emptyReplyNotice = "Your reply was empty. Go on with the task: use a tool, or give your answer.";

/** No model reads the conversation in the next turn, so it is not shortened. */
const isNextWithoutModel = (context: AgentContext): boolean =>
  context.intent.handler !== undefined || isSpawnTurn(context, nextStep(context));

const isEmpty: Guard = ({ context, event }) => isCurrentReply(context, event) && event.reply.text.trim() === "";

export const modelGuards = {
  isDirect: ({ context }) => context.pin.definition.intent === "direct",
  /** A handler's calls are approved one by one, each with its message or event. */
  isRisky: ({ context }) => context.intent.risk === "high" && context.intent.handler === undefined,
  isCurrentStep: ({ context, event }) => "step" in event && event.step === context.step,
  isNextStep: ({ context, event }) => "step" in event && event.step === nextStep(context),
  hasReachedCap: ({ context }) => reachedCap(context) !== null,
  mustTrim: ({ context }) => !isNextWithoutModel(context) && mustTrim(context),
  mustCompact: ({ context }) => !isNextWithoutModel(context) && mustCompact(context),
  isRefusal: ({ context, event }) => isCurrentReply(context, event) && event.reply.stopReason === "refusal",
  isLoop: ({ context, event }) =>
    isCurrentReply(context, event) &&
    Object.values(countCalls(context.callCounts, event.reply.calls)).some(({ count }) => count >= identicalCallsFatal),
  wantsTools: ({ context, event }) =>
    isCurrentReply(context, event) && event.reply.calls.length > 0 && context.turn?.last === null,
  wantsToolsOnLastTurn: ({ context, event }) => isCurrentReply(context, event) && event.reply.calls.length > 0,
  isEmpty,
  isEmptyTwice: (args) => isEmpty(args) && args.context.emptyReplies > 0,
  /** No other turn follows in which the model could answer. */
  isEmptyOnLastTurn: (args) => isEmpty(args) && args.context.turn?.last !== null,
  hasPendingMessages: ({ context, event }) =>
    isCurrentReply(context, event) && context.pendingMessages.length > 0 && context.turn?.last === null,
  isRateLimited: ({ context, event }) => context.intent.handler === undefined && isRateLimited(context, event),
  /** The tools of a handler have tried again themselves. */
  canRetryModel: ({ context, event }) => context.intent.handler === undefined && canRetryModel(context, event),
  isBackoffOver: ({ context, event }) => event.type === "timer.fired" && event.timer === backoffTimer(context),
} satisfies Record<string, Guard>;

export const modelActions = {
  storeIntent: agentBase.assign(({ context, event }) => {
    if (event.type !== "intent.assessed") return {};
    const usage = event.usage ? addUsage(context.usage, event.usage) : chargedAsLost(context);
    return { intent: event.intent, usage, callReserve: null };
  }),
  beginExecution: agentBase.assign(({ context }) => ({ intent: withStatus(context.intent, "executing") })),
  reserveForAssessment: agentBase.assign(({ context }) => ({
    callReserve: context.pin.definition.intent === "model" ? sideCallReserve(context, assessOutputTokens) : null,
  })),
  reserveForSummary: agentBase.assign(({ context }) => ({
    callReserve: sideCallReserve(context, summaryOutputTokens),
  })),
  reserveForCompaction: agentBase.assign(({ context }) => ({
    callReserve: sideCallReserve(context, compactionTokens(context)),
  })),
  /** The provider may have billed a call that was running when its host died. */
  chargeLostCall: agentBase.assign(({ context }) => ({ usage: chargedAsLost(context), callReserve: null })),
  /** A cancel, a deadline or the stop of the host ends the running call. */
  bookLostCall: agentBase.assign(({ context, event }) => withInterruptedCall(context, event)),
  /** A run that was parked for people had no running call, so its reserve is free again. */
  releaseCallReserve: agentBase.assign(({ context, event }) => {
    if (event.type !== "run.parked") return {};
    return event.reason === "drain"
      ? event.lostUsage === undefined
        ? {}
        : withInterruptedCall(context, event)
      : { callReserve: null };
  }),
  beginTurn: agentBase.assign(({ context }) => {
    const last = lastTurnReason(context);
    const step = context.repeatTurn ? context.step : context.step + 1;
    const modelTries = context.repeatTurn ? context.modelTries : 0;
    const next = { ...openTurn(context, last), step, modelTries, repeatTurn: false, calls: [] };
    const turn = planTurn(next, last);
    const callCounts = context.pendingMessages.length > 0 ? resetCounts(context.callCounts) : context.callCounts;
    const callReserve = isSpawnTurn(next, step) || next.intent.handler ? null : turn.reserve;
    return { ...next, turn, callReserve, callCounts };
  }),
  repeatTurn: agentBase.assign({ repeatTurn: true }),
  appendReply: agentBase.assign(({ context, event }) => {
    if (event.type !== "model.replied") return {};
    const { text, calls } = event.reply;
    return {
      ...withReply(context, event.step, event.reply),
      usage: addReply(context.usage, event.reply),
      callCounts: countCalls(context.callCounts, calls),
      callReserve: null,
      backoff: noBackoff,
      emptyReplies: text.trim() === "" && calls.length === 0 ? context.emptyReplies : 0,
    };
  }),
  recordModelFailure: agentBase.assign(({ context, event }) => {
    if (event.type !== "model.failed") return {};
    const usage = wasNotCharged(event.error) ? context.usage : chargedAsLost(context, event.lostUsage);
    return { usage, callReserve: null, modelTries: context.modelTries + triesOf(event.error) };
  }),
  backOff: agentBase.assign(({ context, event }) =>
    event.type === "model.failed" ? { backoff: backoffAfter(context, event.error), repeatTurn: true } : {},
  ),
  remindModel: agentBase.assign(({ context }) => ({
    ...withMessage(context, { role: "user", text: emptyReplyNotice }),
    emptyReplies: context.emptyReplies + 1,
  })),
  storeSummary: agentBase.assign(({ context, event }) => {
    if (event.type !== "context.summarised") return {};
    const { step, text } = event;
    return { summary: { step, text }, usage: chargedForSummary(context, event), callReserve: null };
  }),
  trimConversation: agentBase.assign(({ context, event }) =>
    event.type === "context.trimmed" ? { ...trimConversation(context, event), trimmedStep: event.step } : {},
  ),
  compactConversation: agentBase.assign(({ context, event }) => {
    if (event.type !== "context.compacted") return {};
    const { step, text, error } = event;
    return {
      ...compactConversation(context, event),
      compacted: { step, text: error ? null : text },
      usage: chargedForSummary(context, event),
      callReserve: null,
    };
  }),
};

/** Output tokens of the reserved call outside of the turns; 0 if nothing could be reserved. */
export function reservedOutput(context: AgentContext, outputTokensWanted: number): number {
  return context.callReserve === null ? 0 : sideCallOutput({ ...context, callReserve: null }, outputTokensWanted);
}

function sideCallReserve(context: AgentContext, outputTokensWanted: number): AgentContext["callReserve"] {
  const output = sideCallOutput(context, outputTokensWanted);
  return output === 0 ? null : callCost(context, output);
}

/** Charges the whole reserve: the running call may have been billed, and its real usage is unknown. */
function chargedAsLost(context: AgentContext, lost?: LostUsage): AgentContext["usage"] {
  return withLostCall(context, lost).usage;
}

/** Charges a summary: its usage if that is known, else the reserve. */
function chargedForSummary(
  context: AgentContext,
  { usage, error }: Pick<FactOf<"context.summarised">, "usage" | "error">,
): AgentContext["usage"] {
  const isKnown = error === null || wasNotCharged(error) || usage.inputTokens + usage.outputTokens > 0;
  return isKnown ? addUsage(context.usage, usage) : chargedAsLost(context);
}
