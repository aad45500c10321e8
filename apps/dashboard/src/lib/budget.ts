import type { Budget } from "@troupe/core";
import { formatCost } from "./format.ts";
import type { Usage } from "./tree.ts";

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
export function budgetLines(budget: Budget | null, used: Usage): BudgetLine[] {
  return kinds.flatMap(([kind, name, format]) => {
    const limit = budget?.[kind] ?? null;
    if (limit === null) return [];
    const spent = used[kind];
    if (limit === 0 && spent === 0) return [{ name, text: "none allowed", share: null }];
    const mark = used.estimatedTokens && (kind === "tokens" || kind === "costUsd") ? "≈ " : "";
    const text = `${spent === null ? "unknown" : mark + format(spent)} of ${format(limit)}`;
    return [{ name, text, share: spent === null ? null : shareOf(spent, limit) }];
  });
}

/** The limit of which the largest share is used. */
export interface NearestLimit {
  share: number;
  /** Names the budget: `83 % of the session's token budget`. */
  text: string;
  /** The same for a narrow column: `83 % of tokens`. */
  shortText: string;
}

/** The nearest limit of a run's budget; `null` without a budget or with unknown usage. */
export function nearestLimit(
  { budget, parentRun }: { budget: Budget | null; parentRun: string | null },
  used: Usage,
): NearestLimit | null {
  const known = budgetLines(budget, used).flatMap(({ name, share }) => (share === null ? [] : [{ name, share }]));
  const [nearest] = known.sort((a, b) => b.share - a.share);
  if (!nearest) return null;
  const { share, name } = nearest;
  const { adjective, noun } = budgetNames[name] ?? { adjective: name, noun: name };
  const whose = parentRun === null ? "the session's" : "this run's";
  return {
    share,
    text: `${percent(share)} of ${whose} ${adjective} budget`,
    shortText: `${percent(share)} of ${noun}`,
  };
}

/** By the name of a line. */
const budgetNames: Readonly<Record<string, { adjective: string; noun: string }>> = {
  Tokens: { adjective: "token", noun: "tokens" },
  Cost: { adjective: "cost", noun: "cost" },
  "Tool calls": { adjective: "tool call", noun: "tools" },
  "Child runs": { adjective: "child run", noun: "runs" },
};

/** Truncated, so that only a used up budget reads as 100 %. */
function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

function shareOf(spent: number, limit: number): number {
  return limit === 0 ? 1 : spent / limit;
}
