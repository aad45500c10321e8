import { z } from "zod";
import { Token } from "./ids.ts";

const Count = z.int().nonnegative();

/**
 * The settled runs of one agent, or of one agent under one parent, within a time. A replayed or scripted run does not
 * count. Each attempt is a run of its own.
 */
export const AgentStats = z.object({
  agent: Token,
  /** The agent of the parent run. Null: all runs of the agent, with and without a parent. */
  parent: Token.nullable(),
  /** Runs that completed, failed, hit a limit or timed out. */
  runs: Count,
  /** Those of `runs` that completed. */
  succeeded: Count,
  /** `succeeded` by `runs`, from 0 to 1; null without runs. */
  successRate: z.number().min(0).max(1).nullable(),
  /** Runs that were cancelled or rejected: no success and no failure, so `runs` does not contain them. */
  stopped: Count,
  /** Median duration of `runs`; null if none is known. */
  medianMs: z.number().nonnegative().nullable(),
  /** Median cost of `runs` with the runs below them. Runs of unknown cost are left out; null if no cost is known. */
  medianCostUsd: z.number().nonnegative().nullable(),
  /** Those of `runs` whose cost is known. */
  costRuns: Count,
  /** True if a part of these costs is an estimate. */
  costIsEstimate: z.boolean(),
});
export type AgentStats = z.infer<typeof AgentStats>;

/** Statistics of the settled runs of all agents since a time. */
export const AgentStatsList = z.object({
  since: z.iso.datetime(),
  /** One row per agent, in the order of ids. */
  agents: z.array(AgentStats),
  /** One row per parent and agent, in the order of ids. */
  pairs: z.array(AgentStats),
});
export type AgentStatsList = z.infer<typeof AgentStatsList>;

const dayMs = 86_400_000;
/** Older runs say little: agents, prompts and models change. */
export const statsWindowMsDefault: number = 90 * dayMs;
export const statsWindowMsMax: number = 3_650 * dayMs;
