import { addSpent, excessOf, isUnlimited, shareOf, tightenBudget, timesEach } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import type { PlannedTask } from "../batch/machine.ts";
import type { ChildOffer } from "../delegation/machine.ts";
import type { FactOf } from "../facts.ts";
import { childTimeMs } from "./clock.ts";
import { type AgentContext, batchKey, type ChildState, placeOf } from "./context.ts";
import { transcriptOf } from "./conversation.ts";
import type { AgentEvent } from "./events.ts";
import { budgetCapOf } from "./plan-batch.ts";
import { leftForChildren } from "./turn.ts";
import { addSpawn } from "./usage.ts";

interface Place {
  step: number;
  call: number;
  item: number;
}

/** What a task gets when it is asked, or asked again. */
export interface Share {
  offer: ChildOffer;
  /** Set aside for further attempts: a sibling that is asked later must not take the retries of an earlier one. */
  retries: Partial<Budget>;
}

/** What can be offered to a task now; null when there is no time or no budget left for it. */
export function shareFor(context: AgentContext, place: Place, attempt: number): Share | null {
  const task = taskAt(context, place);
  const remainingMs = childTimeMs(context);
  if (!task || remainingMs <= 0) return null;
  const offered = { remainingMs, context: conversationFor(context, task) };
  const cap = budgetCapOf(context, task);
  // Counting siblings costs as much as there are of them: only where something is divided among them.
  if (isUnlimited(context.pin.budget)) return { offer: { ...offered, budget: cap }, retries: {} };
  const released = attempt === 1 ? context : { ...context, children: withChild(context, place, { retries: {} }) };
  const left = leftForChildren(released);
  const waiting = siblingsWithoutShare(released, place) + 1;
  const attempts = attemptsLeft(task, attempt);
  const runs = left.spawns === null ? 0 : Math.max(0, Math.min(attempts, left.spawns - waiting));
  const divided = { ...left, spawns: left.spawns === null ? null : left.spawns - runs };
  const whole = shareOf(divided, waiting, timesEach(cap, 1 + attempts));
  if (!whole) return null;
  const budget = tightenBudget(whole, cap);
  const rest = excessOf(whole, budget);
  return { offer: { ...offered, budget }, retries: { ...rest, spawns: runs + (rest.spawns ?? 0) } };
}

/** How often this task may still be asked after this attempt. */
function attemptsLeft({ retry }: PlannedTask, attempt: number): number {
  return Math.max(0, retry.maxAttempts - attempt) + (retry.alternative === null ? 0 : 1);
}

function taskAt({ batches }: Pick<AgentContext, "batches">, place: Place): PlannedTask | null {
  return batches[batchKey(place)]?.plan.tasks[place.item] ?? null;
}

/**
 * Other tasks, of all batches, that have no share of the budget now: those that wait for others come to want one too,
 * and those that are to be asked again.
 */
function siblingsWithoutShare({ batches, children }: AgentContext, own: Place): number {
  const isOwn = ({ step, call, item }: Place): boolean => item === own.item && call === own.call && step === own.step;
  let count = 0;
  for (const { plan, step, call, results } of Object.values(batches)) {
    for (let item = 0; item < plan.tasks.length; item += 1) {
      if (!results[item] && !isOwn({ step, call, item })) count += 1;
    }
  }
  // Whoever has a share is out, and has not settled.
  for (const child of children.values()) if (child.reserve !== null && !isOwn(child)) count -= 1;
  return count;
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
export function freeSlots({ pin, children, paused, outcome: verdict }: AgentContext): number {
  return paused || verdict !== null ? 0 : Math.max(0, pin.limits.maxConcurrent - children.size);
}

/** A task that is asked, or asked again, with what is set aside for it. */
export function askedChild(place: Place, attempt: number, { offer, retries }: Share): ChildState {
  return { ...place, attempt, reserve: offer.budget, retries, waiting: false };
}

/** A task was asked again: what is set aside for it, and one more run counted. */
export function withShare(context: AgentContext, place: Place, attempt: number, share: Share) {
  const child = askedChild(place, attempt, share);
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

/** The task of a batch that an event is for; null when it is of none, of one that has settled, or of another attempt. */
export function taskOfEvent(context: AgentContext, event: AgentEvent): Place | null {
  const place = placeIn(event);
  const batch = place && context.batches[batchKey(place)];
  if (!batch || place.item >= batch.plan.tasks.length || batch.results[place.item]) return null;
  return isOfAttempt(context, place, event) ? place : null;
}

function placeIn(event: AgentEvent): Place | null {
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

/** Late news of an attempt that is over would otherwise stop the clock for the next one, or ask a third. */
function isOfAttempt({ children }: AgentContext, place: Place, event: AgentEvent): boolean {
  const child = children.get(placeOf(place));
  if (event.type === "child.waiting") return child?.attempt === event.attempt && child.reserve !== null;
  if (event.type === "timer.fired") return child?.attempt === retryIn(event)?.[3] && child?.reserve === null;
  return true;
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
