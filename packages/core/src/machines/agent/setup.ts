import { assign, enqueueActions, setup } from "xstate";
import { isDelegate } from "../../permissions/grant.ts";
import type { RunResponse } from "../../protocol/response.ts";
import { batchMachine } from "../batch/machine.ts";
import { type EffectOf, effectPlace } from "../effects.ts";
import type { FactOf } from "../facts.ts";
import { afterCall, openableBatches, withBatches, withItem, withReady } from "./batches.ts";
import { batchText, callsOf, planOf, refused, runningTool, settleCall, startableTools, withCall } from "./calls.ts";
import {
  askedChild,
  freeSlots,
  isAwaited,
  shareFor,
  taskOfEvent,
  withChild,
  withoutChild,
  withShare,
} from "./children.ts";
import { childTimeMs, isWaitingForPeople, started, stopped, takenUp, timeCapMs } from "./clock.ts";
import { compacted, compactionTokens, mustCompact, mustTrim, trimmed } from "./compaction.ts";
import {
  type AgentContext,
  type AgentInput,
  type BatchState,
  batchKey,
  type CallState,
  noBackoff,
  placeOf,
  type RunOutcome,
} from "./context.ts";
import { withMessage, withMessages, withReply } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import { afterNews, countCalls, repeatsFatal } from "./loop-detection.ts";
import {
  answeredCall,
  backoffAfter,
  isCancel,
  isThisReply,
  isThisRound,
  mayAskAgain,
  triesOf,
  wasNotCharged,
  wasRejectedBeforeStart,
  wholeRunAnswer,
} from "./model-retry.ts";
import { noBudgetLeft, noTimeLeft, sharesFolder, wantsSummary } from "./plan-batch.ts";
import { composeResponse, outputSchemaOf } from "./response.ts";
import { emptyReplyNotice, failedOutcome, permanentError, rejectionOf, verifyRoundsMax } from "./rules.ts";
import { placeOfHandle } from "./task-ids.ts";
import { callCost, lastTurnReason, nextStep, openTurn, planTurn, reachedCap, sideCallOutput } from "./turn.ts";
import { addChild, addLost, addOutcome, addReply, addSpawn, addToolCalls, addUsage, withoutSpawn } from "./usage.ts";

/** Ids of the actors of one call. */
const toolActor = (step: number, call: number): string => `tool/${step}/${call}`;
const batchActor = (place: { step: number; call: number }): string => `batch/${batchKey(place)}`;
const deadlineActor = "deadline";

/** The most that the model may say when it is asked about the conversation, not within it. */
export const summaryOutputTokens = 1_024;
export const assessOutputTokens = 512;

