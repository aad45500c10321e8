import { assign, enqueueActions, setup } from "xstate";
import { isDelegate } from "../../permissions/grant.ts";
import type { Message } from "../../protocol/model.ts";
import type { RunResponse } from "../../protocol/response.ts";
import { toDelegationResult } from "../../protocol/response.ts";
import { type DelegationOutput, delegationMachine } from "../delegation/machine.ts";
import { effectPlace } from "../effects.ts";
import type { FactOf } from "../events.ts";
import { callsOf, refused, runningChild, runningTool, settleCall, startable } from "./calls.ts";
import {
  type AgentContext,
  type AgentInput,
  addChild,
  addOutcome,
  addReply,
  type CallState,
  openContext,
  type Verdict,
  withMessage,
  withMessages,
} from "./context.ts";
import { childTimeMs, deadlineDelayMs, noTimeLeft, planDelegation } from "./delegate.ts";
import type { AgentEvent } from "./event.ts";
import { composeResponse } from "./response.ts";
import {
  completed,
  failed,
  isLastTurn,
  lastTurnNotice,
  reachedCap,
  refusal,
  rejectionOf,
  verifyRoundsMax,
} from "./rules.ts";
import {
  onCancel,
  onCap,
  onDeadline,
  onDenial,
  onLastTurn,
  onModelFailure,
  onRefusal,
  onRejection,
  onVerification,
} from "./verdicts.ts";

/** Ids of the child actors of one call. */
const toolActor = (step: number, call: number): string => `tool/${step}/${call}`;
const childActor = (step: number, call: number): string => `child/${step}/${call}`;

/**
 * Every agent, main and sub: intent → execute (think → act → check) → respond → settled.
 *
 * Invariants:
 * - It receives nothing but its journal's entries, in order (and hints, which change no outcome).
 * - Every effect's outcome is an entry; entering a state starts effects, leaving it stops them.
 * - Facts about what does not run any more change nothing.
 * - Every way out leads through `respond`, and `settled` is never left.
 *
 * @example
 * const callModel = fromCallback(({ input }) => askSomeModel(input)); // it sends nothing: its outcome is journaled
 * const actor = createActor(agentMachine.provide({ actors: { callModel, startTimer, settle } }), {
 *   input: { request, pin, openedAt: 0 },
 * });
 * actor.start(); // in execute.think: callModel was started with { step: 1, messages, … }
 * actor.send({ type: "model.replied", step: 1, reply, durationMs: 5, at: 10 });
 * actor.getSnapshot().context.response?.status; // "completed": settle was started, run.settled is awaited
 */
