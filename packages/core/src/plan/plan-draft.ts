import { z } from "zod";
import { type ExecutionPlan, type PlanAgents, PlanDraft, ExecutionPlan as PlanSchema } from "../protocol/plan.ts";
import { findPlanProblems } from "./plan-problems.ts";

/** JSON Schema of a planner's answer. */
export const planDraftSchema = z.toJSONSchema(PlanDraft, { io: "input" }) as Record<string, z.core.util.JSONType>;

/** The reasons why a planner's answer is no plan that these agents can execute. Empty if it is one. */
export function draftProblems(answer: unknown, known: PlanAgents): string[] {
  const draft = PlanDraft.safeParse(answer);
  if (!draft.success)
    return draft.error.issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  const plan = PlanSchema.safeParse({ id: noId, goal: "draft", ...draft.data });
  if (!plan.success) return plan.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return findPlanProblems(plan.data, known).map(({ message, fix }) => `${message} (${fix})`);
}

const noId = "00000000-0000-4000-8000-000000000000";

/**
 * The plan of a planner's answer. Throws if the answer is none: check it with `draftProblems` first.
 *
 * @example
 * planOfDraft(response.data, { id: ids.next(), goal: "Sign the tokens" }).steps.length;
 */
export function planOfDraft(data: unknown, head: Pick<ExecutionPlan, "id" | "goal" | "team">): ExecutionPlan {
  return PlanSchema.parse({ ...head, ...PlanDraft.parse(data) });
}

/** Facts that a planner needs besides the goal. */
export function plannerContext(agents: string): string {
  return [
    "Answer with an execution plan for this goal: JSON that fits the schema you were given. The steps are carried out by these agents, each in a conversation of its own:",
    agents,
    "Rules: one agent can finish a step in one go. Its task says everything that the agent has to know, because it sees nothing but its task and the results of the steps in `after`. Steps without an order between them run at the same time, so two of them never write the same file. Ask for a review of each step that changes something important.",
  ].join("\n\n");
}
