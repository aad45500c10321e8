import type { CostSum, RecordQueries, RunNode } from "@troupe/core/internal";

const sum: CostSum = { runs: 1, tokens: 9, costUsd: null, knownCostUsd: 0, unknownRuns: 1, estimatedTokens: 0 };
const startedAt = "2026-11-18T00:00:00.000Z";
const iso = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());

/** Answers about one session whose first run has its id. The answers repeat the options. */
export function createFakeQueries(known: string): RecordQueries {
  const node: RunNode = {
    ...{ session: known, run: known, parentRun: null, order: 0, agent: "main", team: null, depth: 0, attempt: 1 },
    ...{ status: "running", task: "do it", startedAt, completedAt: null, durationMs: null, children: 0 },
    ...{ own: sum, subtree: sum },
  };
  const counts = { total: 1, active: 1, succeeded: 0, failed: 0, stopped: 0, successRate: null };
  const ofKnown = <T>(id: string, answer: T): T | null => (id === known ? answer : null);
  return {
    async search({ words, sinceMs, agent, after, limit }) {
      const snippet = [{ text: JSON.stringify({ words, sinceMs, agent, after, limit }), isMatch: true }];
      const row = { kind: "run" as const, session: known, run: known, agent: "main", team: null, status: "running" };
      return { hits: [{ place: 7, ...row, startedAt, call: null, snippet }], next: 7 };
    },
    costs: async ({ by, sinceMs }) => ({
      ...{ since: iso(sinceMs), by, rows: [{ name: null, own: sum, subtree: sum }], total: sum },
      ...{ leftOut: 0, isCut: false },
    }),
    totals: async ({ sinceMs, branches }) => ({
      ...{ since: iso(sinceMs), sessions: counts, runs: counts, toolCalls: branches, cost: sum, agents: [] },
      ...{ slowest: [], mostExpensive: [], leftOut: 0, isCut: false },
    }),
    tree: async (session, { after, limit }) => ofKnown(session, { nodes: [node], next: after + limit }),
    children: async (run, { after, limit }) => ofKnown(run, { nodes: [], next: after + limit }),
    ancestors: async (run) => ofKnown(run, [node]),
    runTimeline: async (run) =>
      ofKnown(run, { session: known, run, startMs: 1, endMs: null, spans: [], attempts: [], isCut: false }),
    conversation: async (run, { from, limit }) =>
      ofKnown(run, {
        ...{ session: known, run, agent: "main", team: null, status: "running", items: [] },
        ...{ next: from + limit, more: false },
      }),
    idsWith: async (prefix) => (known.startsWith(prefix) ? [{ kind: "session", id: known, session: known }] : []),
  };
}
