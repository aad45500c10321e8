import { addSpent, isUnlimited, shareOf, tightenBudget } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import type { PlannedTask } from "../batch/machine.ts";
import type { ChildOffer } from "../delegation/machine.ts";
import type { FactOf } from "../events.ts";
import { childTimeMs } from "./clock.ts";
import { type AgentContext, batchKey, type ChildState, placeOf } from "./context.ts";
import { transcriptOf } from "./conversation.ts";
import type { AgentEvent } from "./event.ts";
import { budgetCapOf } from "./plan-batch.ts";
import { addSpawn } from "./tally.ts";
import { leftForChildren } from "./turn.ts";

interface Place {
  step: number;
  call: number;
  item: number;
}

/** What a task is offered, and what is set aside for it meanwhile. */
interface Grant {
  offer: ChildOffer;
  reserve: Budget;
}

/** What can be offered to a task now; null when there is no time or no budget left for it. */
export function offerFor(context: AgentContext, place: Place, attempt: number): Grant | null {
  const task = taskAt(context, place);
  const remainingMs = childTimeMs(context);
  if (!task || remainingMs <= 0) return null;
  const cap = budgetCapOf(context, task);
  // Counting siblings costs as much as there are of them: only where something is divided among them.
  const reserve = isUnlimited(context.pin.budget)
    ? cap
    : shareOf(leftForChildren(context), siblingsWithoutShare(context, place) + 1, ofAllAttempts(cap, task, attempt));
  if (!reserve) return null;
  return {
    reserve,
    offer: { remainingMs, budget: tightenBudget(reserve, cap), context: conversationFor(context, task) },
  };
}

/** The most that all attempts that may yet be made can use: what is kept for a retry is no sibling's. */
function ofAllAttempts(cap: Budget, { retry }: PlannedTask, attempt: number): Budget {
  const attempts = Math.max(1, retry.maxAttempts - attempt + 1);
  const times = (most: number | null): number | null => (most === null ? null : most * attempts);
  return {
    tokens: times(cap.tokens),
    costUsd: times(cap.costUsd),
    toolCalls: times(cap.toolCalls),
    spawns: cap.spawns === null ? null : cap.spawns * attempts + attempts - 1,
  };
}

export function taskAt({ batches }: Pick<AgentContext, "batches">, place: Place): PlannedTask | null {
  return batches[batchKey(place)]?.plan.tasks[place.item] ?? null;
}

/**
 * Other tasks, of all batches, that have no share of the budget: those that wait for others, and those that wait to be
 * asked again, come to want one too.
 */
function siblingsWithoutShare(context: AgentContext, place: Place): number {
  const hasShare = (at: Place): boolean => (context.children.get(placeOf(at))?.reserve ?? null) !== null;
  return Object.values(context.batches).reduce(
    (sum, { plan, step, call, results }) => {
      const open = plan.tasks.filter((_, item) => !results[item] && !hasShare({ step, call, item }));
      return sum + open.length;
    },
    hasShare(place) ? 0 : -1,
  );
}

/** What a child is given of this run's conversation. */
function conversationFor(context: AgentContext, { request }: PlannedTask): string | null {
  switch (request.contextMode) {
    case "full":
      // Without the reply that asks for the child: its task is told to it anyway.
      return transcriptOf(context.messages.slice(0, -1));
    case "summary":
      return context.summary?.text ?? null;
    case "task_only":
    case "selective":
      return null;
  }
}

/** How many more children may run at once: none of a run that is paused, or will end. */
export function freeSlots({ pin, children, paused, verdict }: AgentContext): number {
  return paused || verdict !== null ? 0 : Math.max(0, pin.limits.maxConcurrent - children.size);
}

/** A task was asked, or is asked again: what is set aside for it, and one more run counted. */
export function withOffer(context: AgentContext, place: Place, attempt: number, { reserve }: Pick<Grant, "reserve">) {
  const child: ChildState = { ...place, attempt, reserve, waiting: false };
  return { children: new Map(context.children).set(placeOf(place), child), tally: addSpawn(context.tally) };
}

export function withoutChild({ children }: Pick<AgentContext, "children">, place: Place): AgentContext["children"] {
  const rest = new Map(children);
  rest.delete(placeOf(place));
  return rest;
}

export function withChild(
  { children }: Pick<AgentContext, "children">,
  place: Place,
  change: Partial<ChildState>,
): AgentContext["children"] {
  const child = children.get(placeOf(place));
  return child ? new Map(children).set(placeOf(place), { ...child, ...change }) : children;
}

/** The task of a batch that an event is for; null when it is of none, or of one that has settled. */
export function taskOfEvent(context: AgentContext, event: AgentEvent): Place | null {
  const place = placeIn(event);
  const batch = place && context.batches[batchKey(place)];
  return batch && place.item < batch.plan.tasks.length && !batch.results[place.item] ? place : null;
}

function placeIn(event: AgentEvent): (Place & { attempt?: number }) | null {
  if (event.type === "child.settled" || event.type === "child.claimed" || event.type === "child.waiting") {
    const { step, call, item } = event;
    return { step, call, item };
  }
  if (event.type !== "timer.fired" || !event.timer.startsWith("retry/")) return null;
  const [, step = 0, call = 0, item = 0] = event.timer.split("/").map(Number);
  return { step, call, item };
}

/**
 * Whether a response is the one that is awaited: of the attempt that is out, or of a task that is dropped before it was
 * asked. One that comes twice is void.
 */
export function isAwaited(context: AgentContext, event: FactOf<"child.settled">): boolean {
  const place = taskOfEvent(context, event);
  if (!place) return false;
  const child = context.children.get(placeOf(place));
  return child ? child.reserve !== null && child.attempt === event.attempt : event.attempt === 1;
}

/** Everything that is charged if the run ended now: what was used, and all that is still set aside. */
export function chargedSoFar({ tally, children, outstanding }: AgentContext) {
  const reserves = [...children.values()].flatMap(({ reserve }) => reserve ?? []);
  const spent = reserves.map(({ tokens, costUsd, toolCalls, spawns }) => ({
    tokens: tokens ?? 0,
    costUsd: costUsd ?? 0,
    toolCalls: toolCalls ?? 0,
    spawns: spawns ?? 0,
  }));
  const own = outstanding ? [{ ...outstanding, toolCalls: 0, spawns: 0 }] : [];
  return [...spent, ...own].reduce(addSpent, tally.charged);
}
