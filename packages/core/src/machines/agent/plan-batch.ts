import { tightenBudget } from "../../budget/ledger.ts";
import { type DelegateTask, readDelegateCall } from "../../delegation/arguments.ts";
import { findAgentToolName } from "../../delegation/find-agent.ts";
import { edgesOf, findGraphProblem } from "../../delegation/graph.ts";
import { layersForChild } from "../../permissions/grant.ts";
import type { ContextMode, WorkspaceMode } from "../../protocol/agent.ts";
import { protocolVersion } from "../../protocol/codec.ts";
import type { DelegationTarget, RunSpec } from "../../protocol/entry.ts";
import { childRunId } from "../../protocol/ids.ts";
import { tighten } from "../../protocol/limits.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { permanentError, type RunError } from "../../protocol/run-error.ts";
import { teamAgentId } from "../../protocol/team.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import { nearestNames } from "../../text/nearest-names.ts";
import type { BatchPlan, PlannedTask } from "../batch/machine.ts";
import { childTimeMs } from "./clock.ts";
import type { AgentContext } from "./context.ts";
import { missingSearch } from "./triggers.ts";
import { remainder } from "./turn.ts";

export const noTimeLeft = "no time is left for another agent: answer now";
export const noBudgetLeft = "the budget has nothing left for another agent: do it yourself, or answer now";

export type PlannedCall = { plan: BatchPlan } | { cancel: readonly string[] } | { error: RunError };

/** Checks a delegate call before it starts, and makes the children's requests. */
export function planBatch(context: AgentContext, call: number, toolCall: ToolCall): PlannedCall {
  const read = readDelegateCall(toolCall.args);
  if ("error" in read) return refuse("params", `delegate: ${read.error}`);
  if (read.call.kind === "cancel") return { cancel: read.call.handles };
  const { batch, mode, policy } = read.call;
  const tasks = read.call.tasks.map((task) => withTargetIds(context, task));
  const problem = problemOf(context, tasks);
  if (problem) return { error: problem };
  const after = edgesOf(tasks);
  return {
    plan: {
      batch,
      mode: mode ?? (batch ? context.pin.definition.subagents.execution : "parallel"),
      policy,
      ...(context.pin.readsTextOnce ? { readsTextOnce: true } : {}),
      tasks: tasks.map((task, item) => planTask(context, { task, call, item, after: after[item] ?? [] })),
    },
  };
}

/** A plain name means an agent of the run's own team, if that team has it. */
function withTargetIds({ pin }: AgentContext, task: DelegateTask): DelegateTask {
  const { team } = pin.definition;
  if (team === undefined) return task;
  const idOf = (name: string): string => {
    const id = teamAgentId(team, name);
    return pin.targets.some((target) => target.id === id) ? id : name;
  };
  const { alternative } = task.retry;
  const retry = alternative ? { ...task.retry, alternative: idOf(alternative) } : task.retry;
  return { ...task, agent: idOf(task.agent), retry };
}

/** The first reason why the tasks may not start; null if they may. One bad task refuses the whole call. */
function problemOf(context: AgentContext, tasks: readonly DelegateTask[]): RunError | null {
  const graph = findGraphProblem(tasks);
  if (graph) return delegateRefusal("params", `delegate: ${graph}`);
  const { maxDepth, maxChildren } = context.pin.limits;
  const depth = context.request.depth + 1;
  // Before the targets: the deepest level has none, so their check would give the wrong reason.
  if (depth > maxDepth) {
    return delegateRefusal("depth", `depth ${depth} is over the limit of ${maxDepth}: do it yourself`);
  }
  for (const task of tasks) {
    const problem = targetProblem(context, task);
    if (problem) return problem;
  }
  const childrenLeft = maxChildren - context.childrenRequested;
  if (tasks.length > childrenLeft) {
    return delegateRefusal(
      "budget",
      `${requestedAgents(tasks)} over the limit of ${maxChildren} for one run: ${childrenLeft} are left`,
    );
  }
  const { spawns } = remainder(context);
  if (spawns !== null && tasks.length > spawns) {
    return delegateRefusal(
      "budget",
      `${requestedAgents(tasks)} over the budget of the whole tree: ${spawns} may still be started`,
    );
  }
  return childTimeMs(context) <= 0 ? delegateRefusal("budget", noTimeLeft) : null;
}

