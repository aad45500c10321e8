import { z } from "zod";
import { Id, Token } from "./ids.ts";

const Count = z.int().nonnegative();

/** `role` is the agent without the name of its team: the coders of two teams have the same role. */
export const CostGrouping = z.enum(["agent", "role", "model", "team", "day"]);
export type CostGrouping = z.infer<typeof CostGrouping>;

/** The cost of a set of runs. */
export const CostSum = z.object({
  runs: Count,
  tokens: Count,
  /** Null if the cost of any run is unknown: an unknown cost is never $0. */
  costUsd: z.number().nonnegative().nullable(),
  /** The sum of the known costs. If `costUsd` is null, the real cost is higher. */
  knownCostUsd: z.number().nonnegative(),
  /** Those of `runs` whose cost is unknown. */
  unknownRuns: Count,
  /** Tokens of calls that were stopped or lost. If there are any, the cost is an estimate. */
  estimatedTokens: Count,
});
export type CostSum = z.infer<typeof CostSum>;

export const CostRow = z.object({
  /** The agent, role, model, team or day (UTC, such as 2026-01-31). Null: no team, or the model is not known yet. */
  name: z.string().nullable(),
  /** The runs of the group alone. */
  own: CostSum,
  /** These runs with all runs below them. Each run counts once. */
  subtree: CostSum,
});
export type CostRow = z.infer<typeof CostRow>;

/** Costs since a time. Demos and replays cost nothing and are left out. */
export const CostReport = z.object({
  /** Runs that started at or after this time. Null: all. */
  since: z.iso.datetime().nullable(),
  by: CostGrouping,
  /** The highest known cost first; days in their order. */
  rows: z.array(CostRow),
  /** All runs, each once. */
  total: CostSum,
  /** Runs of demos and replays. */
  leftOut: Count,
  /** True if the record has more runs than a report reads. The oldest ones are then left out. */
  isCut: z.boolean(),
});
export type CostReport = z.infer<typeof CostReport>;

/** Numbers of runs or sessions by the way they ended. */
export const OutcomeCounts = z.object({
  total: Count,
  active: Count,
  succeeded: Count,
  /** Failed, at a limit, or out of time. */
  failed: Count,
  /** Cancelled or rejected: neither a success nor a failure. */
  stopped: Count,
  /** `succeeded` by `succeeded + failed`; null without either. */
  successRate: z.number().min(0).max(1).nullable(),
});
export type OutcomeCounts = z.infer<typeof OutcomeCounts>;

/** A delegated run with all runs below it. */
export const Branch = z.object({
  session: Id,
  run: Id,
  /** Agents from the first run of the turn to this run. */
  path: z.array(Token),
  task: z.string(),
  status: z.string(),
  /** Null while it runs. */
  durationMs: z.number().nonnegative().nullable(),
  cost: CostSum,
});
export type Branch = z.infer<typeof Branch>;

/** Totals since a time. Demos and replays are left out. */
export const RecordTotals = z.object({
  since: z.iso.datetime().nullable(),
  sessions: OutcomeCounts,
  runs: OutcomeCounts,
  toolCalls: Count,
  cost: CostSum,
  /** Agents in the order of their runs, the most first. */
  agents: z.array(OutcomeCounts.extend({ agent: Token, team: Token.nullable() })),
  slowest: z.array(Branch),
  mostExpensive: z.array(Branch),
  leftOut: Count,
  isCut: z.boolean(),
});
export type RecordTotals = z.infer<typeof RecordTotals>;
