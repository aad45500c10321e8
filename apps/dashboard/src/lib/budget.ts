import type { Budget } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { formatCost } from "./format.ts";

/** One limit of a budget and what was used of it. */
export interface BudgetLine {
  name: string;
  words: string;
  /** Used part of the limit; `null` where what was used is unknown, or nothing may be used and nothing was. */
  share: number | null;
}

const count = (value: number): string => value.toLocaleString("en-US");

const kinds: readonly (readonly [keyof Budget, string, (value: number) => string])[] = [
  ["tokens", "Tokens", count],
  ["costUsd", "Cost", formatCost],
  ["toolCalls", "Tool calls", count],
  ["spawns", "Runs below", count],
];

/** The limits that a budget really has. None: there is no budget worth a word. */
export function budgetLines(budget: Budget | null, used: Spent): BudgetLine[] {
  return kinds.flatMap(([kind, name, format]) => {
    const limit = budget?.[kind] ?? null;
    if (limit === null) return [];
    const spent = used[kind];
    if (limit === 0 && spent === 0) return [{ name, words: "none allowed", share: null }];
    const words = `${spent === null ? "unknown" : format(spent)} of ${format(limit)}`;
    return [{ name, words, share: spent === null ? null : shareOf(spent, limit) }];
  });
}

/** How much of its budget is used, by the limit that is nearest; `null` without a budget, or where that is unknown. */
export function budgetShare(budget: Budget | null, used: Spent): number | null {
  const shares = budgetLines(budget, used).flatMap(({ share }) => (share === null ? [] : [share]));
  return shares.length === 0 ? null : Math.max(...shares);
}

function shareOf(spent: number, limit: number): number {
  return limit === 0 ? 1 : spent / limit;
}
