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

export type DelegationEvent =
  | { type: "slot.granted" }
  /** A hint that only changes what is shown: it is never in the journal. */
  | { type: "child.claimed" }
  | FactOf<"child.settled">
  | FactOf<"timer.fired">;

/**
 * One request to one child and its one response, with retries: queued → waiting (offered, running) → retrying →
 * settled. A retry is a new run with an id of its own. It always settles with a response; whatever its siblings do is
 * no business of its.
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
    isThisAttempt: ({ context, event }) =>
      event.type === "child.settled" && event.attempt === context.request.attempt && event.call === context.call,
    isRetryable: ({ context, event }) => event.type === "child.settled" && mayRetry(context, event.response),
    isBackoff: ({ context, event }) => event.type === "timer.fired" && event.timer === backoffTimer(context),
  },
  actions: {
    keepResponse: assign(({ context, event }) =>
      event.type === "child.settled" ? { ...context, response: event.response } : context,
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
      on: { "slot.granted": "waiting" },
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
          { guard: { type: "isRetryable" }, target: "retrying", actions: "keepResponse" },
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
          delayMs: backoffMs(context),
        }),
      },
      on: { "timer.fired": { guard: "isBackoff", target: "waiting", actions: "nextAttempt" } },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => {
    if (!context.response) throw new Error("a delegation settled without a response");
    return { response: context.response, attempts: context.request.attempt };
  },
});

/** Whether this response should be followed by another attempt. */
function mayRetry(context: DelegationContext, response: RunResponse): boolean {
  const { error } = response;
  if (response.runId !== context.request.run || response.success || !error?.recoverable) return false;
  return context.request.attempt < context.retry.maxAttempts && context.retry.on.includes(error.type);
}

function backoffTimer(context: DelegationContext): string {
  return `retry/${context.step}/${context.call}/${context.request.attempt}`;
}

/** Doubles with each attempt, and never asks sooner than the child's own error allows. */
function backoffMs(context: DelegationContext): number {
  const doubled = context.retry.backoffMs * 2 ** (context.request.attempt - 1);
  return Math.max(doubled, context.response?.error?.retryAfterMs ?? 0);
}

function requestForAttempt(context: DelegationContext, attempt: number): RunRequest {
  const { run: parentRun, step, call } = context;
  return { ...context.request, attempt, run: childRunId({ parentRun, step, call, attempt }) };
}
