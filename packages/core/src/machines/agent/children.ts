import { addSpent, excessOf, isUnlimited, shareOf, tightenBudget, timesEach } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import { taintField } from "../../protocol/taint.ts";
import type { PlannedTask } from "../batch/machine.ts";
import type { ChildOffer } from "../delegation/machine.ts";
import type { FactOf } from "../facts.ts";
import { childTimeMs } from "./clock.ts";
import type { AgentContext, ChildState } from "./context.ts";
import { transcriptOf } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import { budgetCapOf } from "./plan-batch.ts";
import { batchKey, type TaskPosition, taskKey } from "./task-ids.ts";
import { leftForChildren } from "./turn.ts";
import { addSpawn } from "./usage.ts";

/** The resources for one attempt of a task. */
export interface Share {
  offer: ChildOffer;
  /** Reserved for further attempts: a sibling that starts later must not take them. */
  retryReserve: Partial<Budget>;
}

/** The share that can be offered to a task now; null if no time or no budget is left for it. */
export function shareFor(context: AgentContext, position: TaskPosition, attempt: number): Share | null {
  const task = taskAt(context, position);
  const remainingMs = childTimeMs(context);
  if (!task || remainingMs <= 0) return null;
  const offered = { remainingMs, context: conversationFor(context, task), ...taintField(context.usage.taint) };
  const cap = budgetCapOf(context, task);
  // Counting siblings is linear in their number, so it is done only if a budget is divided among them.
  if (isUnlimited(context.pin.budget)) return { offer: { ...offered, budget: cap }, retryReserve: {} };
  const released =
    attempt === 1 ? context : { ...context, children: withChild(context, position, { retryReserve: {} }) };
  const left = leftForChildren(released);
  const waiting = siblingsWithoutShare(released, position) + 1;
  const attempts = attemptsLeft(task, attempt);
  const runs = left.spawns === null ? 0 : Math.max(0, Math.min(attempts, left.spawns - waiting));
  const divided = { ...left, spawns: left.spawns === null ? null : left.spawns - runs };
  const whole = shareOf(divided, waiting, timesEach(cap, 1 + attempts));
  if (!whole) return null;
  const budget = tightenBudget(whole, cap);
  const rest = excessOf(whole, budget);
  return { offer: { ...offered, budget }, retryReserve: { ...rest, spawns: runs + (rest.spawns ?? 0) } };
}

/** Attempts that may follow this one. */
function attemptsLeft({ retry }: PlannedTask, attempt: number): number {
  return Math.max(0, retry.maxAttempts - attempt) + (retry.alternative === null ? 0 : 1);
}

function taskAt({ batches }: Pick<AgentContext, "batches">, position: TaskPosition): PlannedTask | null {
  return batches[batchKey(position)]?.plan.tasks[position.item] ?? null;
}

/** Unsettled tasks of all batches without a reserve now: blocked and queued tasks, and tasks between two attempts. */
function siblingsWithoutShare({ batches, children }: AgentContext, own: TaskPosition): number {
  const isOwn = ({ step, call, item }: TaskPosition): boolean =>
    item === own.item && call === own.call && step === own.step;
  let count = 0;
  for (const { plan, step, call, results } of Object.values(batches)) {
    for (let item = 0; item < plan.tasks.length; item += 1) {
      if (!results[item] && !isOwn({ step, call, item })) count += 1;
    }
  }
  // A child with a reserve runs and has not settled.
  for (const child of children.values()) if (child.reserve !== null && !isOwn(child)) count -= 1;
  return count;
}

/** The part of this run's conversation that a child gets. */
function conversationFor(context: AgentContext, { request }: PlannedTask): string | null {
  switch (request.contextMode) {
    case "full":
      // The reply that requests the child is left out: the child gets its task anyway.
      return transcriptOf(context.messages.slice(0, -1));
    case "summary":
      return context.summary?.text ?? null;
    case "task_only":
    case "selective":
      return null;
  }
}

