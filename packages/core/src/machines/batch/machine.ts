import { assign, enqueueActions, sendParent, setup } from "xstate";
import type { BatchMode, BatchPolicy } from "../../delegation/arguments.ts";
import { resultOf } from "../../delegation/result.ts";
import type { RetryPolicy } from "../../protocol/agent.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunResponse, RunStatus } from "../../protocol/response.ts";
import { detailsIn } from "../agent/result-details.ts";
import {
  type ChildOffer,
  type DelegationEvent,
  type DelegationOutput,
  delegationMachine,
} from "../delegation/machine.ts";
import { type BatchItem, indexesOf, noLongerNeeded, scheduleTasks } from "./scheduler.ts";

/** One checked task of a batch, with the request of its first attempt. */
export interface PlannedTask {
  name: string;
  /** Indexes of the tasks that it waits for. */
  after: readonly number[];
  request: RunRequest;
  retry: RetryPolicy;
  /** Workspace of the alternative agent. @default the workspace of the request */
  alternativeWorkspace?: RunRequest["workspace"] | undefined;
}

/** The tasks of a delegate call, their order and the policy for failures. */
export interface BatchPlan {
  tasks: readonly PlannedTask[];
  /** Whether the model passed a list of tasks. It then reads a list of results, even of one task. */
  batch: boolean;
  mode: BatchMode;
  policy: BatchPolicy;
  /** Whether a model reads each text of a result once. @default false, as in runs of earlier versions */
  readsTextOnce?: boolean;
}

export interface BatchInput {
  run: string;
  step: number;
  call: number;
  plan: BatchPlan;
}

export interface BatchOutput {
  /** In the order of the tasks. */
  responses: readonly RunResponse[];
}

export interface BatchContext extends BatchInput {
  items: readonly BatchItem[];
}

/** An event for the delegation of one task. */
type ForItem<E> = E extends unknown ? E & { item: number } : never;

export type BatchEvent =
  | ForItem<DelegationEvent>
  /** Stops running tasks and drops waiting ones. */
  | { type: "stop"; items: readonly number[] | "all"; reason: string; announce: boolean }
  | { type: `xstate.done.actor.${string}`; output: DelegationOutput };

/** Events from a batch to its run. */
export type BatchUpdate =
  /** All tasks that wait only for a slot now. */
  | { type: "batch.ready"; step: number; call: number; items: readonly number[] }
  | { type: "batch.item"; step: number; call: number; item: number; response: RunResponse }
  /** A slot came too late: the task was dropped before it started. */
  | { type: "batch.declined"; step: number; call: number; item: number };

/** A bare number: XState copies its table of children at every change, which is fast only for numeric keys. */
const itemActor = (item: number): string => `${item}`;

/**
 * The tasks of one delegate call, as a graph. A task becomes ready when the tasks before it have settled, starts when its
 * run grants it a slot, and settles on its own. The batch's policy decides which tasks are no longer wanted. The batch
 * ends when every task has settled.
 *
 * @example
 * const actor = createActor(batchMachine.provide({ actors: { delegation } }), { input: { run, step: 1, call: 0, plan } });
 * actor.start(); // sends its parent { type: "batch.ready", items: [0, 1] }
 * actor.send({ type: "slot.granted", item: 0, offer }); // starts the first task
 */
