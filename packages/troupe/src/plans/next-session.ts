import { type RunResponse, type SessionDetail, TroupeError } from "@troupe/core";
import {
  completedSteps,
  derivedId,
  type ExecutionPlan,
  findPlanProblems,
  type PlanExecution,
  planDigest,
  planTask,
  stepKeysOf,
} from "@troupe/core/internal";

/** Reads recorded sessions. Both return null for an unknown session, and `response` for one that has not settled. */
export interface SessionReader {
  session(session: string): Promise<SessionDetail | null>;
  response(session: string): Promise<RunResponse | null>;
}

/** The session in which a plan is executed next, and the request for it. */
export interface PlanSubmission {
  session: string;
  task: string;
  plan: PlanExecution;
  /** Steps whose results come from an earlier session. */
  kept: readonly string[];
}

/**
 * Chooses the session of a plan's execution. Its id is derived from the plan's id and the number of the attempt, so that
 * submitting it twice starts it once:
 *
 * - The newest session has not settled: the same one again. After a kill it continues where it was.
 * - It has completed the plan: the same one again, which returns its result.
 * - It has not: the next one, with the completed steps whose text is the same. Other steps run again.
 *
 * Throws `CONFLICT` if the newest session still executes another text of the plan, and `USAGE` for a step whose dependencies
 * have not been completed.
 *
 * @param only the step to execute; null for all
 */
export async function nextPlanSession(
  reader: SessionReader,
  plan: ExecutionPlan,
  only: string | null = null,
): Promise<PlanSubmission> {
  checkGraph(plan);
  checkStep(plan, only);
  const task = planTask(plan, only);
  const attempt = await newestAttempt(reader, plan.id);
  const newest = sessionOf(plan.id, attempt);
  if (attempt === 0) checkBefore(plan, only, []);
  if (attempt === 0) return submissionOf(plan, { session: sessionOf(plan.id, 1), task, only, done: [] });
  const [detail, response] = await Promise.all([reader.session(newest), reader.response(newest)]);
  const isSame = detail?.session.task.endsWith(digestMark(plan, only)) === true;
  if (!response) {
    if (!isSame) throw stillRunning(newest);
    // The session is there: it has its own list of completed steps.
    return submissionOf(plan, { session: newest, task, only, done: [] });
  }
  const keys = stepKeysOf(plan);
  const known = completedSteps({ response, runs: detail?.runs ?? [] });
  const done = known.filter(({ id, key }) => keys.get(id) === key && id !== only);
  if (isSame && response.success && only === null) return submissionOf(plan, { session: newest, task, only, done });
  checkBefore(plan, only, done);
  return submissionOf(plan, { session: sessionOf(plan.id, attempt + 1), task, only, done });
}

function submissionOf(
  plan: ExecutionPlan,
  { session, task, only, done }: { session: string; task: string; only: string | null; done: PlanExecution["done"] },
): PlanSubmission {
  const doneIds = done.map(({ id }) => id);
  const step = plan.steps.find(({ id }) => id === only);
  return {
    session,
    task,
    plan: { plan, only, done: [...done] },
    kept: step ? step.after.filter((id) => doneIds.includes(id)) : doneIds,
  };
}

/** A step runs alone only if the steps before it have been completed. */
function checkBefore({ steps }: ExecutionPlan, only: string | null, done: PlanExecution["done"]): void {
  const step = steps.find(({ id }) => id === only);
  const missing = (step?.after ?? []).filter((id) => !done.some((each) => each.id === id));
  if (missing.length === 0) return;
  const message = `the step ${only} waits for ${missing.join(", ")}, which has not been completed as the plan says now`;
  throw new TroupeError("USAGE", message, { fix: `execute ${missing[0]} first, or the whole plan` });
}

/** The agents are checked where the plan is accepted. */
function checkGraph(plan: ExecutionPlan): void {
  const agents = [...plan.steps.map(({ agent }) => agent), plan.reviewer ?? "reviewer"];
  const [problem] = findPlanProblems(plan, { agents });
  if (!problem) return;
  throw new TroupeError("INVALID_PLAN", `the plan cannot be executed: ${problem.message}`, { fix: problem.fix });
}

function checkStep({ steps }: ExecutionPlan, only: string | null): void {
  if (only === null || steps.some(({ id }) => id === only)) return;
  const known = steps.map(({ id }) => id).join(", ");
  throw new TroupeError("USAGE", `the plan has no step ${JSON.stringify(only)}; it has: ${known}`, {
    fix: "name one of these steps",
  });
}

/** The number of the newest attempt; 0 before the first. */
async function newestAttempt(reader: SessionReader, id: string): Promise<number> {
  let attempt = 0;
  while (await reader.session(sessionOf(id, attempt + 1))) attempt += 1;
  return attempt;
}

function sessionOf(plan: string, attempt: number): string {
  return derivedId(`plan/${plan}/${attempt}`);
}

function digestMark(plan: ExecutionPlan, only: string | null): string {
  return `(plan ${planDigest(plan, only)})`;
}

function stillRunning(session: string): TroupeError {
  return new TroupeError("CONFLICT", `session ${session} still executes this plan as it was before the last edit`, {
    fix: `wait until it has ended, or: troupe cancel ${session}`,
  });
}