export const agentMachine = setup({
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
    callTool: effectPlace("callTool"),
    delegation: delegationMachine,
    startTimer: effectPlace("startTimer"),
    verify: effectPlace("verify"),
    settle: effectPlace("settle"),
  },
  guards: {
    isRejected: ({ context }) => rejectionOf(context) !== null,
    isRefusal: ({ context, event }) =>
      event.type === "model.replied" && event.step === context.step && event.reply.stopReason === "refusal",
    isDirect: ({ context }) => context.pin.definition.intent === "direct",
    isRisky: ({ context }) => context.intent.risk === "high",
    isApproved: ({ context, event }) => approvalOf(context, event) === true,
    isDenied: ({ context, event }) => approvalOf(context, event) === false,
    isCancel: ({ event }) => event.type === "inbox.received" && event.item.kind === "session.cancelled",
    isDeadline: ({ event }) => event.type === "timer.fired" && event.timer === "deadline",
    isRunningTool: ({ context, event }) =>
      event.type === "tool.finished" && runningTool(context, event.step, event.call) !== null,
    isAwaitedAttempt: ({ context, event }) => {
      if (event.type !== "child.settled") return false;
      const child = runningChild(context, event.step, event.call);
      return child !== null && event.attempt === child.attempts + 1;
    },
    isForChild: ({ context, event }) => childOf(context, event) !== null,
    isThisStep: ({ context, event }) => "step" in event && event.step === context.step,
    wantsTools: ({ context, event }) =>
      event.type === "model.replied" &&
      event.step === context.step &&
      event.reply.calls.length > 0 &&
      !isLastTurn(context),
    wantsMoreThanAllowed: ({ context, event }) =>
      event.type === "model.replied" && event.step === context.step && event.reply.calls.length > 0,
    allCallsSettled: ({ context }) => context.calls.every((call) => call.phase === "settled"),
    hasReachedCap: ({ context }) => reachedCap(context) !== null,
    hasVerifiers: ({ context }) =>
      context.verdict?.status === "completed" && context.pin.definition.verifiers.length > 0,
    isVerified: ({ context, event }) => isThisRound(context, event) && event.failures.length === 0,
    mayTryAgain: ({ context, event }) =>
      isThisRound(context, event) &&
      context.verifyRound <= verifyRoundsMax &&
      !isLastTurn(context) &&
      reachedCap(context) === null,
    isThisRound: ({ context, event }) => isThisRound(context, event),
  },
  actions: {
    noteTime: assign(({ context, event }) => ("at" in event ? { lastAt: Math.max(context.lastAt, event.at) } : {})),
    notePause: assign(({ context, event }) =>
      event.type === "run.claimed" ? { pausedMs: context.pausedMs + Math.max(0, event.at - context.lastAt) } : {},
    ),
    keepIntent: assign(({ context, event }) =>
      event.type === "intent.assessed" ? { intent: event.intent } : { intent: context.intent },
    ),
    beginTurn: assign(({ context }) => {
      const next = { ...context, step: context.step + 1, calls: [] };
      return isLastTurn(next) ? { ...next, ...withMessage(next, { role: "user", text: lastTurnNotice }) } : next;
    }),
    keepReply: assign(({ context, event }) => {
      if (event.type !== "model.replied") return {};
      const { text, calls } = event.reply;
      return {
        ...withMessage(context, { role: "assistant", text, calls }),
        tally: addReply(context.tally, event.reply),
      };
    }),
    beginCalls: assign(({ context }) => {
      const calls = callsOf(context);
      const toolCalls = Math.min(context.pin.limits.maxToolCalls, context.tally.toolCalls + calls.length);
      return { calls, tally: { ...context.tally, toolCalls } };
    }),
    startCalls: enqueueActions(({ context, enqueue }) => {
      const { step, request } = context;
      const calls = [...context.calls];
      const remainingMs = childTimeMs(context);
      for (const call of startable(context)) {
        const { call: index, toolCall } = call;
        if (isDelegate(toolCall.name)) {
          enqueue.sendTo(childActor(step, index), { type: "slot.granted", remainingMs });
        } else {
          const input = { kind: "callTool" as const, run: request.run, step, call: index, toolCall, approved: false };
          enqueue.spawnChild("callTool", { id: toolActor(step, index), input });
        }
        calls[index] = { ...call, phase: "running" };
      }
      enqueue.assign({ calls });
    }),
    /** Once there is no time for another child, those that still queue settle without having been offered. */
    dropLateDelegations: enqueueActions(({ context, enqueue }) => {
      if (childTimeMs(context) > 0) return;
      const late = context.calls.filter(({ phase, toolCall }) => phase === "queued" && isDelegate(toolCall.name));
      for (const { call } of late) enqueue.stopChild(childActor(context.step, call));
      enqueue.assign({ calls: context.calls.map((call) => (late.includes(call) ? refused(call, noTimeLeft) : call)) });
    }),
    /** All delegations of a turn exist at once, queued: their place in the queue can be seen. */
    queueDelegations: enqueueActions(({ context, enqueue }) => {
      for (const { call, toolCall, phase } of context.calls) {
        if (phase === "settled" || !isDelegate(toolCall.name)) continue;
        const plan = planDelegation(context, call, toolCall);
        if ("input" in plan)
          enqueue.spawnChild("delegation", { id: childActor(context.step, call), input: plan.input });
      }
    }),
    keepOutcome: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "tool.finished") return;
      const { call, tool, outcome } = event;
      enqueue.assign({
        tally: addOutcome(context.tally, tool, outcome),
        calls: settleCall(context.calls, call, outcome.output, outcome.error !== null || outcome.inDoubt),
      });
      enqueue.stopChild(toolActor(context.step, call));
    }),
    /** Every attempt of a child is counted, whatever its delegation makes of it. */
    countAttempt: assign(({ context, event }) => {
      if (event.type !== "child.settled") return {};
      const calls = context.calls.map((call) =>
        call.call === event.call ? { ...call, attempts: call.attempts + 1 } : call,
      );
      return { tally: addChild(context.tally, event.response), calls };
    }),
    passToDelegation: enqueueActions(({ context, event, enqueue }) => {
      const child = childOf(context, event);
      if (!child) return;
      const remainingMs = childTimeMs(context);
      const target = childActor(context.step, child.call);
      if (event.type === "child.claimed") enqueue.sendTo(target, { type: "child.claimed" });
      else if (event.type === "child.settled") enqueue.sendTo(target, { ...event, remainingMs });
      else if (event.type === "timer.fired") enqueue.sendTo(target, { ...event, remainingMs });
    }),
    keepDelegation: enqueueActions(({ context, event, enqueue }) => {
      if (!isDelegationDone(event)) return;
      const call = Number(event.type.split("/").at(-1));
      const { response } = event.output;
      const text = JSON.stringify(toDelegationResult(response));
      const used = context.tally.toolsUsed.includes("delegate") ? [] : ["delegate"];
      enqueue.assign({
        calls: settleCall(context.calls, call, text, !response.success),
        tally: { ...context.tally, toolsUsed: [...context.tally.toolsUsed, ...used] },
      });
      enqueue.stopChild(childActor(context.step, call));
    }),
    stopCalls: enqueueActions(({ context, enqueue }) => {
      for (const { call, toolCall, phase } of context.calls) {
        if (phase === "settled") continue;
        const actor = isDelegate(toolCall.name) ? childActor : toolActor;
        enqueue.stopChild(actor(context.step, call));
      }
      enqueue.assign({ calls: [] });
    }),
    keepResults: assign(({ context }) => withMessages(context, context.calls.map(resultOf))),
    decide: assign((_, params: { verdict: Verdict }) => ({ verdict: params.verdict })),
    compose: assign(({ context }) => ({
      response: composeResponse(context, context.verdict ?? failed(refusal("crashed", "ended without a verdict"))),
    })),
    beginVerifying: assign(({ context }) => ({ verifyRound: context.verifyRound + 1 })),
    keepSettlement: assign(({ context, event }) =>
      event.type === "run.settled" ? { response: event.response } : { response: context.response },
    ),
    keepFailures: assign(({ context, event }) => {
      if (event.type !== "verify.finished") return {};
      const text = `Your result was checked and does not hold:\n- ${event.failures.join("\n- ")}\nMend it.`;
      return { ...withMessage(context, { role: "user", text }), verdict: null };
    }),
  },
}).createMachine({
  id: "agent",
  context: ({ input }) => openContext(input),
  initial: "intent",
  invoke: {
    src: "startTimer",
    input: ({ context }) => ({
      kind: "startTimer" as const,
      run: context.request.run,
      timer: "deadline",
      since: context.openedAt,
      delayMs: deadlineDelayMs(context),
    }),
  },
  on: {
    "run.claimed": { actions: ["notePause", "noteTime"] },
    "run.parked": { actions: "noteTime" },
    /** The journal is the truth: whoever settled the run (a parent that gave up, a host that found it poisoned). */
    "run.settled": { target: ".settled", actions: "keepSettlement" },
  },
  states: {
    intent: {
      description: "Understands the request before any tool is touched.",
      initial: "receiving",
      on: {
        "inbox.received": {
          guard: "isCancel",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onCancel }],
        },
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onDeadline }],
        },
      },
      states: {
        receiving: {
          always: [
            { guard: "isRejected", target: "#agent.respond", actions: { type: "decide", params: onRejection } },
            { guard: "isDirect", target: "assessed" },
            { target: "assessing" },
          ],
        },
        assessing: {
          invoke: {
            src: "assessIntent",
            input: ({ context }) => ({ kind: "assessIntent" as const, run: context.request.run, maxOutputTokens: 512 }),
          },
          on: {
            "intent.assessed": { target: "assessed", actions: ["noteTime", "keepIntent"] },
          },
        },
        assessed: {
          always: [{ guard: "isRisky", target: "#agent.awaitingApproval" }, { target: "#agent.execute" }],
        },
      },
    },
    awaitingApproval: {
      description: "A person decides; silence is never consent.",
      invoke: {
        src: "askApproval",
        input: ({ context }) => ({
          kind: "askApproval" as const,
          run: context.request.run,
          reason: "",
        }),
      },
      on: {
        "inbox.received": [
          { guard: "isApproved", target: "execute", actions: "noteTime" },
          { guard: "isDenied", target: "respond", actions: ["noteTime", { type: "decide", params: onDenial }] },
          { guard: "isCancel", target: "respond", actions: ["noteTime", { type: "decide", params: onCancel }] },
        ],
        "timer.fired": {
          guard: "isDeadline",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onDeadline }],
        },
      },
    },
    execute: {
      description: "Works: think → act → check, until it has an answer or meets a cap.",
      initial: "think",
      exit: "stopCalls",
      on: {
        "inbox.received": {
          guard: "isCancel",
          target: "respond",
          actions: ["noteTime", { type: "decide", params: onCancel }],
        },
        "timer.fired": [
          { guard: "isDeadline", target: "respond", actions: ["noteTime", { type: "decide", params: onDeadline }] },
          { guard: "isForChild", actions: ["noteTime", "passToDelegation"] },
        ],
        "child.claimed": { guard: "isForChild", actions: "passToDelegation" },
      },
      states: {
        think: {
          description: "The model is asked for its next words or tool calls.",
          entry: "beginTurn",
          invoke: {
            src: "callModel",
            input: ({ context }) => ({
              kind: "callModel" as const,
              run: context.request.run,
              step: context.step,
              messages: context.messages,
              lastTurn: isLastTurn(context),
              maxOutputTokens: 1000,
            }),
          },
          on: {
            "model.replied": [
              {
                guard: "isRefusal",
                target: "#agent.respond",
                actions: ["noteTime", "keepReply", { type: "decide", params: onRefusal }],
              },
              { guard: "wantsTools", target: "act", actions: ["noteTime", "keepReply"] },
              {
                guard: "wantsMoreThanAllowed",
                target: "#agent.respond",
                actions: ["noteTime", "keepReply", { type: "decide", params: onLastTurn }],
              },
              {
                guard: "isThisStep",
                target: "#agent.respond",
                actions: ["noteTime", "keepReply", { type: "decide", params: { verdict: completed } }],
              },
            ],
            "model.failed": {
              guard: "isThisStep",
              target: "#agent.respond",
              actions: ["noteTime", { type: "decide", params: onModelFailure }],
            },
          },
        },
        act: {
          description: "Tools and children run side by side, up to their caps; each settles on its own.",
          entry: ["beginCalls", "queueDelegations", "startCalls"],
          always: { guard: "allCallsSettled", target: "check" },
          on: {
            "tool.started": { guard: "isThisStep", actions: "noteTime" },
            "tool.finished": { guard: "isRunningTool", actions: ["noteTime", "keepOutcome", "startCalls"] },
            "child.settled": { guard: "isAwaitedAttempt", actions: ["noteTime", "countAttempt", "passToDelegation"] },
            "xstate.done.actor.*": { actions: ["keepDelegation", "dropLateDelegations", "startCalls"] },
          },
        },
        check: {
          description: "Is there room for another turn?",
          entry: "keepResults",
          always: [
            { guard: "hasReachedCap", target: "#agent.respond", actions: { type: "decide", params: onCap } },
            { target: "think" },
          ],
        },
      },
    },
    respond: {
      description: "Composes the one response, has it verified, and hands it over.",
      initial: "composing",
      states: {
        composing: {
          entry: "compose",
          always: [{ guard: "hasVerifiers", target: "verifying" }, { target: "settling" }],
        },
        verifying: {
          entry: "beginVerifying",
          invoke: {
            src: "verify",
            input: ({ context }) => ({
              kind: "verify" as const,
              run: context.request.run,
              round: context.verifyRound,
              verifiers: context.pin.definition.verifiers,
              response: responseOf(context),
            }),
          },
          on: {
            "verify.finished": [
              { guard: "isVerified", target: "settling", actions: ["noteTime", "compose"] },
              { guard: "mayTryAgain", target: "#agent.execute", actions: ["noteTime", "keepFailures"] },
              {
                guard: "isThisRound",
                target: "settling",
                actions: ["noteTime", { type: "decide", params: onVerification }, "compose"],
              },
            ],
            "inbox.received": {
              guard: "isCancel",
              target: "settling",
              actions: ["noteTime", { type: "decide", params: onCancel }, "compose"],
            },
            "timer.fired": {
              guard: "isDeadline",
              target: "settling",
              actions: ["noteTime", { type: "decide", params: onDeadline }, "compose"],
            },
          },
        },
        settling: {
          invoke: {
            src: "settle",
            input: ({ context }) => ({
              kind: "settle" as const,
              run: context.request.run,
              response: responseOf(context),
            }),
          },
          on: { "run.settled": { target: "#agent.settled", actions: "keepSettlement" } },
        },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => responseOf(context),
});

