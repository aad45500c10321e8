import { tightenBudget } from "../../budget/ledger.ts";
import { type DelegateTask, readDelegateCall } from "../../delegation/arguments.ts";
import { edgesOf, findGraphProblem } from "../../delegation/graph.ts";
import { layersForChild } from "../../permissions/grant.ts";
import type { ContextMode, WorkspaceMode } from "../../protocol/agent.ts";
import type { DelegationTarget } from "../../protocol/entry.ts";
import { childRunId } from "../../protocol/ids.ts";
import { tighten } from "../../protocol/limits.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import { protocolVersion } from "../../protocol/version.ts";
import type { BatchPlan, PlannedTask } from "../batch/machine.ts";
import { childTimeMs } from "./clock.ts";
import type { AgentContext } from "./context.ts";
import { permanentError } from "./rules.ts";
import { remainder } from "./turn.ts";

export const noTimeLeft = "no time is left for another agent: answer now";
export const noBudgetLeft = "the budget has nothing left for another agent: do it yourself, or answer now";

export type Planned = { plan: BatchPlan } | { cancel: readonly string[] } | { error: RunError };

/** Checks a delegate call against everything that is known before it starts, and makes the children's requests. */
export function planBatch(context: AgentContext, call: number, toolCall: ToolCall): Planned {
  const read = readDelegateCall(toolCall.args);
  if ("error" in read) return refuse("params", `delegate: ${read.error}`);
  if (read.call.kind === "cancel") return { cancel: read.call.handles };
  const { tasks, batch, mode, policy } = read.call;
  const problem = problemOf(context, tasks);
  if (problem) return { error: problem };
  const after = edgesOf(tasks);
  return {
    plan: {
      batch,
      mode: mode ?? (batch ? context.pin.definition.subagents.execution : "parallel"),
      policy,
      tasks: tasks.map((task, item) => planTask(context, { task, call, item, after: after[item] ?? [] })),
    },
  };
}

/** The first reason why none of these tasks may start; nothing is half-done. */
function problemOf(context: AgentContext, tasks: readonly DelegateTask[]): RunError | null {
  const graph = findGraphProblem(tasks);
  if (graph) return delegateRefusal("params", `delegate: ${graph}`);
  const { maxDepth, maxChildren } = context.pin.limits;
  const depth = context.request.depth + 1;
  // Before the targets: at the deepest level there are none, and that would be said instead.
  if (depth > maxDepth) {
    return delegateRefusal("depth", `depth ${depth} is over the limit of ${maxDepth}: do it yourself`);
  }
  for (const task of tasks) {
    const problem = targetProblem(context, task);
    if (problem) return problem;
  }
  const mayAsk = maxChildren - context.childrenAsked;
  if (tasks.length > mayAsk) {
    return delegateRefusal(
      "budget",
      `${asked(tasks)} over the limit of ${maxChildren} for one run: ${mayAsk} are left`,
    );
  }
  const { spawns } = remainder(context);
  if (spawns !== null && tasks.length > spawns) {
    return delegateRefusal(
      "budget",
      `${asked(tasks)} over the budget of the whole tree: ${spawns} may still be started`,
    );
  }
  return childTimeMs(context) <= 0 ? delegateRefusal("budget", noTimeLeft) : null;
}

function asked(tasks: readonly DelegateTask[]): string {
  return tasks.length === 1 ? "one more agent is" : `${tasks.length} more agents are`;
}

