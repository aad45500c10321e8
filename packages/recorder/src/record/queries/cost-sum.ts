import type { CostSum, OutcomeCounts } from "@troupe/core/internal";

/** The part of a run in a sum. */
export interface Charge {
  tokens: number;
  /** Null if the price of any reply is unknown. */
  costUsd: number | null;
  estimatedTokens: number;
}

export function emptySum(): CostSum {
  return { runs: 0, tokens: 0, costUsd: 0, knownCostUsd: 0, unknownRuns: 0, estimatedTokens: 0 };
}

/** Adds a run to a sum. One unknown cost makes the sum unknown; the known part is kept beside it. */
export function addCharge(sum: CostSum, { tokens, costUsd, estimatedTokens }: Charge): void {
  sum.runs += 1;
  sum.tokens += tokens;
  sum.estimatedTokens += estimatedTokens;
  if (costUsd === null) sum.unknownRuns += 1;
  else sum.knownCostUsd += costUsd;
  setCost(sum);
}

/** Adds another sum of other runs. */
export function addSum(sum: CostSum, other: CostSum): void {
  sum.runs += other.runs;
  sum.tokens += other.tokens;
  sum.estimatedTokens += other.estimatedTokens;
  sum.unknownRuns += other.unknownRuns;
  sum.knownCostUsd += other.knownCostUsd;
  setCost(sum);
}

function setCost(sum: CostSum): void {
  sum.costUsd = sum.unknownRuns > 0 ? null : sum.knownCostUsd;
}

export type Outcome = "active" | "succeeded" | "failed" | "stopped";

const outcomes: Readonly<Record<string, Outcome>> = {
  completed: "succeeded",
  failed: "failed",
  timeout: "failed",
  bailed_out: "failed",
  cancelled: "stopped",
  rejected: "stopped",
};

/** A status that does not end a run means that it is active. */
export function outcomeOf(status: string): Outcome {
  return outcomes[status] ?? "active";
}

export function emptyCounts(): OutcomeCounts {
  return { total: 0, active: 0, succeeded: 0, failed: 0, stopped: 0, successRate: null };
}

export function countOutcome(counts: OutcomeCounts, status: string, times = 1): void {
  counts.total += times;
  counts[outcomeOf(status)] += times;
  const judged = counts.succeeded + counts.failed;
  counts.successRate = judged === 0 ? null : counts.succeeded / judged;
}