/** What a person answered about this very run; null for any other event. */
function approvalOf({ request }: AgentContext, event: AgentEvent): boolean | null {
  if (event.type !== "inbox.received" || event.item.kind !== "approval.answered") return null;
  return event.item.run === request.run ? event.item.approved : null;
}

/** The delegation that an event is for; null when there is none, or no longer. */
function childOf(context: AgentContext, event: AgentEvent): CallState | null {
  if (event.type === "child.settled" || event.type === "child.claimed") {
    return runningChild(context, event.step, event.call);
  }
  if (event.type !== "timer.fired" || !event.timer.startsWith("retry/")) return null;
  const [, step, call] = event.timer.split("/").map(Number);
  return runningChild(context, step ?? 0, call ?? -1);
}

function isThisRound(context: AgentContext, event: AgentEvent): event is FactOf<"verify.finished"> {
  return event.type === "verify.finished" && event.round === context.verifyRound;
}

function responseOf(context: AgentContext): RunResponse {
  if (!context.response) throw new Error("a run reached its end without a response");
  return context.response;
}

function resultOf({ toolCall, text, isError }: CallState): Message {
  return { role: "tool", callId: toolCall.id, name: toolCall.name, text: text ?? "", isError };
}

function isDelegationDone(
  event: AgentEvent,
): event is { type: `xstate.done.actor.${string}`; output: DelegationOutput } {
  return event.type.startsWith("xstate.done.actor.child/");
}
