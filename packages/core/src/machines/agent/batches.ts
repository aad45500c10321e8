import { laterResultOf } from "../../delegation/result.ts";
import type { RunResponse } from "../../protocol/response.ts";
import type { BatchPlan } from "../batch/machine.ts";
import { batchText, settleCall } from "./calls.ts";
import { withoutChild } from "./children.ts";
import { type AgentContext, type BatchState, batchKey, placeOf } from "./context.ts";
import { afterSuccess } from "./loop-detection.ts";
import { handleOf, runningTasks } from "./task-ids.ts";

/** Where a call, or a task of it, stands in its run. */
interface CallPlace {
  step: number;
  call: number;
}

interface Opened {
  call: number;
  plan: BatchPlan;
}

/** Delegate calls of this turn that are written down and have not begun. */
export function openableBatches({ calls, plannedStep, step }: AgentContext): Opened[] {
  const planned = plannedStep === step ? calls : [];
  return planned.flatMap(({ call, phase, plan }) => (phase === "planned" && plan ? [{ call, plan }] : []));
}

/** These have begun, and the turn's tools queue. */
export function withBatches(context: AgentContext, opened: readonly Opened[]): Partial<AgentContext> {
  const { step } = context;
  const begun = opened.map(({ call, plan }): [string, BatchState] => [
    batchKey({ step, call }),
    { step, call, plan, results: {}, streaming: false, stopped: [] },
  ]);
  return {
    batches: { ...context.batches, ...Object.fromEntries(begun) },
    childrenAsked: context.childrenAsked + opened.reduce((sum, { plan }) => sum + plan.tasks.length, 0),
    calls: context.calls.map((state) =>
      state.phase === "planned" ? { ...state, phase: state.plan ? ("running" as const) : ("queued" as const) } : state,
    ),
  };
}

/** Tasks of a batch that wait for a slot now: new ones come last, and those that do not any more are left out. */
export function withReady(
  context: AgentContext,
  { step, call, items }: CallPlace & { items: readonly number[] },
): Partial<AgentContext> {
  const isOther = (place: CallPlace): boolean => place.step !== step || place.call !== call;
  const wanted = new Set(items.filter((item) => !context.children.has(placeOf({ step, call, item }))));
  const kept = context.ready.filter((place) => isOther(place) || wanted.delete(place.item));
  return { ready: [...kept, ...[...wanted].map((item) => ({ step, call, item }))] };
}

/** A task of a batch has settled. Where results stream, the first settles the call, and each later one is news. */
export function withItem(
  context: AgentContext,
  settled: CallPlace & { item: number; response: RunResponse },
): Partial<AgentContext> {
  const batch = context.batches[batchKey(settled)];
  if (!batch) return {};
  const { call, item, response } = settled;
  const after = { ...batch, results: { ...batch.results, [item]: response } };
  const rest = {
    children: withoutChild(context, settled),
    batches: { ...context.batches, [batchKey(settled)]: after },
  };
  if (batch.streaming) {
    if (batch.stopped.includes(item)) return rest;
    const name = batch.plan.tasks[item]?.name ?? "";
    const text = laterResultOf(handleOf(batch, item), { name, response }, runningTasks(after));
    return { ...rest, news: [...context.news, text] };
  }
  if (batch.plan.mode !== "parallel_streaming" || runningTasks(after).length === 0) return rest;
  const { text, isError } = batchText(after);
  const batches = { ...rest.batches, [batchKey(settled)]: { ...after, streaming: true } };
  return {
    ...rest,
    batches,
    calls: settleCall(context.calls, call, text, isError),
    repeats: afterCall(context, call, isError),
  };
}

/** What counts as repeated once a call has settled. */
export function afterCall(
  { calls, repeats, pin }: AgentContext,
  call: number,
  isError: boolean,
): AgentContext["repeats"] {
  const asked = calls[call]?.toolCall;
  return asked && !isError ? afterSuccess(repeats, asked, pin) : repeats;
}
