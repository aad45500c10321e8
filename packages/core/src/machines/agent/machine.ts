import { assign, enqueueActions, setup } from "xstate";
import { isDelegate } from "../../permissions/grant.ts";
import type { Message } from "../../protocol/model.ts";
import type { RunResponse } from "../../protocol/response.ts";
import { toDelegationResult } from "../../protocol/response.ts";
import { type DelegationOutput, delegationMachine } from "../delegation/machine.ts";
import { effectPlace } from "../effects.ts";
import type { RunFact } from "../events.ts";
import {
  type AgentContext,
  type AgentInput,
  addChild,
  addOutcome,
  addUsage,
  type CallState,
  openContext,
  type Verdict,
  withMessage,
  withMessages,
} from "./context.ts";
import { deadlineDelayMs, planDelegation } from "./delegate.ts";
import { composeResponse } from "./response.ts";
import {
  bailedOut,
  cancelled,
  completed,
  failed,
  isLastTurn,
  lastTurnNotice,
  lastTurnReason,
  reachedCap,
  refusal,
  rejected,
  rejectionOf,
  verifyRoundsMax,
} from "./rules.ts";

export type AgentEvent =
  | RunFact
  | { type: `xstate.done.actor.${string}`; output: DelegationOutput }
  /** A hint for the delegation of that call; never in the journal. */
  | { type: "child.claimed"; step: number; call: number };

/** Ids of the child actors of one call. */
const toolActor = (step: number, call: number): string => `tool/${step}/${call}`;
const childActor = (step: number, call: number): string => `child/${step}/${call}`;

/**
 * Every agent, main and sub: intent → execute (think → act → check) → respond → settled.
 *
 * Invariants:
 * - It receives nothing but its journal's entries, in order (and hints, which change no outcome).
 * - Every effect's outcome is an entry; entering a state starts effects, leaving it stops them.
 * - Every way out leads through `respond`, and `settled` is never left.
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
    awaitApproval: effectPlace("awaitApproval"),
    callModel: effectPlace("callModel"),
    callTool: effectPlace("callTool"),
    delegation: delegationMachine,
    startTimer: effectPlace("startTimer"),
    verify: effectPlace("verify"),
    settle: effectPlace("settle"),
  },
  guards: {
    isRejected: ({ context }) => rejectionOf(context) !== null,
    isDirect: ({ context }) => context.pin.definition.intent === "direct",
    isRisky: ({ context }) => context.intent.risk === "high",
    isApproved: ({ event }) =>
      event.type === "inbox.received" && event.item.kind === "approval.answered" && event.item.approved,
    isDenied: ({ event }) =>
      event.type === "inbox.received" && event.item.kind === "approval.answered" && !event.item.approved,
    isCancel: ({ event }) => event.type === "inbox.received" && event.item.kind === "session.cancelled",
    isDeadline: ({ event }) => event.type === "timer.fired" && event.timer === "deadline",
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
    isVerified: ({ event }) => event.type === "verify.finished" && event.failures.length === 0,
    mayTryAgain: ({ context }) => context.verifyRound < verifyRoundsMax && !isLastTurn(context),
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
      const { text, calls, usage } = event.reply;
      return { ...withMessage(context, { role: "assistant", text, calls }), tally: addUsage(context.tally, usage) };
    }),
    beginCalls: assign(({ context }) => {
      const calls = callsOf(context);
      const toolCalls = Math.min(context.pin.limits.maxToolCalls, context.tally.toolCalls + calls.length);
      return { calls, tally: { ...context.tally, toolCalls } };
    }),
    startCalls: enqueueActions(({ context, enqueue }) => {
      const calls = [...context.calls];
      for (const call of startable(context)) {
        if (isDelegate(call.toolCall.name)) {
          enqueue.sendTo(childActor(context.step, call.call), { type: "slot.granted" });
        } else {
          const id = toolActor(context.step, call.call);
          const { step, request } = context;
          const { call: index, toolCall } = call;
          const input = { kind: "callTool" as const, run: request.run, step, call: index, toolCall };
          enqueue.spawnChild("callTool", { id, input });
        }
        calls[call.call] = { ...call, phase: "running" };
      }
      enqueue.assign({ calls });
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
      if (event.type !== "tool.finished" || event.step !== context.step) return;
      const { call, tool, outcome } = event;
      enqueue.assign({
        tally: addOutcome(context.tally, tool, outcome),
        calls: settleCall(context.calls, call, outcome.output, outcome.error !== null || outcome.inDoubt),
      });
      enqueue.stopChild(toolActor(context.step, call));
    }),
    /** Counts every attempt of a child, then lets its delegation decide what comes of it. */
    passToDelegation: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === "child.settled") {
        enqueue.assign({ tally: addChild(context.tally, event.response) });
        enqueue.sendTo(childActor(event.step, event.call), event);
      } else if (event.type === "timer.fired" && event.timer.startsWith("retry/")) {
        const [, step, call] = event.timer.split("/").map(Number);
        enqueue.sendTo(childActor(step ?? 0, call ?? 0), event);
      } else if (event.type === "child.claimed" && event.step === context.step) {
        enqueue.sendTo(childActor(event.step, event.call), { type: "child.claimed" });
      }
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
      delayMs: deadlineDelayMs(context),
    }),
  },
  on: { "run.claimed": { actions: ["notePause", "noteTime"] } },
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
            input: ({ context }) => ({ kind: "assessIntent" as const, run: context.request.run }),
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
        src: "awaitApproval",
        input: ({ context }) => ({
          kind: "awaitApproval" as const,
          run: context.request.run,
          risk: context.intent.risk,
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
          { actions: ["noteTime", "passToDelegation"] },
        ],
        "child.claimed": { actions: "passToDelegation" },
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
            }),
          },
          on: {
            "model.replied": [
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
            "tool.finished": { actions: ["noteTime", "keepOutcome", "startCalls"] },
            "child.settled": { actions: ["noteTime", "passToDelegation"] },
            "xstate.done.actor.*": { actions: ["keepDelegation", "startCalls"] },
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
              { target: "settling", actions: ["noteTime", { type: "decide", params: onVerification }, "compose"] },
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
          on: { "run.settled": "#agent.settled" },
        },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => responseOf(context),
});

