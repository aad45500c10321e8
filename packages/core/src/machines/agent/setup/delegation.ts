import { permanentError } from "../../../protocol/run-error.ts";
import { openableBatches, withBatches, withReadyTasks, withTaskResult } from "../batches.ts";
import { batchText, countsAfterCall, settleCall } from "../calls.ts";
import { checksOf } from "../child-checks.ts";
import {
  freeSlots,
  isAwaited,
  shareFor,
  startedChild,
  taskOfEvent,
  withChild,
  withoutChild,
  withRetry,
} from "../children.ts";
import { childTimeMs } from "../clock.ts";
import type { AgentContext, BatchState } from "../context.ts";
import { isCurrentReply } from "../events.ts";
import { noBudgetLeft, noTimeLeft, sharesFolder } from "../plan-batch.ts";
import { batchActor, batchKey, parseTaskHandle, taskKey } from "../task-ids.ts";
import { lastTurnReason } from "../turn.ts";
import { addChild, addSpawn, withoutSpawn } from "../usage.ts";
import { agentBase, type Guard } from "./base.ts";

/** Delegation: batches of tasks, slots and shares for their children, retries, and results. */

export const delegationGuards = {
  isForOpenTask: ({ context, event }) => taskOfEvent(context, event) !== null,
  isAwaitedChild: ({ context, event }) => event.type === "child.settled" && isAwaited(context, event),
  hasOpenTasks: ({ context, event }) => isCurrentReply(context, event) && hasBatches(context),
  hasNoBatches: ({ context }) => !hasBatches(context),
  /** The last turn waits until all tasks have settled. */
  mustAwaitTasks: ({ context }) => hasBatches(context) && lastTurnReason(context) !== null,
  canContinue: ({ context }) =>
    !hasBatches(context) || (context.pendingMessages.length > 0 && lastTurnReason(context) === null),
  /** All tasks ended without a message for the model, so its last text is the answer. */
  hasAnswered: ({ context }) => isModelLast(context) && lastModelText(context) !== "",
  hasEmptyAnswer: ({ context }) => isModelLast(context) && lastModelText(context) === "",
} satisfies Record<string, Guard>;

