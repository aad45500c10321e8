import type { Message, ModelReply } from "../protocol/model.ts";
import type { PlanExecution, PlanOutcome, PlanStep, StepStatus } from "../protocol/plan.ts";
import type { ToolCall } from "../protocol/tool.ts";
import { type PlanState, readPlanState, type StepPhase, type StepState, taskName, triesMax } from "./plan-state.ts";
import { reviewTask, workTask } from "./plan-texts.ts";

/** The model of a run that executes a plan: the function `playPlan`. Nothing is called, and nothing costs. */
export const planModel = "plan/steps";

/** Schema of a reviewer's answer. */
const reviewSchema = {
  type: "object",
  properties: {
    approved: { type: "boolean", description: "true only if the step can be kept as it is" },
    findings: { type: "array", items: { type: "string" }, description: "Necessary changes, one item each" },
  },
  required: ["approved", "findings"],
  additionalProperties: false,
};

/**
 * The next reply of a run that executes a plan, in place of a model: the tasks that can start now, or the outcome. Pure:
 * the same conversation gives the same reply, so a plan continues after a kill where it was.
 *
 * Steps that wait only for steps without a review go into one batch, whose graph starts each as soon as it can. A
 * failed step stops everything that has not started. Running steps go on to their end, their reviews included.
 *
 * @example
 * playPlan({ plan, only: null, done: [] }, [{ role: "user", text: plan.goal }]).calls[0]?.name; // "delegate_batch"
 */
export function playPlan(execution: PlanExecution, messages: readonly Message[], isLastTurn = false): ModelReply {
  const state = readPlanState(execution, messages);
  const isStopped = isLastTurn || [...state.values()].some(({ phase }) => phase === "failed");
  const turn = messages.filter(({ role }) => role === "assistant").length + 1;
  const calls = isLastTurn ? [] : nextCalls(execution, state, isStopped);
  const isOpen = calls.length > 0 || [...state.values()].some(({ phase }) => isRunning(phase));
  return {
    text: JSON.stringify(outcomeOf(execution, state, { isOpen, isLastTurn })),
    calls: calls.map((call, index) => ({ ...call, id: `plan-${turn}-${index}`, problem: null })),
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 },
    stopReason: calls.length > 0 ? "tool_calls" : "end",
    model: planModel,
  };
}

type Call = Pick<ToolCall, "name" | "args">;

function nextCalls({ plan, only }: PlanExecution, state: PlanState, isStopped: boolean): Call[] {
  const reviews = [...state.values()]
    .filter(({ phase }) => phase === "worked")
    .map((each) => reviewOf(each, plan.reviewer));
  const works = isStopped ? [] : startable(state, only).map((each) => workOf(each, state));
  const stops = isStopped ? blockedHandles(state) : [];
  return [
    ...(works.length > 0 ? [batch(works, "all")] : []),
    ...(reviews.length > 0 ? [batch(reviews, "continue")] : []),
    ...(stops.length > 0 ? [{ name: "delegate_cancel", args: { cancel: stops } }] : []),
  ];
}

function batch(tasks: object[], policy: "all" | "continue"): Call {
  return { name: "delegate_batch", args: { tasks, policy, mode: "parallel_streaming" } as ToolCall["args"] };
}

/** Steps whose dependencies are done, or start with them and need no review. */
function startable(state: PlanState, only: string | null): StepState[] {
  const chosen = new Set<string>();
  const isFree = ({ step, phase }: StepState): boolean => {
    if (phase === "returned") return true;
    if (phase !== "waiting" || (only !== null && step.id !== only)) return false;
    return step.after.every((id) => {
      const before = state.get(id);
      return before?.phase === "done" || (chosen.has(id) && before?.phase === "waiting" && !before.step.review);
    });
  };
  for (let added = -1; added !== chosen.size; ) {
    added = chosen.size;
    for (const each of state.values()) if (isFree(each)) chosen.add(each.step.id);
  }
  return [...state.values()].filter(({ step }) => chosen.has(step.id));
}

