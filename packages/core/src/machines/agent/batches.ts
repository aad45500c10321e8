import { laterResultOf } from "../../delegation/result.ts";
import type { RunResponse } from "../../protocol/response.ts";
import type { BatchPlan } from "../batch/machine.ts";
import { batchText, countsAfterCall, settleCall } from "./calls.ts";
import { withoutChild } from "./children.ts";
import type { AgentContext, BatchState } from "./context.ts";
import { detailsIn } from "./result-details.ts";
import { batchKey, type CallPosition, runningTasks, type TaskPosition, taskHandle, taskKey } from "./task-ids.ts";

interface PlannedBatch {
  call: number;
  plan: BatchPlan;
}

/** Delegate calls of this turn whose plan is in the journal and that have not begun. */
export function openableBatches({ calls, plannedStep, step }: AgentContext): PlannedBatch[] {
  const planned = plannedStep === step ? calls : [];
  return planned.flatMap(({ call, phase, plan }) => (phase === "planned" && plan ? [{ call, plan }] : []));
}

/** Starts these batches and queues the turn's tools. */
export function withBatches(context: AgentContext, opened: readonly PlannedBatch[]): Partial<AgentContext> {
  const { step } = context;
  const begun = opened.map(({ call, plan }): [string, BatchState] => [
    batchKey({ step, call }),
    { step, call, plan, results: {}, streaming: false, stopped: [] },
  ]);
  return {
    batches: { ...context.batches, ...Object.fromEntries(begun) },
    childrenRequested: context.childrenRequested + opened.reduce((sum, { plan }) => sum + plan.tasks.length, 0),
    calls: context.calls.map((state) =>
      state.phase === "planned" ? { ...state, phase: state.plan ? ("running" as const) : ("queued" as const) } : state,
    ),
  };
}

/** Replaces the ready tasks of one batch. New ones join the end of the queue, and tasks no longer ready leave it. */
export function withReadyTasks(
  context: AgentContext,
  { step, call, items }: CallPosition & { items: readonly number[] },
): Partial<AgentContext> {
  const isOther = (task: CallPosition): boolean => task.step !== step || task.call !== call;
  const wanted = new Set(items.filter((item) => !context.children.has(taskKey({ step, call, item }))));
  const remaining = context.readyTasks.filter((task) => isOther(task) || wanted.delete(task.item));
  return { readyTasks: [...remaining, ...[...wanted].map((item) => ({ step, call, item }))] };
}

/** Stores a task's response. In a streaming batch the first result settles the call; later ones become messages. */
export function withTaskResult(
  context: AgentContext,
  settled: TaskPosition & { response: RunResponse },
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
    const text = laterResultOf(taskHandle(batch, item), { name, response }, runningTasks(after), detailsIn(batch.plan));
    return { ...rest, pendingMessages: [...context.pendingMessages, text] };
  }
  if (batch.plan.mode !== "parallel_streaming" || runningTasks(after).length === 0) return rest;
  const { text, isError } = batchText(after);
  const batches = { ...rest.batches, [batchKey(settled)]: { ...after, streaming: true } };
  return {
    ...rest,
    batches,
    calls: settleCall(context.calls, call, text, isError),
    callCounts: countsAfterCall(context, call, isError),
  };
}
