import type { RunResponse } from "../../protocol/response.ts";
import { permanentError, type RunError, type RunErrorType } from "../../protocol/run-error.ts";
import type { BatchPlan } from "./machine.ts";

/** State of a task. `leaving`: it was dropped or told to stop, and its response is on the way. */
export interface BatchItem {
  phase: "blocked" | "ready" | "asked" | "leaving" | "settled";
  response: RunResponse | null;
}

/** Indexes of tasks that change their phase. */
export interface SchedulingDecision {
  /** Tasks that may start as soon as they get a slot. */
  ready: number[];
  /** Tasks that will never start, and why. */
  drop: { item: number; error: RunError }[];
  /** Running tasks that are no longer wanted. */
  stop: number[];
}

/** The reason given to tasks whose siblings already fulfil the policy. */
export const noLongerNeeded = "no longer needed: enough of its siblings have succeeded";

/** Decides the next steps of a batch from its graph, its policy and the states of its tasks. Pure. */
export function scheduleTasks(plan: BatchPlan, items: readonly BatchItem[]): SchedulingDecision {
  const decision = decideByPolicy(plan, items);
  if (decision) {
    const waiting = indexesOf(items, ({ phase }) => phase === "blocked" || phase === "ready");
    const drop = waiting.map((item) => ({ item, error: permanentError(decision.type, decision.reason) }));
    return { ready: [], drop, stop: decision.stopsRunning ? indexesOf(items, ({ phase }) => phase === "asked") : [] };
  }
  const blocked = indexesOf(items, ({ phase }) => phase === "blocked");
  const drop = blocked.flatMap((item) => {
    const failed = plan.tasks[item]?.after.find((index) => isFailed(items[index]));
    if (failed === undefined) return [];
    const message = `not run: the task ${plan.tasks[failed]?.name} that it waits for failed`;
    return [{ item, error: permanentError("tool_error", message) }];
  });
  const dropped = new Set(drop.map(({ item }) => item));
  const isFree = (item: number): boolean =>
    !dropped.has(item) && (plan.tasks[item]?.after ?? []).every((index) => items[index]?.phase === "settled");
  const free = blocked.filter(isFree);
  return { ready: plan.mode === "sequential" ? nextInSequence(items, free) : free, drop, stop: [] };
}

/** The next single task of a sequential batch; none while another one runs. */
function nextInSequence(items: readonly BatchItem[], free: readonly number[]): number[] {
  const isBusy = items.some(({ phase }) => phase === "ready" || phase === "asked" || phase === "leaving");
  return isBusy ? [] : free.slice(0, 1);
}

interface PolicyDecision {
  type: RunErrorType;
  reason: string;
  /** Whether running tasks are stopped too. */
  stopsRunning: boolean;
}

/** The policy's decision about all open tasks; null while they may go on. */
function decideByPolicy({ policy, tasks }: BatchPlan, items: readonly BatchItem[]): PolicyDecision | null {
  if (policy.kind === "continue") return null;
  const succeeded = items.filter(({ response }) => response?.success).length;
  const failed = items.filter((item) => isFailed(item)).length;
  const enough = (count: number): PolicyDecision | null =>
    succeeded >= count ? { type: "cancelled", reason: noLongerNeeded, stopsRunning: true } : null;
  switch (policy.kind) {
    case "any":
      return enough(1);
    case "quorum":
      if (tasks.length - failed >= policy.count) return enough(policy.count);
      return {
        type: "cancelled",
        reason: `not run: ${policy.count} successes can no longer be reached`,
        stopsRunning: false,
      };
    case "all":
      return failed > 0
        ? { type: "cancelled", reason: "not run: a sibling failed, and all had to succeed", stopsRunning: false }
        : null;
  }
}

function isFailed(item: BatchItem | undefined): boolean {
  return item?.response !== null && item?.response !== undefined && !item.response.success;
}

/** A plain loop, because it runs for every settled task of possibly a thousand. */
export function indexesOf(items: readonly BatchItem[], isWanted: (item: BatchItem) => boolean): number[] {
  const indexes: number[] = [];
  items.forEach((item, index) => {
    if (isWanted(item)) indexes.push(index);
  });
  return indexes;
}
