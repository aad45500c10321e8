import type { RunStatus } from "@troupe/core";
import type { AgentStats, AgentStatsList } from "@troupe/core/internal";
import type { Database } from "../database/sqlite.ts";
import { toIso } from "./time.ts";

/** Only the newest runs are read, so that a large record does not hold up its process. */
const runsReadMax = 20_000;

interface RunFacts {
  run: string;
  parentRun: string | null;
  agent: string;
  parent: string | null;
  status: string;
  durationMs: number | null;
  costUsd: number | null;
  estimatedTokens: number;
  /** 1 if the run ended in the asked time. */
  isRecent: number;
}

/** Runs that say something about their agent. The others were stopped from outside, or never began to work. */
const outcomes: Readonly<Record<RunStatus, "success" | "failure" | "stopped">> = {
  completed: "success",
  failed: "failure",
  timeout: "failure",
  bailed_out: "failure",
  cancelled: "stopped",
  rejected: "stopped",
};

/**
 * Counts the settled runs of each agent, and of each agent under each parent. Sessions that a script or a recording
 * answered are left out: their runs say nothing about an agent with a model.
 */
export function createAgentStats(database: Database): (sinceMs: number) => AgentStatsList {
  // The columns of `messages` are before its large texts, so that no text is read.
  const newest = database.prepare<[string, number], RunFacts>(`
    SELECT r.run_id AS run, r.parent_run AS parentRun, m.agent_role AS agent, pm.agent_role AS parent,
      r.exact_status AS status, m.duration_ms AS durationMs, r.cost_usd AS costUsd,
      r.estimated_tokens AS estimatedTokens, coalesce(m.completed_at >= ?, 0) AS isRecent
    FROM (
      SELECT run_id, parent_run, session_id, message_id, exact_status, cost_usd, estimated_tokens
      FROM runs ORDER BY rowid DESC LIMIT CAST(? AS INTEGER)
    ) r
    JOIN messages m ON m.id = r.message_id
    JOIN sessions s ON s.session_id = r.session_id
    LEFT JOIN runs p ON p.run_id = r.parent_run
    LEFT JOIN messages pm ON pm.id = p.message_id
    WHERE s.demo = 0 AND s.replay = 0`);

  return (sinceMs) => {
    const since = toIso(sinceMs);
    const rows = newest.all(since, runsReadMax);
    const costs = treeCosts(rows);
    const agents = new Map<string, Group>();
    const pairs = new Map<string, Group>();
    for (const row of rows) {
      const { agent, parent } = row;
      const outcome = outcomes[row.status as RunStatus];
      if (row.isRecent === 0 || outcome === undefined) continue;
      const counted = { ...row, outcome, cost: costs.get(row.run) ?? unknownCost };
      add(agents, agent, { agent, parent: null }, counted);
      if (parent !== null) add(pairs, `${parent}\n${agent}`, { agent, parent }, counted);
    }
    return { since, agents: statsOf(agents), pairs: statsOf(pairs) };
  };
}

interface Cost {
  usd: number | null;
  isEstimate: boolean;
}

const unknownCost: Cost = { usd: null, isEstimate: false };

/** The cost of each run with the runs below it, because a delegation pays for all of them. */
function treeCosts(rows: readonly RunFacts[]): Map<string, Cost> {
  const parents = new Map(rows.map(({ run, parentRun }) => [run, parentRun]));
  const costs = new Map<string, Cost>();
  for (const { run, costUsd, estimatedTokens } of rows) {
    for (let at: string | null = run; at !== null; at = parents.get(at) ?? null) {
      const { usd, isEstimate } = costs.get(at) ?? { usd: 0, isEstimate: false };
      costs.set(at, {
        usd: usd === null || costUsd === null ? null : usd + costUsd,
        isEstimate: isEstimate || estimatedTokens > 0,
      });
    }
  }
  return costs;
}

type Counted = Pick<RunFacts, "durationMs"> & { outcome: (typeof outcomes)[RunStatus]; cost: Cost };
type Group = Pick<AgentStats, "agent" | "parent"> & { runs: Counted[] };

function add(groups: Map<string, Group>, key: string, names: Omit<Group, "runs">, run: Counted): void {
  const group = groups.get(key);
  if (group) group.runs.push(run);
  else groups.set(key, { ...names, runs: [run] });
}

function statsOf(groups: ReadonlyMap<string, Group>): AgentStats[] {
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { agent, parent, runs: all }]) => {
    const runs = all.filter(({ outcome }) => outcome !== "stopped");
    const succeeded = runs.filter(({ outcome }) => outcome === "success").length;
    const known = runs.flatMap(({ cost }) => (cost.usd === null ? [] : [{ ...cost, usd: cost.usd }]));
    return {
      agent,
      parent,
      runs: runs.length,
      succeeded,
      successRate: runs.length === 0 ? null : succeeded / runs.length,
      stopped: all.length - runs.length,
      medianMs: medianOf(runs.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]))),
      medianCostUsd: medianOf(known.map(({ usd }) => usd)),
      costRuns: known.length,
      costIsEstimate: known.some(({ isEstimate }) => isEstimate),
    };
  });
}

/** The middle value, or the mean of the two in the middle. Null without values. */
function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
