import { z } from "zod";
import { PartialBudget } from "./budget.ts";
import { Id, Token } from "./ids.ts";
import { PartialLimits } from "./limits.ts";
import { agentIdOf, TeamName } from "./team.ts";

/** The most steps of one plan. */
export const planStepsMax = 100;

/** Name of a step, by which other steps and `--step` refer to it. */
export const PlanStepId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "a name of at most 40 small letters, digits and -, such as write-tests");

export const StepStatus = z.enum(["pending", "running", "completed", "failed", "skipped"]);
export type StepStatus = z.infer<typeof StepStatus>;

/** Limits of a step's agent, tighter than its own. */
const { maxIterations, maxToolCalls, maxDurationMs, maxTokens, maxCostUsd } = PartialLimits.shape;
export const stepLimitsShape = { maxIterations, maxToolCalls, maxDurationMs, maxTokens, maxCostUsd };

const AgentName = z.string().overwrite(agentIdOf).pipe(Token);

/** The fields of a step that a person or a planner writes. */
export const planStepShape = {
  id: PlanStepId,
  title: z.string().trim().min(1, "the title is empty").max(200),
  /** All that the agent has to know. It gets the results of the steps in `after` as well. */
  task: z.string().trim().min(1, "the task is empty").max(50_000),
  /** An id, or `team/agent`. */
  agent: AgentName,
  /** Steps that have to be completed before. */
  after: z.array(PlanStepId).max(planStepsMax).default([]),
  /** How to tell that the step is done. */
  successCriteria: z.string().trim().min(1).max(20_000).nullable().default(null),
  /** Whether a reviewer checks the result. A result with findings goes back to the agent once. */
  review: z.boolean().default(false),
};

/** One step of a plan: a task of one agent. */
export const PlanStep = z.object({
  ...planStepShape,
  limits: z.object(stepLimitsShape).default({}),
  status: StepStatus.default("pending"),
});
export type PlanStep = z.infer<typeof PlanStep>;

/** The fields of a plan besides its id and its steps. */
export const planShape = {
  goal: z.string().trim().min(1, "the goal is empty").max(20_000),
  /** The team whose agents carry it out. Absent: the agents without a team. */
  team: TeamName.exactOptional(),
  /** The agent that reviews. Null: the agent `reviewer`. */
  reviewer: AgentName.nullable().default(null),
  /** Budget of all steps and reviews together. */
  budget: PartialBudget.default({}),
};

/**
 * A plan: steps in the order of their dependencies. Runs of the same plan have sessions derived from its `id`, so that
 * executing it again continues where the last time ended.
 *
 * @example
 * ExecutionPlan.parse({
 *   id: "0198a000-0000-7000-8000-000000000001",
 *   goal: "Sign the tokens",
 *   steps: [{ id: "add", title: "Add the key", task: "Add a key to auth.ts", agent: "coder" }],
 * }).steps[0]?.after; // []
 */
export const ExecutionPlan = z.object({
  id: Id,
  ...planShape,
  steps: z.array(PlanStep).min(1, "a plan needs at least one step").max(planStepsMax),
});
export type ExecutionPlan = z.infer<typeof ExecutionPlan>;

/** A plan as a planner answers it. Every field is required, because some models fill in all fields anyway. */
export const PlanDraft = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        id: planStepShape.id.describe("A short name for the step, such as write-tests"),
        title: z.string().min(1).max(200),
        task: z.string().min(1).max(50_000).describe("All that the agent has to know and do"),
        agent: z.string().min(1).max(160).describe("The agent that does it"),
        after: z.array(PlanStepId).max(planStepsMax).describe("Steps that it waits for; it gets their results"),
        successCriteria: z.string().min(1).max(20_000).describe("How to tell that it is done"),
        review: z.boolean().describe("Whether a reviewer has to approve the result"),
      }),
    )
    .min(1)
    .max(planStepsMax),
});
export type PlanDraft = z.infer<typeof PlanDraft>;

/** Sums over the runs of a step: its work, its reviews, and all runs below them. */
export const StepUsage = z.object({
  runs: z.int().nonnegative(),
  toolCalls: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  /** Null if a price is unknown. */
  costUsd: z.number().nonnegative().nullable(),
  durationMs: z.number().nonnegative(),
});
export type StepUsage = z.infer<typeof StepUsage>;

/** State of a step, as the runner of its plan knows it. */
export const StepOutcome = z.object({
  id: PlanStepId,
  /** Hash of the step and of everything that it depends on. A step with another hash is another step. */
  key: z.string(),
  status: StepStatus,
  summary: z.string().default(""),
  /** The whole result, for the steps after it. Only in the last answer of a run. */
  result: z.string().exactOptional(),
  error: z.string().nullable().default(null),
  findings: z.array(z.string()).default([]),
  /** Whether a reviewer approved it. Null: no review. */
  approved: z.boolean().nullable().default(null),
  /** Runs that worked on it, and runs that reviewed it. */
  runs: z.array(Id).default([]),
  reviews: z.array(Id).default([]),
  /** Usage in an earlier session of the plan, which completed the step. */
  earlier: StepUsage.exactOptional(),
});
export type StepOutcome = z.infer<typeof StepOutcome>;

/** The answer of a run that executes a plan. */
export const PlanOutcome = z.object({
  status: z.enum(["running", "completed", "failed"]),
  steps: z.array(StepOutcome),
});
export type PlanOutcome = z.infer<typeof PlanOutcome>;

/** A request to execute a plan, or one step of it. */
export const PlanExecution = z.object({
  plan: ExecutionPlan,
  /** Runs this step only. Null: all steps. */
  only: PlanStepId.nullable().default(null),
  /** Steps that an earlier session of the plan completed. */
  done: z.array(StepOutcome).max(planStepsMax).default([]),
});
export type PlanExecution = z.infer<typeof PlanExecution>;

/** The agents that the steps of a new plan can name. */
export const PlanAgents = z.object({ agents: z.array(Token), team: Token.exactOptional() });
export type PlanAgents = z.infer<typeof PlanAgents>;

/** The result of one step. */
export const StepResult = StepOutcome.omit({ key: true, result: true, earlier: true }).extend({
  title: z.string(),
  agent: Token,
  usage: StepUsage,
});
export type StepResult = z.infer<typeof StepResult>;

/** The result of a plan. */
export const PlanResult = z.object({
  plan: ExecutionPlan,
  /** `cancelled` and `limit` describe the end of the session: some steps may be completed. */
  status: z.enum(["completed", "failed", "cancelled", "limit"]),
  /** The newest session of the plan. */
  session: Id,
  steps: z.array(StepResult),
  /** Sums over all steps and reviews, those of earlier sessions included. */
  totals: StepUsage,
  error: z.string().nullable(),
});
export type PlanResult = z.infer<typeof PlanResult>;