function requestedAgents(tasks: readonly DelegateTask[]): string {
  return tasks.length === 1 ? "one more agent is" : `${tasks.length} more agents are`;
}

function targetProblem(context: AgentContext, task: DelegateTask): RunError | null {
  const { agent, retry, contextFiles } = task;
  const { pin } = context;
  for (const id of [agent, ...(retry.alternative ? [retry.alternative] : [])]) {
    const chain = chainBelow(context);
    if (chain.includes(id)) return delegateRefusal("permission", `${[...chain, id].join(" → ")} is a cycle`);
    const ids = pin.targets.map((target) => target.id);
    if (!ids.includes(id)) return delegateRefusal("permission", unreachable(pin, id));
    const missing = missingSearch(context, id);
    if (missing !== null) return delegateRefusal("params", `delegate: ${missing}`);
  }
  if (contextFiles.length > 0 && !pin.grant.tools.includes("read")) {
    const named = contextFiles.join(", ");
    return delegateRefusal("permission", `context_files: you cannot read files, so you cannot pass ${named} on`);
  }
  const target = targetOf(context, agent);
  const alternative = targetOf(context, retry.alternative ?? null);
  if (target && alternative && !canReplace(alternative, task, target)) {
    const message = `retry.alternative: ${alternative.id} gets its task and nothing else: use context task_only`;
    return delegateRefusal("params", message);
  }
  return null;
}

function chainBelow({ request }: AgentContext): string[] {
  return [...request.chain, request.agent];
}

function targetOf({ pin }: AgentContext, agent: string | null): DelegationTarget | null {
  return pin.targets.find(({ id }) => id === agent) ?? null;
}

/**
 * Whether the alternative may run the task. It gets the same context as the agent that it replaces, and an expert of one
 * domain must get none.
 */
function canReplace(alternative: DelegationTarget, task: DelegateTask, target: DelegationTarget): boolean {
  return alternative.domain === null || contextModeOf(task, target) === "task_only";
}

/** The agent for a last attempt: the call's choice, else the definition's. Null if this run cannot reach it. */
function alternativeOf(context: AgentContext, task: DelegateTask, target: DelegationTarget): DelegationTarget | null {
  const alternative = targetOf(context, task.retry.alternative ?? target.retry.alternative);
  if (!alternative || chainBelow(context).includes(alternative.id)) return null;
  return canReplace(alternative, task, target) ? alternative : null;
}

interface TaskToPlan {
  task: DelegateTask;
  call: number;
  item: number;
  after: number[];
}

function planTask(context: AgentContext, { task, call, item, after }: TaskToPlan): PlannedTask {
  const target = targetOf(context, task.agent);
  if (!target) throw new Error(`no target ${task.agent}`); // checked by targetProblem
  const { step, request, pin } = context;
  const alternative = alternativeOf(context, task, target);
  return {
    name: task.name,
    after,
    retry: { ...target.retry, ...task.retry, alternative: alternative?.id ?? null },
    request: {
      v: protocolVersion,
      session: request.session,
      run: childRunId({ parentRun: request.run, step, call, item, attempt: 1 }),
      parent: { run: request.run, agent: request.agent, step, call, item },
      agent: task.agent,
      depth: request.depth + 1,
      attempt: 1,
      task: task.task,
      context: null,
      contextMode: contextModeOf(task, target),
      contextFiles: target.domain === null ? task.contextFiles : [],
      successCriteria: task.successCriteria,
      outputSchema: task.outputSchema,
      userId: request.userId,
      chain: chainBelow(context),
      continues: null,
      ancestors: [...request.ancestors, request.run],
      layers: layersForChild(request.layers, pin.definition),
      budget: { tokens: null, costUsd: null, toolCalls: null, spawns: null },
      limits: limitsFor(context, task),
      // A plan is executed without a model: its steps have the model of the session.
      model: request.plan ? request.model : pin.model,
      temperature: pin.temperature,
      parentPrompt: [target, alternative].some((agent) => agent?.promptFrom === "parent") ? ownPrompt(context) : null,
      workspace: workspaceFor(context, target),
      remainingMs: null,
    },
    ...(alternative ? { alternativeWorkspace: workspaceFor(context, alternative) } : {}),
  };
}