/** The words of the agent machine: what it asks of its context, and what it makes of an event. */
export const agentSetup = setup({
  types: {
    context: {} as AgentContext,
    input: {} as AgentInput,
    output: {} as RunResponse,
    events: {} as AgentEvent,
  },
  actors: {
    assessIntent: effectPlace("assessIntent"),
    askApproval: effectPlace("askApproval"),
    callModel: effectPlace("callModel"),
    planCalls: effectPlace("planCalls"),
    summarise: effectPlace("summarise"),
    trim: effectPlace("trim"),
    compact: effectPlace("compact"),
    callTool: effectPlace("callTool"),
    batch: batchMachine,
    startTimer: effectPlace("startTimer"),
    verify: effectPlace("verify"),
    settle: effectPlace("settle"),
  },
  guards: {
    isRejected: ({ context }) => rejectionOf(context) !== null,
    isDirect: ({ context }) => context.pin.definition.intent === "direct",
    isRisky: ({ context }) => context.intent.risk === "high",
    isApproved: ({ context, event }) => wholeRunAnswer(context, event) === true,
    isDenied: ({ context, event }) => wholeRunAnswer(context, event) === false,
    isCancel: ({ event }) => isCancel(event),
    isSteer: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.steered",
    isPause: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.paused",
    isResume: ({ event }) => event.type === "inbox.received" && event.item.kind === "run.resumed",
    isAnswer: ({ context, event }) => answeredCall(context, event) !== null,
    /** A deadline that fires while the clock stands still was overtaken by whatever stopped it. */
    isDeadline: ({ context, event }) =>
      event.type === "timer.fired" && event.timer === deadlineActor && context.clock.since !== null,
    isBackoffOver: ({ context, event }) => event.type === "timer.fired" && event.timer === backoffTimer(context),
    isGraceOver: ({ event }) => event.type === "timer.fired" && event.timer === "grace",
    isPaused: ({ context }) => context.paused,
    isNotPaused: ({ context }) => !context.paused,
    isRunningTool: ({ context, event }) =>
      (event.type === "tool.finished" || event.type === "approval.requested") &&
      runningTool(context, event.step, event.call) !== null,
    isOfOpenTask: ({ context, event }) => taskOfEvent(context, event) !== null,
    isAwaitedChild: ({ context, event }) => event.type === "child.settled" && isAwaited(context, event),
    isThisStep: ({ context, event }) => "step" in event && event.step === context.step,
    isRefusal: ({ context, event }) => isThisReply(context, event) && event.reply.stopReason === "refusal",
    isLoop: ({ context, event }) =>
      isThisReply(context, event) &&
      Object.values(countCalls(context.repeats, event.reply.calls)).some(({ count }) => count >= repeatsFatal),
    wantsTools: ({ context, event }) =>
      isThisReply(context, event) && event.reply.calls.length > 0 && context.turn?.last === null,
    wantsMoreThanAllowed: ({ context, event }) => isThisReply(context, event) && event.reply.calls.length > 0,
    isEmpty: ({ context, event }) => isThisReply(context, event) && event.reply.text.trim() === "",
    isEmptyAgain: ({ context, event }) =>
      isThisReply(context, event) && event.reply.text.trim() === "" && context.emptyReplies > 0,
    /** There is no other turn to ask it again. */
    isEmptyLastTurn: ({ context, event }) =>
      isThisReply(context, event) && event.reply.text.trim() === "" && context.turn?.last !== null,
    hasNews: ({ context, event }) =>
      isThisReply(context, event) && context.news.length > 0 && context.turn?.last === null,
    hasOpenTasks: ({ context, event }) => isThisReply(context, event) && hasBatches(context),
    isTurnedAway: ({ context, event }) => wasRejectedBeforeStart(context, event),
    mayAskAgain: ({ context, event }) => mayAskAgain(context, event),
    needsPlan: ({ context }) => planOf(context) !== null,
    mayOpenCalls: ({ context }) =>
      context.summary?.step === context.step || !context.calls.some(({ plan }) => plan !== null && wantsSummary(plan)),
    allCallsSettled: ({ context }) => context.calls.every(({ phase }) => phase === "settled"),
    mustTrim: ({ context }) => mustTrim(context),
    mustCompact: ({ context }) => mustCompact(context),
    isNextStep: ({ context, event }) => "step" in event && event.step === nextStep(context),
    hasReachedCap: ({ context }) => reachedCap(context) !== null,
    /** The last turn is held back until there is nothing more to hear. */
    mustHearAll: ({ context }) => hasBatches(context) && lastTurnReason(context) !== null,
    hasHeardEnough: ({ context }) =>
      !hasBatches(context) || (context.news.length > 0 && lastTurnReason(context) === null),
    /** All that it waited for has ended without a word to it: what it said before is its answer. */
    hasAnswered: ({ context }) => modelHasLastWord(context) && lastWords(context) !== "",
    hasSaidNothing: ({ context }) => modelHasLastWord(context) && lastWords(context) === "",
    hasNoBatches: ({ context }) => !hasBatches(context),
    hasVerifiers: ({ context }) =>
      context.outcome?.status === "completed" &&
      (context.pin.definition.verifiers.length > 0 || outputSchemaOf(context) !== null),
    isVerified: ({ context, event }) => isThisRound(context, event) && event.failures.length === 0,
    mayTryAgain: ({ context, event }) =>
      isThisRound(context, event) &&
      context.verifyRound <= verifyRoundsMax &&
      context.turn?.last === null &&
      reachedCap(context) === null,
    isThisRound: ({ context, event }) => isThisRound(context, event),
  },
  actions: {
    noteTime: assign(({ context, event }) => ("at" in event ? { lastAt: Math.max(context.lastAt, event.at) } : {})),
    armDeadline: enqueueActions(({ context, enqueue }) => {
      enqueue.stopChild(deadlineActor);
      const input = deadlineTimer(context);
      if (input) enqueue.spawnChild("startTimer", { id: deadlineActor, input });
    }),
    /** Time in which no host held the run counts for nothing. Before `noteTime`. */
    takeUp: assign(({ context, event }) => (event.type === "run.claimed" ? { clock: takenUp(context, event.at) } : {})),
    /** After whatever may begin or end a wait for people. */
    syncClock: enqueueActions(({ context, enqueue }) => {
      const stands = context.clock.since === null;
      if (isWaitingForPeople(context) === stands) return;
      const clock = (stands ? started : stopped)(context.clock, context.lastAt);
      enqueue.assign({ clock });
      enqueue.stopChild(deadlineActor);
      const input = deadlineTimer({ ...context, clock });
      if (input) enqueue.spawnChild("startTimer", { id: deadlineActor, input });
    }),
    keepIntent: assign(({ context, event }) => {
      if (event.type !== "intent.assessed") return {};
      const tally = event.usage ? addUsage(context.tally, event.usage) : chargedAsLost(context);
      return { intent: event.intent, tally, outstanding: null };
    }),
    setAsideForAssessing: assign(({ context }) => ({
      outstanding: context.pin.definition.intent === "model" ? sideCall(context, assessOutputTokens) : null,
    })),
    setAsideForSummary: assign(({ context }) => ({ outstanding: sideCall(context, summaryOutputTokens) })),
    setAsideForCompaction: assign(({ context }) => ({ outstanding: sideCall(context, compactionTokens(context)) })),
    /** A call that was under way when its host went may have been paid for. */
    chargeLost: assign(({ context }) => ({ tally: chargedAsLost(context), outstanding: null })),
    awaitAnswer: assign(({ event }) => (event.type === "approval.requested" ? { awaiting: event.approval.id } : {})),
    stopAwaiting: assign({ awaiting: null }),
    keepSteer: assign(({ context, event }) => {
      if (event.type !== "inbox.received" || event.item.kind !== "run.steered") return {};
      return { news: [...context.news, `A message from ${event.item.by}: ${event.item.text}`] };
    }),
    pause: assign({ paused: true }),
    resume: assign({ paused: false }),
    beginTurn: assign(({ context }) => {
      const last = lastTurnReason(context);
      const step = context.repeatsTurn ? context.step : context.step + 1;
      const modelTries = context.repeatsTurn ? context.modelTries : 0;
      const next = { ...openTurn(context, last), step, modelTries, repeatsTurn: false, calls: [] };
      const turn = planTurn(next, last);
      const repeats = context.news.length > 0 ? afterNews(context.repeats) : context.repeats;
      return { ...next, turn, outstanding: turn.reserve, repeats };
    }),
    /** Parked for people, nothing was at work: what was set aside was never begun. */
    releaseUnbegun: assign(({ event }) =>
      event.type === "run.parked" && event.reason !== "drain" ? { outstanding: null } : {},
    ),
    repeatTurn: assign({ repeatsTurn: true }),
    keepReply: assign(({ context, event }) => {
      if (event.type !== "model.replied") return {};
      const { text, calls } = event.reply;
      return {
        ...withReply(context, event.step, event.reply),
        tally: addReply(context.tally, event.reply),
        repeats: countCalls(context.repeats, calls),
        outstanding: null,
        backoff: noBackoff,
        emptyReplies: text.trim() === "" && calls.length === 0 ? context.emptyReplies : 0,
      };
    }),
    keepFailure: assign(({ context, event }) => {
      if (event.type !== "model.failed") return {};
      const tally = wasNotCharged(event.error) ? context.tally : chargedAsLost(context);
      return { tally, outstanding: null, modelTries: context.modelTries + triesOf(event.error) };
    }),
    backOff: assign(({ context, event }) =>
      event.type === "model.failed" ? { backoff: backoffAfter(context, event.error), repeatsTurn: true } : {},
    ),
    nudge: assign(({ context }) => ({
      ...withMessage(context, { role: "user", text: emptyReplyNotice }),
      emptyReplies: context.emptyReplies + 1,
    })),
    beginCalls: assign(({ context }) => {
      const calls = callsOf(context);
      const made = calls.filter(({ refusal: error }) => error?.type !== "budget").length;
      return { calls, tally: addToolCalls(context.tally, made) };
    }),
    keepSummary: assign(({ context, event }) => {
      if (event.type !== "context.summarised") return {};
      const { step, text } = event;
      return { summary: { step, text }, tally: chargedForSummary(context, event), outstanding: null };
    }),
    keepTrim: assign(({ context, event }) =>
      event.type === "context.trimmed" ? { ...trimmed(context, event), trimmedStep: event.step } : {},
    ),
    keepCompaction: assign(({ context, event }) => {
      if (event.type !== "context.compacted") return {};
      const { step, text, error } = event;
      const tally = chargedForSummary(context, event);
      return {
        ...compacted(context, event),
        compacted: { step, text: error ? null : text },
        tally,
        outstanding: null,
      };
    }),
    notePlan: assign(({ context }) => ({ plannedStep: context.step })),
    /** Streaming tasks that the model no longer wants. */
    stopTasks: enqueueActions(({ context, enqueue }) => {
      const batches: Record<string, BatchState> = { ...context.batches };
      for (const handle of context.calls.flatMap(({ stops }) => stops)) {
        const place = placeOfHandle(handle);
        const batch = batches[batchKey(place)];
        if (!batch || batch.stopped.includes(place.item)) continue;
        batches[batchKey(place)] = { ...batch, stopped: [...batch.stopped, place.item] };
        const stop = { type: "stop", items: [place.item], reason: "stopped by its parent", announce: true } as const;
        enqueue.sendTo(batchActor(place), stop);
      }
      enqueue.assign({ batches });
    }),
    /** Tools queue and batches begin, be it to be stopped at once: every child that was written down has to settle. */
    openBatches: enqueueActions(({ context, enqueue }) => {
      const { step, request } = context;
      const opened = openableBatches(context);
      for (const { call, plan } of opened) {
        enqueue.spawnChild("batch", { id: batchActor({ step, call }), input: { run: request.run, step, call, plan } });
      }
      enqueue.assign(withBatches(context, opened));
    }),
    startTools: enqueueActions(({ context, enqueue }) => {
      const { step, request, allowed } = context;
      let calls = context.calls;
      for (const { call, toolCall, approved } of startableTools(context)) {
        const isAllowed = approved || allowed.includes(toolCall.name);
        const input = { kind: "callTool" as const, run: request.run, step, call, toolCall, approved: isAllowed };
        enqueue.spawnChild("callTool", { id: toolActor(step, call), input });
        calls = withCall(calls, call, { phase: "running" });
      }
      enqueue.assign({ calls });
    }),
    keepReady: assign(({ context, event }) => (event.type === "batch.ready" ? withReady(context, event) : {})),
    /** Asks as many tasks as there are slots; one for which nothing is left settles without having been asked. */
    grantSlots: enqueueActions(({ context, enqueue }) => {
      if (context.ready.length === 0 || freeSlots(context) === 0) return;
      // One copy for all that are asked now: there may be a thousand.
      const children = new Map(context.children);
      let after: AgentContext = { ...context, children };
      const ready = [...context.ready];
      while (ready.length > 0 && freeSlots(after) > 0) {
        const place = ready.shift();
        if (!place) break;
        const { item } = place;
        const share = shareFor(after, place, 1);
        if (!share) {
          const error = permanentError("budget", childTimeMs(after) <= 0 ? noTimeLeft : noBudgetLeft);
          enqueue.sendTo(batchActor(place), { type: "drop", item, status: "rejected", error });
          continue;
        }
        children.set(placeOf(place), askedChild(place, 1, share));
        after = { ...after, tally: addSpawn(after.tally) };
        enqueue.sendTo(batchActor(place), { type: "slot.granted", item, offer: share.offer });
      }
      enqueue.assign({ ready, children, tally: after.tally });
    }),
    /** The task had left its batch before its slot reached it: nothing was started. */
    takeBack: assign(({ context, event }) =>
      event.type === "batch.declined"
        ? { children: withoutChild(context, event), tally: withoutSpawn(context.tally) }
        : {},
    ),
    noteChildWaiting: assign(({ context, event }) =>
      event.type === "child.waiting" ? { children: withChild(context, event, { waiting: event.waiting }) } : {},
    ),
    /** Every attempt of a child is counted, whatever its delegation makes of it. */
    countAttempt: assign(({ context, event }) => {
      if (event.type !== "child.settled") return {};
      const children = withChild(context, event, { reserve: null, waiting: false });
      return { children, tally: addChild(context.tally, event.response, sharesFolder(context, event.response.agent)) };
    }),
    passToBatch: enqueueActions(({ context, event, enqueue }) => {
      const place = taskOfEvent(context, event);
      if (!place) return;
      const target = batchActor(place);
      const { item } = place;
      if (event.type === "child.claimed") enqueue.sendTo(target, { type: "child.claimed", item });
      if (event.type === "child.settled") enqueue.sendTo(target, { ...event, remainingMs: childTimeMs(context) });
    }),
    /** Asks again what has waited long enough for it; a retry that is due while the run is paused waits on. */
    retryTasks: enqueueActions(({ context, event, enqueue }) => {
      const due = event.type === "timer.fired" ? [...context.retriesDue, event] : context.retriesDue;
      if (context.paused) {
        enqueue.assign({ retriesDue: due });
        return;
      }
      let after = context;
      for (const fact of due) {
        const place = taskOfEvent(after, fact);
        if (!place) continue;
        const attempt = (after.children.get(placeOf(place))?.attempt ?? 1) + 1;
        const share = shareFor(after, place, attempt);
        if (share) after = { ...after, ...withShare(after, place, attempt, share) };
        enqueue.sendTo(batchActor(place), { ...fact, item: place.item, offer: share?.offer ?? null });
      }
      enqueue.assign({ retriesDue: [], children: after.children, tally: after.tally });
    }),
    keepItem: assign(({ context, event }) => (event.type === "batch.item" ? withItem(context, event) : {})),
    closeBatch: enqueueActions(({ context, event, enqueue }) => {
      if (!event.type.startsWith("xstate.done.actor.batch/")) return;
      const [, step = 0, call = 0] = event.type.slice("xstate.done.actor.".length).split("/").map(Number);
      const batch = context.batches[batchKey({ step, call })];
      if (!batch) return;
      const { [batchKey(batch)]: _closed, ...batches } = context.batches;
      enqueue.assign({ batches });
      enqueue.stopChild(batchActor(batch));
      if (batch.streaming || step !== context.step || context.calls.length === 0) return;
      const { text, isError } = batchText(batch);
      const repeats = afterCall(context, call, isError);
      enqueue.assign({ calls: settleCall(context.calls, call, text, isError), repeats });
    }),
    keepOutcome: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "tool.finished") return;
      const { call, outcome } = event;
      const finished = runningTool(context, event.step, call);
      if (!finished) return;
      const isError = outcome.error !== null || outcome.inDoubt;
      enqueue.assign({
        tally: addOutcome(context.tally, finished.toolCall, outcome),
        calls: settleCall(context.calls, call, outcome.output, isError),
        repeats: afterCall(context, call, isError),
      });
      enqueue.stopChild(toolActor(context.step, call));
    }),
    holdCall: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "approval.requested") return;
      const { call, approval } = event;
      enqueue.assign({ calls: withCall(context.calls, call, { phase: "waiting", approval: approval.id }) });
      enqueue.stopChild(toolActor(context.step, call));
    }),
    /** An answer for the rest of the run is one for every call of that tool that waits already. */
    applyAnswer: assign(({ context, event }) => {
      const asked = answeredCall(context, event);
      if (!asked || event.type !== "inbox.received" || event.item.kind !== "approval.answered") return {};
      const { approved, scope, reason, by } = event.item;
      if (!approved) {
        const message = `denied by ${by}${reason ? `: ${reason}` : ""}`;
        const denied = refused(asked, { ...permanentError("permission", message), tool: asked.toolCall.name });
        return { calls: withCall(context.calls, asked.call, denied) };
      }
      const isMeant = (state: CallState): boolean =>
        state.call === asked.call ||
        (scope === "run" && state.phase === "waiting" && state.toolCall.name === asked.toolCall.name);
      return {
        calls: context.calls.map((state) =>
          isMeant(state) ? { ...state, phase: "queued" as const, approved: true } : state,
        ),
        allowed: scope === "run" ? [...context.allowed, asked.toolCall.name] : context.allowed,
      };
    }),
    keepResults: assign(({ context }) =>
      withMessages(
        context,
        context.calls.map(({ toolCall, text, isError }) => ({
          role: "tool" as const,
          callId: toolCall.id,
          name: toolCall.name,
          text: text ?? "",
          isError,
        })),
      ),
    ),
    stopTools: enqueueActions(({ context, enqueue }) => {
      for (const { call, toolCall, phase } of context.calls) {
        if (phase === "running" && !isDelegate(toolCall.name)) enqueue.stopChild(toolActor(context.step, call));
      }
      enqueue.assign({ calls: [], ready: [] });
    }),
    /** Children hear of a cancel by the same wish as this run; of anything else only their parent can tell them. */
    stopBatches: enqueueActions(({ context, enqueue }) => {
      const { outcome: verdict } = context;
      const reason = verdict?.error?.message ?? "its parent has ended";
      for (const batch of Object.values(context.batches)) {
        const announce = verdict?.status !== "cancelled";
        enqueue.sendTo(batchActor(batch), { type: "stop", items: "all", reason, announce });
      }
    }),
    abandonBatches: enqueueActions(({ context, enqueue }) => {
      for (const batch of Object.values(context.batches)) enqueue.stopChild(batchActor(batch));
      const left = context.children.size;
      const warning = `${left} of its children had not ended when it did: their whole share is charged`;
      const warnings = left > 0 ? [...context.tally.warnings, warning] : context.tally.warnings;
      enqueue.assign({ batches: {}, tally: { ...context.tally, warnings } });
    }),
    decide: assign((_, params: { verdict: RunOutcome }) => ({ outcome: params.verdict })),
    compose: assign(({ context }) => ({
      response: composeResponse(
        context,
        context.outcome ?? failedOutcome(permanentError("crashed", "ended without a verdict")),
      ),
    })),
    beginVerifying: assign(({ context }) => ({ verifyRound: context.verifyRound + 1 })),
    keepSettlement: assign(({ context, event }) =>
      event.type === "run.settled" ? { response: event.response } : { response: context.response },
    ),
    keepFailures: assign(({ context, event }) => {
      if (event.type !== "verify.finished") return {};
      const text = `Your result was checked and does not hold:\n- ${event.failures.join("\n- ")}\nMend it.`;
      return { ...withMessage(context, { role: "user", text }), outcome: null };
    }),
  },
});

