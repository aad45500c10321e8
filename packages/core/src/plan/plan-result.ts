import type { RunRow } from "../protocol/api.ts";
import {
  type ExecutionPlan,
  PlanOutcome,
  type PlanResult,
  type StepOutcome,
  type StepResult,
  type StepUsage,
} from "../protocol/plan.ts";
import type { RunResponse } from "../protocol/response.ts";

/** The record of a session of a plan. */
export interface PlanSession {
  response: RunResponse;
  runs: readonly RunRow[];
}

/**
 * The result of a plan, from its newest session. The status of each step comes from the plan's runner, figures come from the
 * record.
 */
export function planResultOf(plan: ExecutionPlan, { response, runs }: PlanSession): PlanResult {
  const outcomes = stepOutcomesIn(response);
  const steps = plan.steps.map((step): StepResult => {
    const { key: _key, result: _result, earlier, ...outcome } = outcomes.get(step.id) ?? notRun(step.id);
    // A session that was stopped leaves its last state behind.
    const status = outcome.status === "running" ? "failed" : outcome.status;
    const error = outcome.status === "running" ? (response.error?.message ?? "stopped") : outcome.error;
    const usage = addUsage([usageOf([...outcome.runs, ...outcome.reviews], runs), ...(earlier ? [earlier] : [])]);
    return { ...outcome, status, error, title: step.title, agent: step.agent, usage };
  });
  return {
    plan: { ...plan, steps: plan.steps.map((step, i) => ({ ...step, status: steps[i]?.status ?? step.status })) },
    status: statusOf(response),
    session: response.sessionId,
    steps,
    totals: addUsage(steps.map(({ usage }) => usage)),
    error: response.success ? null : (response.error?.message ?? response.summary),
  };
}

function statusOf({ status, success }: RunResponse): PlanResult["status"] {
  if (success) return "completed";
  if (status === "cancelled") return "cancelled";
  return status === "bailed_out" || status === "timeout" ? "limit" : "failed";
}

/** The completed steps of a session, with their usage, for the next session of the plan. */
export function completedSteps({ response, runs }: PlanSession): StepOutcome[] {
  return [...stepOutcomesIn(response).values()].flatMap((outcome) => {
    if (outcome.status !== "completed") return [];
    const usage = usageOf([...outcome.runs, ...outcome.reviews], runs);
    const earlier = addUsage([usage, ...(outcome.earlier ? [outcome.earlier] : [])]);
    return [{ ...outcome, earlier, runs: [], reviews: [] }];
  });
}

function stepOutcomesIn({ data }: RunResponse): Map<string, StepOutcome> {
  const parsed = PlanOutcome.safeParse(data);
  return new Map((parsed.success ? parsed.data.steps : []).map((step) => [step.id, step]));
}

function notRun(id: string): StepOutcome {
  const none = { summary: "", error: null, findings: [], approved: null, runs: [], reviews: [] };
  return { id, key: "", status: "pending", ...none };
}

/** Sums over these runs and all runs below them. Attempts that were repeated count as well. */
function usageOf(roots: readonly string[], rows: readonly RunRow[]): StepUsage {
  const included = new Set(roots);
  for (let size = -1; size !== included.size; ) {
    size = included.size;
    for (const { run, parentRun } of rows) if (parentRun !== null && included.has(parentRun)) included.add(run);
  }
  const own = rows.filter(({ run }) => included.has(run));
  return addUsage(
    own.map(({ toolCalls, totalTokens, costUsd, durationMs, run }) => ({
      ...{ runs: 1, toolCalls, totalTokens, costUsd },
      durationMs: roots.includes(run) ? (durationMs ?? 0) : 0,
    })),
  );
}

function addUsage(all: readonly StepUsage[]): StepUsage {
  const sum = (of: (usage: StepUsage) => number): number => all.reduce((total, usage) => total + of(usage), 0);
  return {
    runs: sum(({ runs }) => runs),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    totalTokens: sum(({ totalTokens }) => totalTokens),
    costUsd: all.some(({ costUsd }) => costUsd === null) ? null : sum(({ costUsd }) => costUsd ?? 0),
    durationMs: sum(({ durationMs }) => durationMs),
  };
}