/**
 * The workspace of a child. Every run below an isolated run is isolated too, whatever its definition says: the folder has
 * no locality that another host could share. Files from the parent are copied in when the child starts.
 */
function workspaceFor({ request }: AgentContext, target: DelegationTarget): RunRequest["workspace"] {
  const { id, path, place, project } = request.workspace;
  const session = { id, path, ...(project === undefined ? {} : { project }) };
  const mode = childModeOf(request, target);
  if (mode === "isolated") return { ...session, mode };
  const onDisk = { ...session, ...(place === undefined ? {} : { place }) };
  return mode === "worktree" ? { ...onDisk, mode } : onDisk;
}

function childModeOf({ workspace }: RunRequest, { workspace: mode = "shared" }: DelegationTarget): WorkspaceMode {
  return workspace.mode === "isolated" ? "isolated" : mode;
}

/** Whether a child of this agent works in its parent's folder, so that its file changes happen there. */
export function sharesFolder(context: Pick<AgentContext, "request" | "pin">, agent: string): boolean {
  const target = context.pin.targets.find(({ id }) => id === agent);
  return target === undefined || childModeOf(context.request, target) === "shared";
}

/** An expert of one domain gets only its task. */
function contextModeOf({ contextMode }: DelegateTask, target: DelegationTarget): ContextMode {
  return target.domain === null ? (contextMode ?? target.contextMode) : "task_only";
}

/** The depth limit comes from the parent. All other limits can only tighten the child's own. */
function limitsFor({ pin }: AgentContext, { limits }: DelegateTask): RunRequest["limits"] {
  return { ...limits, maxDepth: tighten(pin.limits, limits).maxDepth };
}

/** The prompt of this run, for children that work with their parent's prompt. */
function ownPrompt({ pin, request }: AgentContext): string {
  return pin.definition.promptFrom === "parent" && request.parentPrompt ? request.parentPrompt : pin.definition.prompt;
}

/** The most that a child can use, by its definition and the call. */
export function budgetCapOf(context: AgentContext, task: PlannedTask): DelegationTarget["budget"] {
  const target = targetOf(context, task.request.agent);
  const none = { tokens: null, costUsd: null, toolCalls: null, spawns: null };
  // An alternative may need more. Its own definition tightens its budget when it starts.
  if (!target || task.retry.alternative !== null) return none;
  if (target.budget.spawns !== 0) return target.budget;
  const { maxTokens, maxCostUsd, maxToolCalls } = task.request.limits;
  return tightenBudget(target.budget, {
    tokens: maxTokens ?? null,
    costUsd: maxCostUsd ?? null,
    toolCalls: maxToolCalls ?? null,
    spawns: 0,
  });
}

/** Whether a child needs a summary of the conversation. */
export function wantsSummary({ tasks }: BatchPlan): boolean {
  return tasks.some(({ request }) => request.contextMode === "summary");
}

function unreachable({ targets, tools }: RunSpec, agent: string): string {
  const ids = targets.map(({ id }) => id);
  const why = `you cannot delegate to "${agent}"`;
  if (ids.length === 0) return `${why}: this agent delegates to nobody`;
  // Runs of earlier versions have no search: their errors list all agents, and a replay has to write them again.
  if (!tools.some(({ name }) => name === findAgentToolName)) return `${why}; you can to: ${ids.join(", ")}`;
  const near = nearestNames(agent, ids);
  const similar = near.length === 0 ? "" : `; similar names: ${near.join(", ")}`;
  return `${why}${similar}; ${findAgentToolName} searches the ${ids.length} agents that you can delegate to`;
}

function delegateRefusal(type: RunError["type"], message: string): RunError {
  return { ...permanentError(type, message), tool: "delegate" };
}

function refuse(type: RunError["type"], message: string): PlannedCall {
  return { error: delegateRefusal(type, message) };
}