export const delegationActions = {
  /** Cancels streaming tasks at the model's request. */
  cancelTasks: agentBase.enqueueActions(({ context, enqueue }) => {
    const batches: Record<string, BatchState> = { ...context.batches };
    for (const handle of context.calls.flatMap(({ stops }) => stops)) {
      const position = parseTaskHandle(handle);
      const { item } = position;
      const batch = batches[batchKey(position)];
      if (!batch || batch.stopped.includes(item)) continue;
      batches[batchKey(position)] = { ...batch, stopped: [...batch.stopped, item] };
      const stop = { type: "stop", items: [item], reason: "stopped by its parent", announce: true } as const;
      enqueue.sendTo(batchActor(position), stop);
    }
    enqueue.assign({ batches });
  }),
  /** Opens all planned batches, even if the run stops at once: every child in the journal's plan has to settle. */
  openBatches: agentBase.enqueueActions(({ context, enqueue }) => {
    const { step, request } = context;
    const opened = openableBatches(context);
    for (const { call, plan } of opened) {
      enqueue.spawnChild("batch", { id: batchActor({ step, call }), input: { run: request.run, step, call, plan } });
    }
    enqueue.assign(withBatches(context, opened));
  }),
  queueReadyTasks: agentBase.assign(({ context, event }) =>
    event.type === "batch.ready" ? withReadyTasks(context, event) : {},
  ),
  /** Starts as many tasks as there are slots. A task for which no time or budget is left settles without being started. */
  grantSlots: agentBase.enqueueActions(({ context, enqueue }) => {
    if (context.readyTasks.length === 0 || freeSlots(context) === 0) return;
    // One copy for all tasks that start now: there may be a thousand.
    const children = new Map(context.children);
    let after: AgentContext = { ...context, children };
    const readyTasks = [...context.readyTasks];
    while (readyTasks.length > 0 && freeSlots(after) > 0) {
      const position = readyTasks.shift();
      if (!position) break;
      const { item } = position;
      const share = shareFor(after, position, 1);
      if (!share) {
        const error = permanentError("budget", childTimeMs(after) <= 0 ? noTimeLeft : noBudgetLeft);
        enqueue.sendTo(batchActor(position), { type: "drop", item, status: "rejected", error });
        continue;
      }
      children.set(taskKey(position), startedChild(position, 1, share));
      after = { ...after, usage: addSpawn(after.usage) };
      enqueue.sendTo(batchActor(position), { type: "slot.granted", item, offer: share.offer });
    }
    enqueue.assign({ readyTasks, children, usage: after.usage });
  }),
  /** The task was dropped before its slot arrived: nothing was started. */
  releaseSlot: agentBase.assign(({ context, event }) =>
    event.type === "batch.declined"
      ? { children: withoutChild(context, event), usage: withoutSpawn(context.usage) }
      : {},
  ),
  recordChildWaiting: agentBase.assign(({ context, event }) =>
    event.type === "child.waiting" ? { children: withChild(context, event, { waiting: event.waiting }) } : {},
  ),
  /** Counts every attempt of a child, whether or not a retry follows. */
  countAttempt: agentBase.assign(({ context, event }) => {
    if (event.type !== "child.settled") return {};
    const { response } = event;
    const children = withChild(context, event, { reserve: null, waiting: false });
    return { children, usage: addChild(context.usage, response, sharesFolder(context, response.agent)) };
  }),
  forwardToBatch: agentBase.enqueueActions(({ context, event, enqueue }) => {
    const position = taskOfEvent(context, event);
    if (!position) return;
    const target = batchActor(position);
    if (event.type === "child.claimed") enqueue.sendTo(target, { type: "child.claimed", item: position.item });
    if (event.type === "child.settled") enqueue.sendTo(target, { ...event, remainingMs: childTimeMs(context) });
  }),
  /** Starts the retries whose wait is over. A retry that is due while the run is paused waits until it is resumed. */
  retryTasks: agentBase.enqueueActions(({ context, event, enqueue }) => {
    const due = event.type === "timer.fired" ? [...context.retriesDue, event] : context.retriesDue;
    if (context.paused) {
      enqueue.assign({ retriesDue: due });
      return;
    }
    let after = context;
    for (const fact of due) {
      const position = taskOfEvent(after, fact);
      if (!position) continue;
      const attempt = (after.children.get(taskKey(position))?.attempt ?? 1) + 1;
      const share = shareFor(after, position, attempt);
      if (share) after = { ...after, ...withRetry(after, position, attempt, share) };
      enqueue.sendTo(batchActor(position), { ...fact, item: position.item, offer: share?.offer ?? null });
    }
    enqueue.assign({ retriesDue: [], children: after.children, usage: after.usage });
  }),
  storeTaskResult: agentBase.assign(({ context, event }) => {
    if (event.type !== "batch.item") return {};
    const { response } = event;
    const delegatedTo = [...new Set([...context.delegatedTo, response.agent])];
    const uncheckedChildren = [...context.uncheckedChildren, ...checksOf(context, event, response)];
    return { ...withTaskResult(context, event), delegatedTo, uncheckedChildren };
  }),
  closeBatch: agentBase.enqueueActions(({ context, event, enqueue }) => {
    if (!event.type.startsWith("xstate.done.actor.batch/")) return;
    const [, step = 0, call = 0] = event.type.slice("xstate.done.actor.".length).split("/").map(Number);
    const batch = context.batches[batchKey({ step, call })];
    if (!batch) return;
    const { [batchKey(batch)]: _closed, ...batches } = context.batches;
    enqueue.assign({ batches });
    enqueue.stopChild(batchActor(batch));
    if (batch.streaming || step !== context.step || context.calls.length === 0) return;
    const { text, isError } = batchText(batch);
    const callCounts = countsAfterCall(context, call, isError);
    enqueue.assign({ calls: settleCall(context.calls, call, text, isError), callCounts });
  }),
  /** A cancel reaches the children through the same inbox item as this run. Any other stop is announced to them. */
  stopBatches: agentBase.enqueueActions(({ context, enqueue }) => {
    const { outcome } = context;
    const reason = outcome?.error?.message ?? "its parent has ended";
    const announce = outcome?.status !== "cancelled";
    for (const batch of Object.values(context.batches)) {
      enqueue.sendTo(batchActor(batch), { type: "stop", items: "all", reason, announce });
    }
  }),
  abandonBatches: agentBase.enqueueActions(({ context, enqueue }) => {
    for (const batch of Object.values(context.batches)) enqueue.stopChild(batchActor(batch));
    const left = context.children.size;
    const warning = `${left} of its children had not ended when it did: their whole share is charged`;
    const warnings = left > 0 ? [...context.usage.warnings, warning] : context.usage.warnings;
    enqueue.assign({ batches: {}, usage: { ...context.usage, warnings } });
  }),
};

function hasBatches({ batches }: AgentContext): boolean {
  return Object.keys(batches).length > 0;
}

/** Whether the conversation ends with the model's text and no message or task is open. */
function isModelLast(context: AgentContext): boolean {
  return !hasBatches(context) && context.pendingMessages.length === 0 && lastModelText(context) !== null;
}

/** The model's text if it is the newest message; null if another message follows it. */
function lastModelText({ messages }: AgentContext): string | null {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.text.trim() : null;
}