function targetProblem(context: AgentContext, task: DelegateTask): RunError | null {
  const { agent, retry, contextFiles } = task;
  const { pin } = context;
  for (const id of [agent, ...(retry.alternative ? [retry.alternative] : [])]) {
    const chain = chainBelow(context);
    if (chain.includes(id)) return delegateRefusal("permission", `${[...chain, id].join(" → ")} is a cycle`);
    const ids = pin.targets.map((target) => target.id);
    if (!ids.includes(id)) return delegateRefusal("permission", unreachable(ids, id));
  }
  if (contextFiles.length > 0 && !pin.grant.tools.includes("read")) {
    const named = contextFiles.join(", ");
    return delegateRefusal("permission", `context_files: you cannot read files, so you cannot pass ${named} on`);
  }
  const target = targetOf(context, agent);
  const alternative = targetOf(context, retry.alternative ?? null);
  if (target && alternative && !mayStandIn(alternative, task, target)) {
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

/** Who is asked in another's stead is given what that one was: an expert of one domain must not be given more. */
function mayStandIn(alternative: DelegationTarget, task: DelegateTask, target: DelegationTarget): boolean {
  return alternative.domain === null || contextModeOf(task, target) === "task_only";
}

/** Who is asked when all attempts have failed: the call's word, else the agent's own, as far as it can be reached. */
function alternativeOf(context: AgentContext, task: DelegateTask, target: DelegationTarget): DelegationTarget | null {
  const alternative = targetOf(context, task.retry.alternative ?? target.retry.alternative);
  if (!alternative || chainBelow(context).includes(alternative.id)) return null;
  return mayStandIn(alternative, task, target) ? alternative : null;
}

interface TaskPlace {
  task: DelegateTask;
  call: number;
  item: number;
  after: number[];
}

function planTask(context: AgentContext, { task, call, item, after }: TaskPlace): PlannedTask {
  const target = targetOf(context, task.agent);
  if (!target) throw new Error(`no target ${task.agent}`); // checked before
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
      model: pin.model,
      temperature: pin.temperature,
      parentPrompt: [target, alternative].some((one) => one?.promptFrom === "parent") ? ownPrompt(context) : null,
      workspace: workspaceFor(context, target),
      remainingMs: null,
    },
    ...(alternative ? { alternativeWorkspace: workspaceFor(context, alternative) } : {}),
  };
}

/**
 * Where a child works. All below an isolated run is isolated as well, whatever its file says: the folder is on no disk that
 * has a name. What such a child is given of its parent's files is put in when it is asked.
 */
function workspaceFor({ request }: AgentContext, target: DelegationTarget): RunRequest["workspace"] {
  const { id, path, place, project } = request.workspace;
  const session = { id, path, ...(project === undefined ? {} : { project }) };
  const mode = childModeOf(request, target);
  if (mode === "isolated") return { ...session, mode };
  const there = { ...session, ...(place === undefined ? {} : { place }) };
  return mode === "worktree" ? { ...there, mode } : there;
}

/** How a child of this agent works. */
function childModeOf({ workspace }: RunRequest, { workspace: mode = "shared" }: DelegationTarget): WorkspaceMode {
  return workspace.mode === "isolated" ? "isolated" : mode;
}

/** Whether a child of this agent works in its parent's own folder, so that what it does to files is done there. */
export function sharesFolder(context: Pick<AgentContext, "request" | "pin">, agent: string): boolean {
  const target = context.pin.targets.find(({ id }) => id === agent);
  return target === undefined || childModeOf(context.request, target) === "shared";
}

/** An expert of one domain gets its one message and nothing else. */
function contextModeOf({ contextMode }: DelegateTask, target: DelegationTarget): ContextMode {
  return target.domain === null ? (contextMode ?? target.contextMode) : "task_only";
}

/** The depth comes from above; all else can only be tighter than the child's own. */
function limitsFor({ pin }: AgentContext, { limits }: DelegateTask): RunRequest["limits"] {
  return { ...limits, maxDepth: tighten(pin.limits, limits).maxDepth };
}

/** The words that make this run what it is, handed on to agents that work with their parent's. */
function ownPrompt({ pin, request }: AgentContext): string {
  return pin.definition.promptFrom === "parent" && request.parentPrompt ? request.parentPrompt : pin.definition.prompt;
}

/** What a child's share can be at most, as far as its definition and the call say. */
export function budgetCapOf(context: AgentContext, task: PlannedTask): DelegationTarget["budget"] {
  const target = targetOf(context, task.request.agent);
  const none = { tokens: null, costUsd: null, toolCalls: null, spawns: null };
  // Whoever is asked in its stead may need more: its own definition tightens what it gets.
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

/** Whether a child is to be given what was said so far, in few words. */
export function wantsSummary({ tasks }: BatchPlan): boolean {
  return tasks.some(({ request }) => request.contextMode === "summary");
}

function unreachable(ids: readonly string[], agent: string): string {
  return ids.length === 0
    ? `you cannot delegate to "${agent}": this agent delegates to nobody`
    : `you cannot delegate to "${agent}"; you can to: ${ids.join(", ")}`;
}

function delegateRefusal(type: RunError["type"], message: string): RunError {
  return { ...permanentError(type, message), tool: "delegate" };
}

function refuse(type: RunError["type"], message: string): Planned {
  return { error: delegateRefusal(type, message) };
}
