import type { Budget } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { formatCost } from "./format.ts";

/** One limit of a budget and its usage. */
interface BudgetLine {
  name: string;
  text: string;
  /** Used share of the limit; `null` if the usage is unknown, or if limit and usage are both zero. */
  share: number | null;
}

const count = (value: number): string => value.toLocaleString("en-US");

const kinds: readonly (readonly [keyof Budget, string, (value: number) => string])[] = [
  ["tokens", "Tokens", count],
  ["costUsd", "Cost", formatCost],
  ["toolCalls", "Tool calls", count],
  ["spawns", "Child runs", count],
];

/** The limits of a budget, with their usage. */
export function budgetLines(budget: Budget | null, used: Spent): BudgetLine[] {
  return kinds.flatMap(([kind, name, format]) => {
    const limit = budget?.[kind] ?? null;
    if (limit === null) return [];
    const spent = used[kind];
    if (limit === 0 && spent === 0) return [{ name, text: "none allowed", share: null }];
    const text = `${spent === null ? "unknown" : format(spent)} of ${format(limit)}`;
    return [{ name, text, share: spent === null ? null : shareOf(spent, limit) }];
  });
}

/** The largest used share of all limits; `null` without a budget or with unknown usage. */
export function budgetShare(budget: Budget | null, used: Spent): number | null {
  const shares = budgetLines(budget, used).flatMap(({ share }) => (share === null ? [] : [share]));
  return shares.length === 0 ? null : Math.max(...shares);
}

function shareOf(spent: number, limit: number): number {
  return limit === 0 ? 1 : spent / limit;
}
