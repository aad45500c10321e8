/** An unknown price is never shown as nothing. */
export function formatCost(costUsd: number | null): string {
  if (costUsd === null) return "cost unknown";
  return `$${costUsd < 0.01 && costUsd > 0 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}
