import type { RunRow } from "@troupe/core";

/**
 * The rows with each queued run's place among its siblings as it is now. The record sends the row of whoever started
 * and not those of all who moved up by it, so that a queue of 1,000 does not bring 1,000 rows for each start.
 */
export function withQueuePositions(runs: ReadonlyMap<string, RunRow>): Map<string, RunRow> {
  const placed = new Map(runs);
  const queued = [...runs.values()].filter(({ exactStatus, parentRun }) => exactStatus === "queued" && parentRun);
  const lengths = new Map<string | null, number>();
  for (const run of queued.sort((a, b) => a.order - b.order)) {
    const queuePosition = (lengths.get(run.parentRun) ?? 0) + 1;
    lengths.set(run.parentRun, queuePosition);
    if (run.queuePosition !== queuePosition) placed.set(run.run, { ...run, queuePosition });
  }
  return placed;
}
