import type { RunResponse } from "../../protocol/response.ts";
import type { RunError, RunErrorType } from "../../protocol/run-error.ts";
import type { BatchPlan } from "./machine.ts";

/** Where a task of a batch stands. `leaving`: dropped or told to stop, its response is on the way. */
export interface BatchItem {
  phase: "blocked" | "ready" | "asked" | "leaving" | "settled";
  response: RunResponse | null;
}

export interface Moves {
  /** Tasks whose turn has come. */
  ready: number[];
  /** Tasks that will never be asked, and why. */
  drop: { item: number; error: RunError }[];
  /** Tasks that were asked and are no longer wanted. */
  stop: number[];
}

/** What a task hears whose siblings have done enough, dropped or told to stop. */
export const noLongerNeeded = "no longer needed: enough of its siblings have succeeded";

/** What follows from where the tasks stand. Pure: the law of graphs and policies. */
export function nextMoves(plan: BatchPlan, items: readonly BatchItem[]): Moves {
  const verdict = policyVerdict(plan, items);
  if (verdict) {
    const waiting = placesOf(items, ({ phase }) => phase === "blocked" || phase === "ready");
    const drop = waiting.map((item) => ({ item, error: given(verdict.type, verdict.reason) }));
    return { ready: [], drop, stop: verdict.stopsRunning ? placesOf(items, ({ phase }) => phase === "asked") : [] };
  }
  const blocked = placesOf(items, ({ phase }) => phase === "blocked");
  const drop = blocked.flatMap((item) => {
    const failed = plan.tasks[item]?.after.find((place) => isFailed(items[place]));
    if (failed === undefined) return [];
    return [
      { item, error: given("tool_error", `not run: the task ${plan.tasks[failed]?.name} that it waits for failed`) },
    ];
  });
  const dropped = new Set(drop.map(({ item }) => item));
  const isFree = (item: number): boolean =>
    !dropped.has(item) && (plan.tasks[item]?.after ?? []).every((place) => items[place]?.phase === "settled");
  const free = blocked.filter(isFree);
  return { ready: plan.mode === "sequential" ? nextInTurn(items, free) : free, drop, stop: [] };
}

/** One at a time, in the order of the tasks as far as what they wait for allows. */
function nextInTurn(items: readonly BatchItem[], free: readonly number[]): number[] {
  const isBusy = items.some(({ phase }) => phase === "ready" || phase === "asked" || phase === "leaving");
  return isBusy ? [] : free.slice(0, 1);
}

interface PolicyVerdict {
  type: RunErrorType;
  reason: string;
  /** Whether what runs already is stopped too. */
  stopsRunning: boolean;
}

/** Whether the policy has decided about what is still open; null while it goes on. */
function policyVerdict({ policy, tasks }: BatchPlan, items: readonly BatchItem[]): PolicyVerdict | null {
  if (policy.kind === "continue") return null;
  const succeeded = items.filter(({ response }) => response?.success).length;
  const failed = items.filter((item) => isFailed(item)).length;
  const enough = (count: number): PolicyVerdict | null =>
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

export /** A plain loop: it is gone through for every task that settles, and there may be a thousand. */
function placesOf(items: readonly BatchItem[], isWanted: (item: BatchItem) => boolean): number[] {
  const places: number[] = [];
  items.forEach((item, place) => {
    if (isWanted(item)) places.push(place);
  });
  return places;
}

function given(type: RunErrorType, message: string): RunError {
  return { type, message, tool: null, recoverable: false, retryAfterMs: null };
}