interface Moment {
  context: AgentContext;
  event: AgentEvent;
}

function onRejection({ context }: Moment): { verdict: Verdict } {
  return { verdict: rejected(rejectionOf(context) ?? refusal("params", "rejected")) };
}

function onCancel({ event }: Moment): { verdict: Verdict } {
  const reason = event.type === "inbox.received" && event.item.kind === "session.cancelled" ? event.item.reason : "";
  return { verdict: cancelled(reason || "cancelled") };
}

function onDeadline(): { verdict: Verdict } {
  return { verdict: bailedOut("timeout") };
}

function onDenial({ event }: Moment): { verdict: Verdict } {
  const by = event.type === "inbox.received" && event.item.kind === "approval.answered" ? event.item.by : "a person";
  return { verdict: rejected(refusal("permission", `denied by ${by}`)) };
}

function onLastTurn({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(lastTurnReason(context)) };
}

function onCap({ context }: Moment): { verdict: Verdict } {
  return { verdict: bailedOut(reachedCap(context) ?? "max_tokens") };
}

function onModelFailure({ event }: Moment): { verdict: Verdict } {
  return { verdict: failed(event.type === "model.failed" ? event.error : refusal("model", "the model failed")) };
}

function onVerification({ event }: Moment): { verdict: Verdict } {
  const failures = event.type === "verify.finished" ? event.failures : [];
  return { verdict: failed(refusal("verification", failures.join("; "))) };
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

/** The calls of the newest reply; those over the tool-call cap, and those refused outright, are settled already. */
function callsOf(context: AgentContext): CallState[] {
  const reply = context.messages.at(-1);
  const asked = reply?.role === "assistant" ? reply.calls : [];
  const left = context.pin.limits.maxToolCalls - context.tally.toolCalls;
  return asked.map((toolCall, call) => {
    const queued: CallState = { call, toolCall, phase: "queued", text: null, isError: false };
    if (call >= left) {
      return settled(queued, `not run: the limit of ${context.pin.limits.maxToolCalls} tool calls is reached`);
    }
    if (!isDelegate(toolCall.name)) return queued;
    const plan = planDelegation(context, call, toolCall);
    return "error" in plan ? settled(queued, plan.error.message) : queued;
  });
}

function settled(call: CallState, text: string): CallState {
  return { ...call, phase: "settled", text, isError: true };
}

function settleCall(calls: readonly CallState[], index: number, text: string, isError: boolean): CallState[] {
  return calls.map((call) => (call.call === index ? { ...call, phase: "settled", text, isError } : call));
}

/** Queued calls that fit under the caps now, in the order in which the model made them. */
function startable(context: AgentContext): CallState[] {
  const { maxParallelTools, maxConcurrent } = context.pin.limits;
  const running = context.calls.filter((call) => call.phase === "running");
  const children = running.filter((call) => isDelegate(call.toolCall.name)).length;
  const queued = context.calls.filter((call) => call.phase === "queued");
  const isChild = (call: CallState): boolean => isDelegate(call.toolCall.name);
  return [
    ...queued.filter(isChild).slice(0, Math.max(0, maxConcurrent - children)),
    ...queued.filter((call) => !isChild(call)).slice(0, Math.max(0, maxParallelTools - (running.length - children))),
  ];
}
