import { type RunResponse, TroupeError, type TroupeService } from "@troupe/core";
import { ExecutionPlan, type PlanResult, planOfDraft, planResultOf, TeamName } from "@troupe/core/internal";
import type { RunOptions } from "../options.ts";
import { nextPlanSession } from "./next-session.ts";

/** Options of a request for a plan. */
export interface PlanOptions extends Omit<RunOptions, "continues"> {
  /** The team whose planner makes the plan, and whose agents carry it out. @default the agents without a team */
  team?: string;
}

/** Options of a plan's execution. Its session is derived from the plan. */
export interface ExecutePlanOptions extends Omit<RunOptions, "session" | "context" | "continues"> {
  /** Executes this step only. The steps before it have to be completed. */
  step?: string;
}

/** Submits a request and waits for its response. */
type Ask = (task: string, options: RunOptions & { [key: string]: unknown }) => Promise<RunResponse>;

export interface PlanScope {
  service: Pick<TroupeService, "record">;
  ask: Ask;
  newId(): string;
}

/** Asks the planner for a plan. Throws `RUN_FAILED` with the reason if there is none. */
export async function planForGoal(
  goal: string,
  { team, ...options }: PlanOptions,
  scope: PlanScope,
): Promise<ExecutionPlan> {
  const response = await scope.ask(goal, { ...options, ...teamField(team), makesPlan: true });
  return planIn(response, { id: scope.newId(), goal, ...teamField(team) });
}

/** The fields of a plan that its planner does not choose. */
export type PlanHead = Pick<ExecutionPlan, "id" | "goal" | "team">;

/** The plan in a planner's response. Throws `RUN_FAILED` if the planner did not complete. */
export function planIn(response: RunResponse, head: PlanHead): ExecutionPlan {
  if (!response.success) {
    const why = response.error?.message ?? response.summary;
    throw new TroupeError("RUN_FAILED", `there is no plan: ${why}`, {
      fix: `troupe sessions show ${response.sessionId} --tree`,
    });
  }
  return planOfDraft(response.data, head);
}

/** Executes a plan, or continues its execution, and resolves with the result of each step, however it ends. */
export async function executePlan(
  given: ExecutionPlan,
  { step, ...options }: ExecutePlanOptions,
  { service, ask }: PlanScope,
): Promise<PlanResult> {
  const plan = checkedPlan(given);
  const { record } = service;
  const { session, task, plan: execution } = await nextPlanSession(record, plan, step ?? null);
  const budget = { ...plan.budget, ...options.budget };
  const response = await ask(task, { ...options, budget, ...teamField(plan.team), session, plan: execution });
  const detail = await record.session(response.sessionId);
  return planResultOf(plan, { response, runs: detail?.runs ?? [] });
}

/** Throws `INVALID_PLAN` with the first field that does not fit. */
function checkedPlan(given: ExecutionPlan): ExecutionPlan {
  const parsed = ExecutionPlan.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TroupeError("INVALID_PLAN", `the plan does not fit: ${issue?.path.join(".")}: ${issue?.message}`, {
    fix: "change that field, or make a plan with planForGoal",
  });
}

function teamField(team: string | undefined): { team?: string } {
  if (team === undefined) return {};
  if (TeamName.safeParse(team).success) return { team };
  throw new TroupeError("USAGE", `${JSON.stringify(team)} is not the name of a team`, { fix: "troupe teams ls" });
}
