import type { CostSum, OutcomeCounts, RecordQueries } from "@troupe/core/internal";

const sum: CostSum = { runs: 0, tokens: 0, costUsd: 0, knownCostUsd: 0, unknownRuns: 0, estimatedTokens: 0 };
const counts: OutcomeCounts = { total: 0, active: 0, succeeded: 0, failed: 0, stopped: 0, successRate: null };

function toIso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** The answers of a home without a record. */
export const emptyQueries: RecordQueries = {
  search: async () => ({ hits: [], next: null }),
  costs: async ({ by, sinceMs }) => ({ since: toIso(sinceMs), by, rows: [], total: sum, leftOut: 0, isCut: false }),
  totals: async ({ sinceMs }) => ({
    ...{ since: toIso(sinceMs), sessions: counts, runs: counts, toolCalls: 0, cost: sum, agents: [] },
    ...{ slowest: [], mostExpensive: [], leftOut: 0, isCut: false },
  }),
  tree: async () => null,
  children: async () => null,
  ancestors: async () => null,
  runTimeline: async () => null,
  conversation: async () => null,
  idsWith: async () => [],
};
