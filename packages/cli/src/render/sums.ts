import type { CostSum, OutcomeCounts } from "@troupe/core/internal";
import { formatCost } from "./format.ts";

/** The cost of a sum. An unknown one shows the known part as a lower bound, and is never $0. */
export function formatSum({ runs, costUsd, knownCostUsd, unknownRuns, estimatedTokens }: CostSum): string {
  if (costUsd !== null) return formatCost(costUsd, { isEstimate: estimatedTokens > 0 });
  if (unknownRuns === runs) return "unknown";
  return `> ${formatCost(knownCostUsd, { isEstimate: estimatedTokens > 0 })}, ${unknownRuns} unknown`;
}

export function formatRate({ successRate, succeeded, failed }: OutcomeCounts): string {
  return successRate === null ? "–" : `${succeeded} of ${succeeded + failed} (${Math.round(successRate * 100)}%)`;
}
