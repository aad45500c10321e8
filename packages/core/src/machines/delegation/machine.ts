import { assign, setup } from "xstate";
import type { RetryPolicy } from "../../protocol/agent.ts";
import type { Budget } from "../../protocol/budget.ts";
import { childRunId } from "../../protocol/ids.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { notStartedResponse, type RunResponse, type RunStatus } from "../../protocol/response.ts";
import { permanentError, type RunError } from "../../protocol/run-error.ts";
import type { Taint } from "../../protocol/taint.ts";
import { effectActor } from "../effects.ts";
import type { FactOf } from "../facts.ts";

/** The request of the first attempt, and the retry policy. */
export interface DelegationInput {
  /** The parent's run: effects start in its name, and outcomes are appended to its journal. */
  run: string;
  step: number;
  call: number;
  item: number;
  request: RunRequest;
  retry: RetryPolicy;
  /** Workspace of the alternative agent. @default the workspace of the request */
  alternativeWorkspace?: RunRequest["workspace"] | undefined;
}

export interface DelegationOutput {
  response: RunResponse;
  attempts: number;
}

export interface DelegationContext extends DelegationInput {
  response: RunResponse | null;
  /** Why the child has to stop; null while it may go on. */
  stopping: string | null;
  /** When the newest response arrived. */
  settledAt: number;
  /** Set once the child will certainly not start. */
  notStarted: { status: RunStatus; error: RunError } | null;
}

/** The resources that an attempt gets. A later attempt gets less, because its parent has less left. */
export interface ChildOffer {
  remainingMs: number;
  budget: Budget;
  /** The given part of the parent's conversation, and the results of the tasks before this one. */
  context: string | null;
  /** Untrusted and private sources that the parent has read so far. */
  taint?: Taint;
}

/** A response, and the parent's remaining time: a retry that would exceed it is not made. */
type SettledFact = FactOf<"child.settled"> & { remainingMs: number };

export type DelegationEvent =
  | { type: "slot.granted"; offer: ChildOffer }
  /** The task is no longer wanted: a queued child is dropped, and a child between two attempts keeps its last response. */
  | { type: "drop"; status: RunStatus; error: RunError }
  /** `announce` false: the child receives the same inbox item as its parent. */
  | { type: "cancel"; reason: string; announce: boolean }
  /** A hint for displays only; never in the journal. */
  | { type: "child.claimed" }
  | SettledFact
  /** `offer` null: no time or budget is left for a retry. */
  | (FactOf<"timer.fired"> & { offer: Pick<ChildOffer, "remainingMs" | "budget"> | null });

/**
 * One request to one child and its one response, with retries: queued → waiting (offered, running, stopping) →
 * retrying → settled. A retry is a new run with its own id; the last one may be of another agent. A delegation always
 * settles with a response and knows nothing of its siblings.
 *
 * @example
 * const actor = createActor(delegationMachine.provide({ actors: { runChild, startTimer, … } }), {
 *   input: { run, step: 1, call: 0, item: 0, request, retry: { maxAttempts: 2, backoffMs: 1_000, on: ["network"], alternative: null } },
 * });
 * actor.start(); // queued
 * actor.send({ type: "slot.granted", offer: { remainingMs: 60_000, budget, context: null } }); // waiting: runChild starts
 * actor.send({ type: "child.settled", step: 1, call: 0, item: 0, attempt: 1, response, at: 10, remainingMs: 59_000 });
 * actor.getSnapshot().output; // { response, attempts: 1 } if the response is not a recoverable failure
 */