export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    input: {} as BatchInput,
    output: {} as BatchOutput,
    events: {} as BatchEvent,
  },
  actors: { delegation: delegationMachine },
  guards: {
    allSettled: ({ context }) => context.items.every(({ phase }) => phase === "settled"),
  },
  actions: {
    /** One assignment for all: every action that spawns copies the whole table of children. */
    spawnAll: assign(({ context, spawn }) => {
      const { run, step, call, plan } = context;
      for (const [item, { request, retry, alternativeWorkspace }] of plan.tasks.entries()) {
        const input = { run, step, call, item, request, retry, alternativeWorkspace };
        spawn("delegation", { id: itemActor(item), input });
      }
      return {};
    }),
    grant: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "slot.granted") return;
      const { item } = event;
      const { step, call } = context;
      if (context.items[item]?.phase !== "ready") {
        enqueue(sendParent({ type: "batch.declined", step, call, item }));
        return;
      }
      const offer = { ...event.offer, context: contextOf(context, item, event.offer) };
      enqueue.assign({ items: withPhase(context.items, item, { phase: "asked" }) });
      enqueue.sendTo(itemActor(item), { type: "slot.granted", offer });
    }),
    forward: enqueueActions(({ context, event, enqueue }) => {
      if (!("item" in event) || isSettled(context, event.item)) return;
      const { item, ...inner } = event;
      // A journal entry keeps its own `item`.
      enqueue.sendTo(itemActor(item), (inner.type === "child.settled" ? event : inner) as DelegationEvent);
    }),
    drop: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "drop" || isSettled(context, event.item)) return;
      const { item, status, error } = event;
      enqueue.assign({ items: withPhase(context.items, item, { phase: "leaving" }) });
      enqueue.sendTo(itemActor(item), { type: "drop", status, error });
    }),
    stop: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "stop") return;
      const { reason, announce } = event;
      const wanted = event.items === "all" ? context.items.map((_, item) => item) : event.items;
      const stopped = wanted.filter((item) => !isSettled(context, item) && context.items[item]?.phase !== "leaving");
      for (const item of stopped) enqueue.sendTo(itemActor(item), { type: "cancel", reason, announce });
      const leaving = new Set(stopped);
      const items = context.items.map((state, item) =>
        leaving.has(item) ? { ...state, phase: "leaving" as const } : state,
      );
      enqueue.assign({ items });
      enqueue(sendParent(readyTasks({ ...context, items })));
    }),
    storeResult: enqueueActions(({ context, event, enqueue }) => {
      if (!("output" in event)) return;
      const item = Number(event.type.slice(doneActor.length));
      const { response } = event.output;
      enqueue.assign({ items: withPhase(context.items, item, { phase: "settled", response }) });
      enqueue.stopChild(itemActor(item));
    }),
    reportResult: enqueueActions(({ context, event, enqueue }) => {
      if (!("output" in event)) return;
      const { step, call } = context;
      const item = Number(event.type.slice(doneActor.length));
      enqueue(sendParent({ type: "batch.item", step, call, item, response: event.output.response }));
    }),
    /** Applies the decisions that follow from the latest change. */
    advance: enqueueActions(({ context, enqueue }) => {
      const { ready, drop, stop } = scheduleTasks(context.plan, context.items);
      for (const { item, error } of drop) {
        const status: RunStatus = error.type === "cancelled" ? "cancelled" : "rejected";
        enqueue.sendTo(itemActor(item), { type: "drop", status, error });
      }
      for (const item of stop) {
        enqueue.sendTo(itemActor(item), { type: "cancel", reason: noLongerNeeded, announce: true });
      }
      const leaving = new Set([...drop.map(({ item }) => item), ...stop]);
      if (leaving.size + ready.length === 0) return;
      const becomesReady = new Set(ready);
      const items = context.items.map((state, item) => {
        if (leaving.has(item)) return { ...state, phase: "leaving" as const };
        return becomesReady.has(item) ? { ...state, phase: "ready" as const } : state;
      });
      enqueue.assign({ items });
      enqueue(sendParent(readyTasks({ ...context, items })));
    }),
  },
}).createMachine({
  id: "batch",
  context: ({ input }) => ({ ...input, items: input.plan.tasks.map(() => ({ phase: "blocked", response: null })) }),
  initial: "working",
  states: {
    working: {
      description: "Tasks wait for each other, for a slot, and for their children. Each settles on its own.",
      entry: ["spawnAll", "advance"],
      always: { guard: "allSettled", target: "settled" },
      on: {
        "slot.granted": { actions: "grant" },
        drop: { actions: "drop" },
        stop: { actions: "stop" },
        "child.claimed": { actions: "forward" },
        "child.settled": { actions: "forward" },
        "timer.fired": { actions: "forward" },
        "xstate.done.actor.*": { actions: ["storeResult", "advance", "reportResult"] },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => ({ responses: context.items.flatMap(({ response }) => response ?? []) }),
});

const doneActor = "xstate.done.actor.";

/** Replaces the run's list of ready tasks. */
function readyTasks({ step, call, items }: BatchContext): BatchUpdate {
  return { type: "batch.ready", step, call, items: indexesOf(items, ({ phase }) => phase === "ready") };
}

function isSettled({ items }: BatchContext, item: number): boolean {
  const phase = items[item]?.phase;
  return phase === undefined || phase === "settled";
}

function withPhase(items: readonly BatchItem[], item: number, change: Partial<BatchItem>): BatchItem[] {
  const state = items[item];
  return state ? items.with(item, { ...state, ...change }) : [...items];
}

/** The context of a task: the given part of the parent's conversation, and the results of the tasks before it. */
function contextOf({ plan, items }: BatchContext, item: number, { context }: ChildOffer): string | null {
  const results = (plan.tasks[item]?.after ?? []).flatMap((index) => {
    const response = items[index]?.response;
    const result = response && JSON.stringify(resultOf(response, detailsIn(plan)));
    return result ? [`Result of the task ${plan.tasks[index]?.name}:\n${result}`] : [];
  });
  const parts = [context, ...results].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join("\n\n");
}
