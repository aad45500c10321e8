import { canonicalJson, hashText } from "../protocol/hash.ts";
import type { ExecutionPlan } from "../protocol/plan.ts";

/**
 * A hash of each step and of everything that it depends on, by the step's id. A completed step keeps its result as long as
 * its hash is the same. A plan with a cycle has no hashes for the steps of the cycle.
 *
 * @example
 * stepKeysOf(plan).get("test") === stepKeysOf(edited).get("test"); // false if a step before "test" was edited
 */
export function stepKeysOf({ steps, reviewer, goal: _goal }: ExecutionPlan): Map<string, string> {
  const keys = new Map<string, string>();
  for (let added = -1; added !== keys.size; ) {
    added = keys.size;
    for (const { status: _status, title: _title, ...step } of steps) {
      const before = step.after.map((id) => keys.get(id));
      if (keys.has(step.id) || before.includes(undefined)) continue;
      keys.set(step.id, hashText(canonicalJson({ ...step, before, reviewer: step.review ? reviewer : null })));
    }
  }
  return keys;
}

/** A short hash of a whole execution. Two executions with the same one do the same. */
export function planDigest(plan: ExecutionPlan, only: string | null): string {
  return hashText(canonicalJson({ goal: plan.goal, only, keys: [...stepKeysOf(plan)] })).slice(0, 12);
}

/** The task, for people, of a session that executes a plan. It ends with the digest. */
export function planTask(plan: ExecutionPlan, only: string | null): string {
  const steps =
    only === null ? `${plan.steps.length} steps: ${plan.steps.map(({ id }) => id).join(", ")}` : `only ${only}`;
  return `${plan.goal}\n\n${steps} (plan ${planDigest(plan, only)})`;
}
