import { assign, setup } from "xstate";
import { notStartedResponse } from "../../delegation/unasked.ts";
import type { RetryPolicy } from "../../protocol/agent.ts";
import type { Budget } from "../../protocol/budget.ts";
import { childRunId } from "../../protocol/ids.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunResponse, RunStatus } from "../../protocol/response.ts";
import type { RunError } from "../../protocol/run-error.ts";
import { effectPlace } from "../effects.ts";
import type { FactOf } from "../facts.ts";

/** What a parent hands its delegation: the first attempt's request, and how to retry. */
export interface DelegationInput {
  /** The parent's run: effects are started in its name, outcomes are appended to its journal. */
  run: string;
  step: number;
  call: number;
  item: number;
  request: RunRequest;
  retry: RetryPolicy;
  /** Where the alternative works, if it is asked. @default where the agent itself does */
  alternativeWorkspace?: RunRequest["workspace"] | undefined;
}

export interface DelegationOutput {
  response: RunResponse;
  attempts: number;
}

export interface DelegationContext extends DelegationInput {
  response: RunResponse | null;
  /** Why the child is told to stop; null while it is not, or where it hears of it by itself. */
  stopping: string | null;
  /** Time at which the newest response came. */
  settledAt: number;
  /** Set once it is certain that this child will never be asked. */
  unasked: { status: RunStatus; error: RunError } | null;
}

/** What its parent has left for a child at that moment: an attempt that starts later gets less. */
export interface ChildOffer {
  remainingMs: number;
  budget: Budget;
  /** What comes along of the parent's conversation, and of the tasks that this one waited for. */
  context: string | null;
}

/** With what its parent has left: an attempt that it could not wait for is not made. */
type SettledFact = FactOf<"child.settled"> & { remainingMs: number };

export type DelegationEvent =
  | { type: "slot.granted"; offer: ChildOffer }
  /** Nobody wants it any more: a child in the queue is dropped, one that waits for a retry keeps its last response. */
  | { type: "drop"; status: RunStatus; error: RunError }
  /** `announce` false: the child hears of it by the same wish as its parent. */
  | { type: "cancel"; reason: string; announce: boolean }
  /** A hint that only changes what is shown: it is never in the journal. */
  | { type: "child.claimed" }
  | SettledFact
  /** `offer` null: there is nothing left to try again with. */
  | (FactOf<"timer.fired"> & { offer: Pick<ChildOffer, "remainingMs" | "budget"> | null });

/**
 * One request to one child and its one response, with retries: queued → waiting (offered, running, stopping) →
 * retrying → settled. A retry is a new run with an id of its own, the last one perhaps of another agent. It always
 * settles with a response; whatever its siblings do is no business of its.
 *
 * @example
 * const actor = createActor(delegationMachine.provide({ actors: { runChild, startTimer, … } }), {
 *   input: { run, step: 1, call: 0, item: 0, request, retry: { maxAttempts: 2, backoffMs: 1_000, on: ["network"], alternative: null } },
 * });
 * actor.start(); // queued
 * actor.send({ type: "slot.granted", offer: { remainingMs: 60_000, budget, context: null } }); // waiting: runChild was started
 * actor.send({ type: "child.settled", step: 1, call: 0, item: 0, attempt: 1, response, at: 10, remainingMs: 59_000 });
 * actor.getSnapshot().output; // { response, attempts: 1 }, where the response was no recoverable failure
 */