/** Number of further children that may run at once. A run that is paused or about to end starts none. */
export function freeSlots({ pin, children, paused, outcome }: AgentContext): number {
  return paused || outcome !== null ? 0 : Math.max(0, pin.limits.maxConcurrent - children.size);
}

/** A child at the start of an attempt, with its reserves. */
export function startedChild(position: TaskPosition, attempt: number, { offer, retryReserve }: Share): ChildState {
  const { step, call, item } = position;
  return { step, call, item, attempt, reserve: offer.budget, retryReserve, waiting: false };
}

/** Starts a retry: reserves its share and counts one more run. */
export function withRetry(context: AgentContext, position: TaskPosition, attempt: number, share: Share) {
  const child = startedChild(position, attempt, share);
  return { children: new Map(context.children).set(taskKey(position), child), usage: addSpawn(context.usage) };
}

export function withoutChild(
  { children }: Pick<AgentContext, "children">,
  position: TaskPosition,
): AgentContext["children"] {
  const rest = new Map(children);
  rest.delete(taskKey(position));
  return rest;
}

export function withChild(
  { children }: Pick<AgentContext, "children">,
  position: TaskPosition,
  change: Partial<ChildState>,
): AgentContext["children"] {
  const key = taskKey(position);
  const child = children.get(key);
  return child ? new Map(children).set(key, { ...child, ...change }) : children;
}

/** The unsettled task that an event is for; null if there is none, or the event belongs to another attempt. */
export function taskOfEvent(context: AgentContext, event: AgentEvent): TaskPosition | null {
  const position = positionIn(event);
  const batch = position && context.batches[batchKey(position)];
  if (!batch || position.item >= batch.plan.tasks.length || batch.results[position.item]) return null;
  return isOfAttempt(context, position, event) ? position : null;
}

function positionIn(event: AgentEvent): TaskPosition | null {
  if (event.type === "child.settled" || event.type === "child.claimed" || event.type === "child.waiting") {
    const { step, call, item } = event;
    return { step, call, item };
  }
  const [step = 0, call = 0, item = 0] = retryIn(event) ?? [];
  return step > 0 ? { step, call, item } : null;
}

/** Step, call, item and attempt of the retry that a timer is for. */
function retryIn(event: AgentEvent): number[] | null {
  if (event.type !== "timer.fired" || !event.timer.startsWith("retry/")) return null;
  return event.timer.split("/").slice(1).map(Number);
}

/** A late event of an earlier attempt would stop the clock for the current one, or start a further one. */
function isOfAttempt({ children }: AgentContext, position: TaskPosition, event: AgentEvent): boolean {
  const child = children.get(taskKey(position));
  if (event.type === "child.waiting") return child?.attempt === event.attempt && child.reserve !== null;
  if (event.type === "timer.fired") return child?.attempt === retryIn(event)?.[3] && child?.reserve === null;
  return true;
}

/**
 * Whether a response is expected: of the running attempt, or of a task dropped before it started. A duplicate is void.
 */
export function isAwaited(context: AgentContext, event: FactOf<"child.settled">): boolean {
  const position = taskOfEvent(context, event);
  if (!position) return false;
  const child = context.children.get(taskKey(position));
  return child ? child.reserve !== null && child.attempt === event.attempt : event.attempt === 1;
}

/** The charge if the run ended now: its usage, and everything still reserved for running work. */
export function chargedSoFar({ usage, children, callReserve }: AgentContext) {
  const reserves = [...children.values()].flatMap(({ reserve }) => reserve ?? []);
  const spent = reserves.map(({ tokens, costUsd, toolCalls, spawns }) => ({
    tokens: tokens ?? 0,
    costUsd: costUsd ?? 0,
    toolCalls: toolCalls ?? 0,
    spawns: spawns ?? 0,
  }));
  const own = callReserve ? [{ ...callReserve, toolCalls: 0, spawns: 0 }] : [];
  return [...spent, ...own].reduce(addSpent, usage.charged);
}