function workOf(each: StepState, state: PlanState): object {
  const { step, tries } = each;
  const before = step.after.flatMap((id) => state.get(id) ?? []);
  const isBeside = ({ phase }: StepState): boolean => phase !== "done";
  return {
    name: taskName(step.id, "work", tries + 1),
    agent: step.agent,
    task: workTask(
      each,
      before.filter((other) => !isBeside(other)),
    ),
    context: "task_only",
    after: before.filter(isBeside).map((other) => taskName(other.step.id, "work", other.tries + 1)),
    ...(step.successCriteria === null ? {} : { success_criteria: step.successCriteria }),
    ...limitsOf(step),
  };
}

function reviewOf(each: StepState, reviewer: string | null): object {
  const { step, tries } = each;
  return {
    name: taskName(step.id, "review", tries),
    agent: reviewer ?? "reviewer",
    task: reviewTask(each),
    context: "task_only",
    ...(step.successCriteria === null ? {} : { success_criteria: step.successCriteria }),
    output_schema: reviewSchema,
  };
}

function limitsOf({ limits }: PlanStep): object {
  const named = {
    max_iterations: limits.maxIterations,
    max_tool_calls: limits.maxToolCalls,
    max_duration_ms: limits.maxDurationMs,
    max_tokens: limits.maxTokens,
    max_cost_usd: limits.maxCostUsd,
  };
  const given = Object.entries(named).filter(([, value]) => typeof value === "number");
  return given.length > 0 ? { limits: Object.fromEntries(given) } : {};
}

/** Handles of tasks that cannot have started, because they wait for others of their batch. */
function blockedHandles(state: PlanState): string[] {
  const isOver = (id: string): boolean => state.get(id)?.phase === "done";
  return [...state.values()].flatMap(({ phase, handle, behind }) =>
    phase === "working" && handle !== null && !behind.every(isOver) ? [handle] : [],
  );
}

function isRunning(phase: StepPhase): boolean {
  return phase === "working" || phase === "reviewing";
}

function outcomeOf(
  { plan, only }: PlanExecution,
  state: PlanState,
  { isOpen, isLastTurn }: { isOpen: boolean; isLastTurn: boolean },
): PlanOutcome {
  const steps = plan.steps.flatMap(({ id }) => {
    const each = state.get(id);
    if (!each) return [];
    const { result, ...outcome } = each.outcome;
    const status = isOpen ? statusOf(each.phase) : finalStatus(each, only);
    const error = isOpen ? outcome.error : finalError(each, { status, isLastTurn });
    const hasResult = !isOpen && status === "completed" && result !== undefined;
    return [{ ...outcome, status, error, ...(hasResult ? { result } : {}) }];
  });
  if (isOpen) return { status: "running", steps };
  const wanted = only === null ? steps : steps.filter(({ id }) => id === only);
  return { status: wanted.every(({ status }) => status === "completed") ? "completed" : "failed", steps };
}

function statusOf(phase: StepPhase): StepStatus {
  if (phase === "done") return "completed";
  if (phase === "failed" || phase === "skipped") return phase;
  return phase === "waiting" ? "pending" : "running";
}

/** Nothing runs any more. A step without its review, or with open findings, is not completed. */
function finalStatus({ phase, step }: StepState, only: string | null): StepStatus {
  if (phase === "done") return "completed";
  if (phase === "waiting") return only !== null && step.id !== only ? "pending" : "skipped";
  return phase === "skipped" ? "skipped" : "failed";
}

function finalError(
  { phase, outcome, tries }: StepState,
  of: { status: StepStatus; isLastTurn: boolean },
): string | null {
  if (of.status === "completed" || of.status === "pending") return null;
  const limit = "not finished: the run of the plan reached a limit";
  if (phase === "returned" && tries < triesMax) {
    return of.isLastTurn
      ? limit
      : `not approved, and not tried again because the plan had failed: ${outcome.findings.join("; ")}`;
  }
  if (of.status === "skipped") return of.isLastTurn ? limit : "not started: the plan had failed";
  return outcome.error ?? limit;
}