export const delegationMachine = setup({
  types: {
    context: {} as DelegationContext,
    input: {} as DelegationInput,
    output: {} as DelegationOutput,
    events: {} as DelegationEvent,
  },
  actors: {
    runChild: effectPlace("runChild"),
    cancelChild: effectPlace("cancelChild"),
    dropChild: effectPlace("dropChild"),
    startTimer: effectPlace("startTimer"),
  },
  guards: {
    isThisAttempt: ({ context, event }) => isThisAttempt(context, event),
    isRetryable: ({ context, event }) =>
      isThisAttempt(context, event) &&
      nextRequest(context, event.response) !== null &&
      backoffMs(context, event.response.error?.retryAfterMs ?? null) < event.remainingMs,
    isBackoff: ({ context, event }) => isBackoff(context, event),
    isBackoffInTime: ({ context, event }) => isBackoff(context, event) && event.offer !== null,
    isToBeTold: ({ event }) => event.type === "cancel" && event.announce,
  },
  actions: {
    keepResponse: assign(({ event }) =>
      event.type === "child.settled" ? { response: event.response, settledAt: event.at } : {},
    ),
    keepOffer: assign(({ context, event }) =>
      event.type === "slot.granted" ? { request: { ...context.request, ...event.offer } } : {},
    ),
    keepDrop: assign(({ event }) => {
      if (event.type === "drop") return { unasked: { status: event.status, error: event.error } };
      if (event.type === "cancel")
        return { unasked: { status: "cancelled" as const, error: cancelledError(event.reason) } };
      return {};
    }),
    keepReason: assign(({ event }) => (event.type === "cancel" ? { stopping: event.reason } : {})),
    nextAttempt: assign(({ context, event }) => {
      const next = context.response && nextRequest(context, context.response);
      if (!next || event.type !== "timer.fired" || !event.offer) return {};
      // What came along with the first attempt comes along with each.
      const { remainingMs, budget } = event.offer;
      return { request: { ...next, remainingMs, budget } };
    }),
  },
}).createMachine({
  id: "delegation",
  initial: "queued",
  context: ({ input }) => ({ ...input, response: null, stopping: null, settledAt: 0, unasked: null }),
  states: {
    queued: {
      description: "Waits for its turn: for the tasks before it, and for fewer siblings than the cap to run.",
      on: {
        "slot.granted": { target: "waiting", actions: "keepOffer" },
        drop: { target: "dropping", actions: "keepDrop" },
        cancel: { target: "dropping", actions: "keepDrop" },
      },
    },
    waiting: {
      description: "The request is out; the child's one response is awaited.",
      invoke: {
        src: "runChild",
        input: ({ context: { run, step, call, item, request } }) => ({
          kind: "runChild" as const,
          run,
          step,
          call,
          item,
          request,
        }),
      },
      initial: "offered",
      states: {
        offered: {
          description: "In the queue, with nobody known to have taken it.",
          on: { "child.claimed": "running" },
        },
        running: { description: "A host said that it runs the child." },
        stopping: {
          description: "The child has been told to stop: its response is on the way, and is not retried.",
          invoke: {
            src: "cancelChild",
            input: ({ context: { run, step, call, item, request, stopping } }) => ({
              kind: "cancelChild" as const,
              run,
              step,
              call,
              item,
              request,
              reason: stopping ?? "no longer wanted",
            }),
          },
          on: { "child.settled": { guard: "isThisAttempt", target: "#delegation.settled", actions: "keepResponse" } },
        },
        ending: {
          description: "The child hears by itself that it has to stop.",
          on: { "child.settled": { guard: "isThisAttempt", target: "#delegation.settled", actions: "keepResponse" } },
        },
      },
      on: {
        "child.settled": [
          { guard: "isRetryable", target: "retrying", actions: "keepResponse" },
          { guard: "isThisAttempt", target: "settled", actions: "keepResponse" },
        ],
        cancel: [
          { guard: "isToBeTold", target: ".stopping", actions: "keepReason" },
          { target: ".ending", actions: "keepReason" },
        ],
      },
    },
    retrying: {
      description: "Failed in a way that may pass: waits, then asks a fresh run.",
      invoke: {
        src: "startTimer",
        input: ({ context }) => ({
          kind: "startTimer" as const,
          run: context.run,
          timer: backoffTimer(context),
          delayMs: backoffMs(context, context.response?.error?.retryAfterMs ?? null),
          since: context.settledAt,
        }),
      },
      on: {
        "timer.fired": [
          { guard: "isBackoffInTime", target: "waiting", actions: "nextAttempt" },
          { guard: "isBackoff", target: "settled" },
        ],
        drop: "settled",
        cancel: "settled",
      },
    },
    dropping: {
      description: "Will never be asked: that is written down as its response.",
      invoke: {
        src: "dropChild",
        input: ({ context }) => ({
          kind: "dropChild" as const,
          run: context.run,
          step: context.step,
          call: context.call,
          item: context.item,
          attempt: context.request.attempt,
          response: notStartedResponse(
            context.request,
            context.unasked?.status ?? "cancelled",
            context.unasked?.error ?? cancelledError("no longer wanted"),
          ),
        }),
      },
      on: { "child.settled": { guard: "isThisAttempt", target: "settled", actions: "keepResponse" } },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => {
    if (!context.response) throw new Error("a delegation settled without a response");
    return { response: context.response, attempts: context.request.attempt };
  },
});

/** The name of the timer after which a failed child is asked anew. */
export function backoffTimer({ step, call, item, request }: Omit<DelegationInput, "run" | "retry">): string {
  return `retry/${step}/${call}/${item}/${request.attempt}`;
}

function isThisAttempt({ step, call, item, request }: DelegationContext, event: DelegationEvent): event is SettledFact {
  if (event.type !== "child.settled") return false;
  return event.step === step && event.call === call && event.item === item && event.attempt === request.attempt;
}

function isBackoff(
  context: DelegationContext,
  event: DelegationEvent,
): event is Extract<DelegationEvent, { type: "timer.fired" }> {
  return event.type === "timer.fired" && event.timer === backoffTimer(context);
}

/** Errors that say nothing about whether trying again helps: that is for whoever lists them in a retry policy. */
const judgedByPolicy: ReadonlySet<string> = new Set(["verification", "timeout", "budget"]);

/** The request of the attempt that should follow this response; null where none should. */
function nextRequest(context: DelegationContext, { error, success }: RunResponse): RunRequest | null {
  const { request, retry, run: parentRun, step, call, item } = context;
  const { alternative } = retry;
  if (success || !error || !retry.on.includes(error.type) || request.agent === alternative) return null;
  const attempt = request.attempt + 1;
  const next = { ...request, attempt, run: childRunId({ parentRun, step, call, item, attempt }) };
  const mayPass = error.recoverable || judgedByPolicy.has(error.type);
  if (mayPass && attempt <= retry.maxAttempts) return next;
  // Another agent may well succeed at what this one can never do.
  const { alternativeWorkspace: workspace = request.workspace } = context;
  return alternative === null ? null : { ...next, agent: alternative, workspace };
}

/** Doubles with each attempt, and never asks sooner than the child's own error allows. */
function backoffMs({ retry, request }: DelegationContext, retryAfterMs: number | null): number {
  return Math.max(retry.backoffMs * 2 ** (request.attempt - 1), retryAfterMs ?? 0);
}

function cancelledError(reason: string): RunError {
  return { type: "cancelled", message: reason, tool: null, recoverable: false, retryAfterMs: null };
}
