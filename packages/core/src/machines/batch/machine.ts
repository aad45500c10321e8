import { assign, enqueueActions, sendParent, setup } from "xstate";
import type { BatchMode, BatchPolicy } from "../../delegation/arguments.ts";
import { resultOf } from "../../delegation/result.ts";
import type { RetryPolicy } from "../../protocol/agent.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunResponse, RunStatus } from "../../protocol/response.ts";
import {
  type ChildOffer,
  type DelegationEvent,
  type DelegationOutput,
  delegationMachine,
} from "../delegation/machine.ts";
import { type BatchItem, nextMoves, noLongerNeeded, placesOf } from "./scheduler.ts";

/** One task of a batch, checked and ready to be asked once its turn comes. */
export interface PlannedTask {
  name: string;
  /** Places of the tasks that it waits for. */
  after: readonly number[];
  request: RunRequest;
  retry: RetryPolicy;
  /** Where the alternative works, if it is asked. @default where the agent itself does */
  alternativeWorkspace?: RunRequest["workspace"] | undefined;
}

/** What a delegate call asks for: one task, or several with an order among them. */
export interface BatchPlan {
  tasks: readonly PlannedTask[];
  /** Whether the model asked for several: it reads a list of results then, even of one. */
  batch: boolean;
  mode: BatchMode;
  policy: BatchPolicy;
}

export interface BatchInput {
  run: string;
  step: number;
  call: number;
  plan: BatchPlan;
}

export interface BatchOutput {
  /** In the order in which they were asked for. */
  responses: readonly RunResponse[];
}

export interface BatchContext extends BatchInput {
  items: readonly BatchItem[];
}

/** An event for the delegation of one task. */
type ForItem<E> = E extends unknown ? E & { item: number } : never;

export type BatchEvent =
  | ForItem<DelegationEvent>
  /** Stops some tasks, or all: what runs is told, what waits is dropped. */
  | { type: "stop"; items: readonly number[] | "all"; reason: string; announce: boolean }
  | { type: `xstate.done.actor.${string}`; output: DelegationOutput };

/** What a batch tells the run that it belongs to. */
export type BatchNews =
  /** The tasks that wait for nothing but a slot now. */
  | { type: "batch.ready"; step: number; call: number; items: readonly number[] }
  | { type: "batch.item"; step: number; call: number; item: number; response: RunResponse }
  /** A slot came too late: the task is not wanted any more, and was not asked. */
  | { type: "batch.declined"; step: number; call: number; item: number };

/** A bare number: XState copies its table of children at every change, and that is fast only with such keys. */
const itemActor = (item: number): string => `${item}`;

/**
 * The tasks of one delegate call, as a graph: a task becomes ready when all it waits for has settled, is asked when its
 * run has a slot for it, and settles on its own whatever its siblings do. The batch's policy decides who is no longer
 * wanted. It ends when every task has settled.
 *
 * @example
 * const actor = createActor(batchMachine.provide({ actors: { delegation } }), { input: { run, step: 1, call: 0, plan } });
 * actor.start(); // tells its parent { type: "batch.ready", items: [0, 1] }
 * actor.send({ type: "slot.granted", item: 0, offer }); // the first is asked
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
    /** All in one assignment: each action that spawns copies the whole table of children. */
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
    pass: enqueueActions(({ context, event, enqueue }) => {
      if (!("item" in event) || isGone(context, event.item)) return;
      const { item, ...inner } = event;
      // A fact of the journal keeps its own `item`.
      enqueue.sendTo(itemActor(item), (inner.type === "child.settled" ? event : inner) as DelegationEvent);
    }),
    drop: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "drop" || isGone(context, event.item)) return;
      const { item, status, error } = event;
      enqueue.assign({ items: withPhase(context.items, item, { phase: "leaving" }) });
      enqueue.sendTo(itemActor(item), { type: "drop", status, error });
    }),
    stop: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== "stop") return;
      const { reason, announce } = event;
      const wanted = event.items === "all" ? context.items.map((_, item) => item) : event.items;
      const stopped = wanted.filter((item) => !isGone(context, item) && context.items[item]?.phase !== "leaving");
      for (const item of stopped) enqueue.sendTo(itemActor(item), { type: "cancel", reason, announce });
      const leaving = new Set(stopped);
      const items = context.items.map((state, item) =>
        leaving.has(item) ? { ...state, phase: "leaving" as const } : state,
      );
      enqueue.assign({ items });
      enqueue(sendParent(readyIn({ ...context, items })));
    }),
    keepItem: enqueueActions(({ context, event, enqueue }) => {
      if (!("output" in event)) return;
      const item = Number(event.type.slice(doneActor.length));
      const { response } = event.output;
      enqueue.assign({ items: withPhase(context.items, item, { phase: "settled", response }) });
      enqueue.stopChild(itemActor(item));
    }),
    reportItem: enqueueActions(({ context, event, enqueue }) => {
      if (!("output" in event)) return;
      const { step, call } = context;
      const item = Number(event.type.slice(doneActor.length));
      enqueue(sendParent({ type: "batch.item", step, call, item, response: event.output.response }));
    }),
    /** What the graph and the policy make of the last change. */
    advance: enqueueActions(({ context, enqueue }) => {
      const { ready, drop, stop } = nextMoves(context.plan, context.items);
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
      enqueue(sendParent(readyIn({ ...context, items })));
    }),
  },
}).createMachine({
  id: "batch",
  context: ({ input }) => ({ ...input, items: input.plan.tasks.map(() => ({ phase: "blocked", response: null })) }),
  initial: "working",
  states: {
    working: {
      description: "Tasks wait for one another, for a slot, and for their children; each settles on its own.",
      entry: ["spawnAll", "advance"],
      always: { guard: "allSettled", target: "settled" },
      on: {
        "slot.granted": { actions: "grant" },
        drop: { actions: "drop" },
        stop: { actions: "stop" },
        "child.claimed": { actions: "pass" },
        "child.settled": { actions: "pass" },
        "timer.fired": { actions: "pass" },
        "xstate.done.actor.*": { actions: ["keepItem", "advance", "reportItem"] },
      },
    },
    settled: { type: "final" },
  },
  output: ({ context }) => ({ responses: context.items.flatMap(({ response }) => response ?? []) }),
});

const doneActor = "xstate.done.actor.";

/** Its run asks those tasks, and forgets any other that it meant to ask. */
function readyIn({ step, call, items }: BatchContext): BatchNews {
  return { type: "batch.ready", step, call, items: placesOf(items, ({ phase }) => phase === "ready") };
}

function isGone({ items }: BatchContext, item: number): boolean {
  const phase = items[item]?.phase;
  return phase === undefined || phase === "settled";
}

function withPhase(items: readonly BatchItem[], item: number, change: Partial<BatchItem>): BatchItem[] {
  const state = items[item];
  return state ? items.with(item, { ...state, ...change }) : [...items];
}

/** What a task is told besides its own words: what comes of the parent's conversation, and what it waited for. */
function contextOf({ plan, items }: BatchContext, item: number, { context }: ChildOffer): string | null {
  const results = (plan.tasks[item]?.after ?? []).flatMap((place) => {
    const response = items[place]?.response;
    return response ? [`Result of the task ${plan.tasks[place]?.name}:\n${JSON.stringify(resultOf(response))}`] : [];
  });
  const parts = [context, ...results].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join("\n\n");
}
