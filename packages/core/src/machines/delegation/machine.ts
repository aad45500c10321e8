import { assign, setup } from "xstate";
import type { RetryPolicy } from "../../protocol/agent.ts";
import { childRunId } from "../../protocol/ids.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunResponse } from "../../protocol/response.ts";
import { effectPlace } from "../effects.ts";
import type { FactOf } from "../events.ts";

/** What a parent hands its delegation: the first attempt's request, and how to retry. */
export interface DelegationInput {
  /** The parent's run: effects are started in its name, outcomes are appended to its journal. */
  run: string;
  step: number;
  call: number;
  item: number;
  request: RunRequest;
  retry: RetryPolicy;
}

export interface DelegationOutput {
  response: RunResponse;
  attempts: number;
}

export interface DelegationContext extends DelegationInput {
  response: RunResponse | null;
}

/** What its parent has left for a child at that moment: an attempt that starts later gets less. */
interface Remaining {
  remainingMs: number;
}

export type DelegationEvent =
  | ({ type: "slot.granted" } & Remaining)
  /** A hint that only changes what is shown: it is never in the journal. */
  | { type: "child.claimed" }
  | (FactOf<"child.settled"> & Remaining)
  | (FactOf<"timer.fired"> & Remaining);

/**
 * One request to one child and its one response, with retries: queued → waiting (offered, running) → retrying →
 * settled. A retry is a new run with an id of its own. It always settles with a response; whatever its siblings do is
 * no business of its.
 *
 * @example
 * const actor = createActor(delegationMachine.provide({ actors: { runChild, startTimer } }), {
 *   input: { run, step: 1, call: 0, request, retry: { maxAttempts: 2, backoffMs: 1_000, on: ["network"] } },
 * });
 * actor.start(); // queued
 * actor.send({ type: "slot.granted", remainingMs: 60_000 }); // waiting: runChild was started
 * actor.send({ type: "child.settled", step: 1, call: 0, attempt: 1, response, at: 10, remainingMs: 59_000 });
 * actor.getSnapshot().output; // { response, attempts: 1 }, where the response was no recoverable failure
 */
export const delegationMachine = setup({
  types: {
    context: {} as DelegationContext,
    input: {} as DelegationInput,
    output: {} as DelegationOutput,
    events: {} as DelegationEvent,
  },
  actors: { runChild: effectPlace("runChild"), startTimer: effectPlace("startTimer") },
  guards: {
    isThisAttempt: ({ context, event }) => isThisAttempt(context, event),
    isRetryable: ({ context, event }) =>
      isThisAttempt(context, event) && mayRetry(context, event.response, event.remainingMs),
    isBackoff: ({ context, event }) => isBackoff(context, event),
    isBackoffInTime: ({ context, event }) => isBackoff(context, event) && event.remainingMs > 0,
  },
  actions: {
    keepResponse: assign(({ context, event }) =>
      event.type === "child.settled" ? { ...context, response: event.response } : context,
    ),
    keepTime: assign(({ context, event }) =>
      "remainingMs" in event ? { request: { ...context.request, remainingMs: event.remainingMs } } : {},
    ),
    nextAttempt: assign(({ context }) => ({ request: requestForAttempt(context, context.request.attempt + 1) })),
  },
}).createMachine({
  id: "delegation",
  initial: "queued",
  context: ({ input }) => ({ ...input, response: null }),
  states: {
    queued: {
      description: "Waits until fewer siblings than the cap are running.",
      on: { "slot.granted": { target: "waiting", actions: "keepTime" } },
    },
    waiting: {
      description: "The request is out; the child's one response is awaited.",
      invoke: {
        src: "runChild",
        input: ({ context }) => ({
          kind: "runChild" as const,
          run: context.run,
          step: context.step,
          call: context.call,
          item: context.item,
          request: context.request,
        }),
      },
      initial: "offered",
      states: {
        offered: {
          description: "In the queue, with nobody known to have taken it.",
          on: { "child.claimed": "running" },
        },
        running: { description: "A host said that it runs the child." },
      },
      on: {
        "child.settled": [
          { guard: "isRetryable", target: "retrying", actions: "keepResponse" },
          { guard: "isThisAttempt", target: "settled", actions: "keepResponse" },
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
          since: 0,
          delayMs: backoffMs(context, context.response?.error?.retryAfterMs ?? null),
        }),
      },
      on: {
        "timer.fired": [
          { guard: "isBackoffInTime", target: "waiting", actions: ["nextAttempt", "keepTime"] },
          { guard: "isBackoff", target: "settled" },
        ],
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => {
    if (!context.response) throw new Error("a delegation settled without a response");
    return { response: context.response, attempts: context.request.attempt };
  },
});

function isThisAttempt(
  { step, call, request }: DelegationContext,
  event: DelegationEvent,
): event is FactOf<"child.settled"> & Remaining {
  if (event.type !== "child.settled") return false;
  return event.step === step && event.call === call && event.attempt === request.attempt;
}

function isBackoff(context: DelegationContext, event: DelegationEvent): event is FactOf<"timer.fired"> & Remaining {
  return event.type === "timer.fired" && event.timer === backoffTimer(context);
}

/** Whether this response should be followed by another attempt: one that its parent could still wait for. */
function mayRetry(context: DelegationContext, { error, success }: RunResponse, remainingMs: number): boolean {
  const { request, retry } = context;
  if (success || !error?.recoverable || !retry.on.includes(error.type)) return false;
  return request.attempt < retry.maxAttempts && backoffMs(context, error.retryAfterMs) < remainingMs;
}

function backoffTimer(context: DelegationContext): string {
  return `retry/${context.step}/${context.call}/${context.request.attempt}`;
}

/** Doubles with each attempt, and never asks sooner than the child's own error allows. */
function backoffMs({ retry, request }: DelegationContext, retryAfterMs: number | null): number {
  return Math.max(retry.backoffMs * 2 ** (request.attempt - 1), retryAfterMs ?? 0);
}

function requestForAttempt(context: DelegationContext, attempt: number): RunRequest {
  const { run: parentRun, step, call } = context;
  return { ...context.request, attempt, run: childRunId({ parentRun, step, call, attempt }) };
}