/** The name of the timer after which a model that turned the run away, or was not heard, is asked again. */
export function backoffTimer({ step, backoff }: Pick<AgentContext, "step" | "backoff">): string {
  return `rate/${step}/${backoff.count}`;
}

export function responseOf({ response }: AgentContext): RunResponse {
  if (!response) throw new Error("a run reached its end without a response");
  return response;
}

/** Fires when the counted time is over; null while the clock stands still. */
function deadlineTimer(context: AgentContext): EffectOf<"startTimer"> | null {
  const { activeMs, since } = context.clock;
  if (since === null) return null;
  const delayMs = Math.max(0, timeCapMs(context) - activeMs);
  return { kind: "startTimer", run: context.request.run, timer: deadlineActor, delayMs, since };
}

function hasBatches({ batches }: AgentContext): boolean {
  return Object.keys(batches).length > 0;
}

/** Whether the model has had the last word, and there is nothing more to hear. */
function modelHasLastWord(context: AgentContext): boolean {
  return !hasBatches(context) && context.news.length === 0 && lastWords(context) !== null;
}

/** What the model said last; null where something was said to it since. */
function lastWords({ messages }: AgentContext): string | null {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.text.trim() : null;
}

/** The call that is under way may have been paid for, and nobody can tell what it used: all that was set aside for it. */
function chargedAsLost({ tally, outstanding }: AgentContext): AgentContext["tally"] {
  return outstanding ? addLost(tally, outstanding) : tally;
}

/** What a summary has used, as far as anybody can know. */
function chargedForSummary(
  context: AgentContext,
  { usage, error }: Pick<FactOf<"context.summarised">, "usage" | "error">,
): AgentContext["tally"] {
  const isKnown = error === null || wasNotCharged(error) || usage.inputTokens + usage.outputTokens > 0;
  return isKnown ? addUsage(context.tally, usage) : chargedAsLost(context);
}

function sideCall(context: AgentContext, outputTokensWanted: number): AgentContext["outstanding"] {
  const output = sideCallOutput(context, outputTokensWanted);
  return output === 0 ? null : callCost(context, output);
}
