import type { AgentDefinition } from "../protocol/agent.ts";
import type { ModelPrice } from "../protocol/model.ts";
import { PlanOutcome } from "../protocol/plan.ts";

/** A plan may take days: its steps have limits of their own, and its budget covers all of them. */
const runnerLimits = { maxIterations: 1_000, maxToolCalls: 1_000, maxChildren: 1_000, maxDurationMs: 7 * 86_400_000 };

/**
 * The definition of a run that executes a plan: the agent whose plan it is, without the settings for a model. Its grant,
 * the agents that it may ask, its budget and the checks of its children stay.
 */
export function planRunnerOf(definition: AgentDefinition): AgentDefinition {
  const { patterns: _patterns, triggers: _triggers, ...rest } = definition;
  const { maxConcurrent, maxDepth } = definition.limits;
  const ownLimits = {
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  };
  return {
    ...rest,
    prompt: "Executes a plan. No model is called.",
    intent: "direct",
    promptFrom: "own",
    outputSchema: null,
    verifiers: [],
    limits: { ...runnerLimits, ...ownLimits },
  };
}

export const planPrice: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };

/** Why a plan failed, from the last answer of its runner; null if it did not fail. */
export function planFailure(answer: string): string | null {
  const outcome = parseOutcome(answer);
  if (outcome?.status !== "failed") return null;
  const failed = outcome.steps.filter(({ status }) => status === "failed");
  const reasons = failed.map(({ id, error }) => `the step ${id} failed: ${error}`);
  return reasons.length > 0 ? reasons.join("; ") : `the plan is not completed: ${planSummary(answer)}`;
}

/** The outcome of a plan in one sentence. */
export function planSummary(answer: string): string | null {
  const outcome = parseOutcome(answer);
  if (!outcome) return null;
  const count = (wanted: string): number => outcome.steps.filter(({ status }) => status === wanted).length;
  const others = (["failed", "skipped", "running", "pending"] as const).filter((status) => count(status) > 0);
  const completed = `${count("completed")} of ${outcome.steps.length} steps completed`;
  return [completed, ...others.map((status) => `${count(status)} ${status}`)].join(", ");
}

function parseOutcome(answer: string): PlanOutcome | null {
  try {
    return PlanOutcome.safeParse(JSON.parse(answer)).data ?? null;
  } catch {
    return null;
  }
}