export const delegationMachine = setup({
  types: {
    context: {} as DelegationContext,
    input: {} as DelegationInput,
    output: {} as DelegationOutput,
    events: {} as DelegationEvent,
  },
  actors: {
    runChild: effectActor("runChild"),
    cancelChild: effectActor("cancelChild"),
    dropChild: effectActor("dropChild"),
    startTimer: effectActor("startTimer"),
  },
  guards: {
    isCurrentAttempt: ({ context, event }) => isCurrentAttempt(context, event),
    isRetryable: ({ context, event }) =>
      isCurrentAttempt(context, event) &&
      nextRequest(context, event.response) !== null &&
      backoffMs(context, event.response.error?.retryAfterMs ?? null) < event.remainingMs,
    isBackoff: ({ context, event }) => isBackoff(context, event),
    isBackoffInTime: ({ context, event }) => isBackoff(context, event) && event.offer !== null,
    mustAnnounceCancel: ({ event }) => event.type === "cancel" && event.announce,
  },
  actions: {
    storeResponse: assign(({ event }) =>
      event.type === "child.settled" ? { response: event.response, settledAt: event.at } : {},
    ),
    applyOffer: assign(({ context, event }) =>
      event.type === "slot.granted" ? { request: { ...context.request, ...event.offer } } : {},
    ),
    recordDrop: assign(({ event }) => {
      if (event.type === "drop") return { notStarted: { status: event.status, error: event.error } };
      if (event.type === "cancel")
        return { notStarted: { status: "cancelled" as const, error: permanentError("cancelled", event.reason) } };
      return {};
    }),
    recordReason: assign(({ event }) => (event.type === "cancel" ? { stopping: event.reason } : {})),
    nextAttempt: assign(({ context, event }) => {
      const next = context.response && nextRequest(context, context.response);
      if (!next || event.type !== "timer.fired" || !event.offer) return {};
      // The context of the first attempt is used for every retry.
      const { remainingMs, budget } = event.offer;
      return { request: { ...next, remainingMs, budget } };
    }),
  },
}).createMachine({
  id: "delegation",
  initial: "queued",
  context: ({ input }) => ({ ...input, response: null, stopping: null, settledAt: 0, notStarted: null }),
  states: {
    queued: {
      description: "Waits for the tasks before it and for a free slot.",
      on: {
        "slot.granted": { target: "waiting", actions: "applyOffer" },
        drop: { target: "dropping", actions: "recordDrop" },
        cancel: { target: "dropping", actions: "recordDrop" },
      },
    },
    waiting: {
      description: "The request is sent. Waits for the child's response.",
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
          description: "In the task queue; no host is known to have taken it.",
          on: { "child.claimed": "running" },
        },
        running: { description: "A host announced that it runs the child." },
        stopping: {
          description: "The child was told to stop. Its response will not be retried.",
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
          on: {
            "child.settled": { guard: "isCurrentAttempt", target: "#delegation.settled", actions: "storeResponse" },
          },
        },
        ending: {
          description: "The child receives the cancel itself.",
          on: {
            "child.settled": { guard: "isCurrentAttempt", target: "#delegation.settled", actions: "storeResponse" },
          },
        },
      },
      on: {
        "child.settled": [
          { guard: "isRetryable", target: "retrying", actions: "storeResponse" },
          { guard: "isCurrentAttempt", target: "settled", actions: "storeResponse" },
        ],
        cancel: [
          { guard: "mustAnnounceCancel", target: ".stopping", actions: "recordReason" },
          { target: ".ending", actions: "recordReason" },
        ],
      },
    },
    retrying: {
      description: "The attempt failed in a temporary way. Waits, then starts a new run.",
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
      description: "The child will never start. Journals a response that says so.",
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
            context.notStarted?.status ?? "cancelled",
            context.notStarted?.error ?? permanentError("cancelled", "no longer wanted"),
          ),
        }),
      },
      on: { "child.settled": { guard: "isCurrentAttempt", target: "settled", actions: "storeResponse" } },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => {
    if (!context.response) throw new Error("a delegation settled without a response");
    return { response: context.response, attempts: context.request.attempt };
  },
});

/** Name of the timer after which a failed child is retried. */
export function backoffTimer({ step, call, item, request }: Omit<DelegationInput, "run" | "retry">): string {
  return `retry/${step}/${call}/${item}/${request.attempt}`;
}

function isCurrentAttempt(
  { step, call, item, request }: DelegationContext,
  event: DelegationEvent,
): event is SettledFact {
  if (event.type !== "child.settled") return false;
  return event.step === step && event.call === call && event.item === item && event.attempt === request.attempt;
}

function isBackoff(
  context: DelegationContext,
  event: DelegationEvent,
): event is Extract<DelegationEvent, { type: "timer.fired" }> {
  return event.type === "timer.fired" && event.timer === backoffTimer(context);
}

/** Errors whose `recoverable` flag does not matter: a retry policy that lists them decides. */
const retriedByPolicy: ReadonlySet<string> = new Set(["verification", "timeout", "budget"]);

/** The request of the attempt that follows this response; null if none does. */
function nextRequest(context: DelegationContext, { error, success }: RunResponse): RunRequest | null {
  const { request, retry, run: parentRun, step, call, item } = context;
  const { alternative } = retry;
  if (success || !error || !retry.on.includes(error.type) || request.agent === alternative) return null;
  const attempt = request.attempt + 1;
  const next = { ...request, attempt, run: childRunId({ parentRun, step, call, item, attempt }) };
  const isTemporary = error.recoverable || retriedByPolicy.has(error.type);
  if (isTemporary && attempt <= retry.maxAttempts) return next;
  // Another agent may succeed where this one cannot.
  const { alternativeWorkspace: workspace = request.workspace } = context;
  return alternative === null ? null : { ...next, agent: alternative, workspace };
}

/** Doubles with each attempt, and is never shorter than the child's error asks for. */
function backoffMs({ retry, request }: DelegationContext, retryAfterMs: number | null): number {
  return Math.max(retry.backoffMs * 2 ** (request.attempt - 1), retryAfterMs ?? 0);
}
