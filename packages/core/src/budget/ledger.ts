import type { Budget, PartialBudget, Spent } from "../protocol/budget.ts";

export const unlimited: Budget = { tokens: null, costUsd: null, toolCalls: null, spawns: null };
export const nothingSpent: Spent = { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 };

const kinds = ["tokens", "costUsd", "toolCalls", "spawns"] as const;

export function isUnlimited(budget: Budget): boolean {
  return kinds.every((kind) => budget[kind] === null);
}

/** An unknown cost makes the sum unknown. It never counts as 0. */
export function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    tokens: a.tokens + b.tokens,
    costUsd: addCost(a.costUsd, b.costUsd),
    toolCalls: a.toolCalls + b.toolCalls,
    spawns: a.spawns + b.spawns,
  };
}

/**
 * The tighter of two budgets, kind by kind: `null` (no limit) yields to any number.
 *
 * @example
 * tightenBudget({ tokens: null, costUsd: 2, toolCalls: 9, spawns: null }, { tokens: 10, costUsd: 5 }); // tokens 10, costUsd 2
 */
export function tightenBudget(budget: Budget, by: Budget | PartialBudget): Budget {
  const tightened = { ...budget };
  for (const kind of kinds) {
    const cap = by[kind] ?? null;
    if (cap !== null) tightened[kind] = Math.min(tightened[kind] ?? cap, cap);
  }
  return tightened;
}

/** Multiplies every limit. */
export function timesEach(budget: Budget, count: number): Budget {
  const multiplied = { ...budget };
  for (const kind of kinds) multiplied[kind] = budget[kind] === null ? null : budget[kind] * count;
  return multiplied;
}

/** The whole minus the part; null for kinds without a limit. */
export function excessOf(whole: Budget, part: Budget): Budget {
  const excess = { ...whole };
  for (const kind of kinds) excess[kind] = whole[kind] === null ? null : Math.max(0, whole[kind] - (part[kind] ?? 0));
  return excess;
}

/** The budget left, with reserves counted as used. An unknown cost leaves nothing. */
export function remainderOf(budget: Budget, spent: Spent, reserves: readonly Partial<Budget>[]): Budget {
  const left = { ...budget };
  for (const kind of kinds) {
    const limit = budget[kind];
    if (limit === null) continue;
    const reserved = reserves.reduce((sum, reserve) => sum + (reserve[kind] ?? 0), 0);
    left[kind] = Math.max(0, limit - (spent[kind] ?? Number.POSITIVE_INFINITY) - reserved);
  }
  return left;
}

/**
 * A child's share of its parent's remaining budget: an equal part among the siblings without a share, and at most `cap`.
 * Null if no further run may start.
 *
 * @param waiting number of siblings without a share, this one included
 */
export function shareOf(left: Budget, waiting: number, cap: Budget): Budget | null {
  if (left.spawns !== null && left.spawns < 1) return null;
  const part = (whole: number | null): number | null => (whole === null ? null : whole / waiting);
  const whole = (value: number | null): number | null => (value === null ? null : Math.floor(value));
  const below = left.spawns === null ? null : Math.max(0, Math.floor((left.spawns - waiting) / waiting));
  const share: Budget = {
    tokens: whole(part(left.tokens)),
    costUsd: part(left.costUsd),
    toolCalls: whole(part(left.toolCalls)),
    spawns: below,
  };
  return isEmpty(share) ? null : tightenBudget(share, cap);
}

/** A run without tokens or money cannot call a model. */
function isEmpty({ tokens, costUsd }: Budget): boolean {
  return tokens === 0 || costUsd === 0;
}
