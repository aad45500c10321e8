import { batchResultOf, batchSucceeded, firstResultOf, type NamedResult, resultOf } from "../../delegation/result.ts";
import { isDelegate } from "../../permissions/grant.ts";
import type { PlannedChild } from "../../protocol/entry.ts";
import { permanentError, type RunError } from "../../protocol/run-error.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import type { RefusedCall } from "../effects.ts";
import type { AgentContext, BatchState, CallState } from "./context.ts";
import { countsOf, identicalCallsRefused, resetAfterProgress } from "./loop-detection.ts";
import { planBatch } from "./plan-batch.ts";
import { detailsIn } from "./result-details.ts";
import { runningTasks } from "./task-ids.ts";
import { toolCallsLeft } from "./turn.ts";

/** The calls of the newest reply. Calls that are refused outright are settled already. */
export function callsOf(context: AgentContext): CallState[] {
  const reply = context.messages.at(-1);
  const toolCalls = reply?.role === "assistant" ? reply.calls : [];
  const left = toolCallsLeft(context);
  const counts = countsOf(context.callCounts, toolCalls);
  // Children requested by an earlier call of the turn count against the later ones.
  let ahead = context;
  return toolCalls.map((toolCall, call) => {
    const begun = beginCall(call, toolCall);
    const state = call < left ? planCall(ahead, begun, counts[call] ?? 1) : refusedCall(begun, overLimit(context));
    ahead = { ...ahead, childrenRequested: ahead.childrenRequested + (state.plan?.tasks.length ?? 0) };
    return state;
  });
}

function planCall(context: AgentContext, state: CallState, count: number): CallState {
  const { call, toolCall } = state;
  if (toolCall.problem) {
    return refusedCall(state, { ...permanentError("params", toolCall.problem), tool: toolCall.name });
  }
  if (count >= identicalCallsRefused) return refusedCall(state, identicalCall(toolCall.name, count));
  if (!isDelegate(toolCall.name)) return state;
  const planned = planBatch(context, call, toolCall);
  if ("error" in planned) return refusedCall(state, planned.error);
  if ("cancel" in planned) return cancelTasks(context, state, planned.cancel);
  return { ...state, plan: planned.plan };
}

function beginCall(call: number, toolCall: ToolCall): CallState {
  return {
    call,
    toolCall,
    phase: "planned",
    approval: null,
    approved: false,
    plan: null,
    stops: [],
    text: null,
    refusal: null,
    isError: false,
  };
}

/** Settles a call with an error, without starting it. */
export function refusedCall(state: CallState, error: RunError): CallState {
  const text = JSON.stringify({ error: { type: error.type, message: error.message } });
  return { ...state, phase: "settled", text, refusal: error, isError: true };
}

function overLimit(context: AgentContext): RunError {
  const { maxToolCalls } = context.pin.limits;
  const isOwn = maxToolCalls - context.usage.toolCalls <= toolCallsLeft(context);
  const which = isOwn ? `${maxToolCalls} tool calls` : "the tool calls that the whole tree may make";
  return permanentError("budget", `not run: the limit of ${which} is reached`);
}

function identicalCall(tool: string, count: number): RunError {
  const message = `not run: ${tool} was asked for ${count} times with the same arguments, and nothing has changed since: do something else, or answer`;
  return { ...permanentError("params", message), tool };
}

/** Settles a delegate call that cancels streaming tasks. It starts no task of its own. */
function cancelTasks(context: AgentContext, state: CallState, handles: readonly string[]): CallState {
  const running = Object.values(context.batches).flatMap(runningTasks);
  const known = new Set(running.map(({ handle }) => handle));
  const unknown = handles.filter((handle) => !known.has(handle));
  if (unknown.length > 0) {
    const names = known.size > 0 ? `running are: ${[...known].join(", ")}` : "none is running";
    const message = `cancel: ${unknown.join(", ")} is not a handle of a running task; ${names}`;
    return refusedCall(state, permanentError("params", message));
  }
  return { ...state, phase: "settled", stops: handles, text: JSON.stringify({ cancelled: handles }) };
}

/** The plan that is journaled before a turn's calls start; null if there are only plain tool calls. */
export function planOf({ calls, step }: Pick<AgentContext, "calls" | "step">) {
  const children = calls.flatMap(({ call, plan }) =>
    (plan?.tasks ?? []).map(({ request, name, after, retry }, item): PlannedChild => {
      const afterNames = after.flatMap((index) => plan?.tasks[index]?.name ?? []);
      const { run, agent, task, contextMode } = request;
      return { call, item, run, agent, task, name, after: afterNames, contextMode, maxAttempts: retry.maxAttempts };
    }),
  );
  const refused = calls.flatMap(({ call, toolCall, refusal: error }): RefusedCall[] =>
    error ? [{ call, tool: toolCall.name, error }] : [],
  );
  return children.length + refused.length === 0 ? null : { step, children, refused };
}

export function withCall(calls: readonly CallState[], index: number, change: Partial<CallState>): CallState[] {
  return calls.map((call) => (call.call === index ? { ...call, ...change } : call));
}

export function settleCall(calls: readonly CallState[], index: number, text: string, isError: boolean): CallState[] {
  return withCall(calls, index, { phase: "settled", text, isError });
}

/** The counts of identical calls once a call has settled. */
export function countsAfterCall(
  { calls, callCounts, pin }: AgentContext,
  call: number,
  isError: boolean,
): AgentContext["callCounts"] {
  const toolCall = calls[call]?.toolCall;
  return toolCall && !isError ? resetAfterProgress(callCounts, toolCall, pin) : callCounts;
}

/** The result of a delegate call as its model reads it: one task, the whole batch, or the first result of a stream. */
export function batchText(batch: BatchState): { text: string; isError: boolean } {
  const { plan } = batch;
  const detailsOf = detailsIn(plan);
  const results = resultsOf(batch);
  const [first] = results;
  if (results.length < plan.tasks.length && first) {
    return {
      text: JSON.stringify(firstResultOf(first, runningTasks(batch), detailsOf)),
      isError: !first.response.success,
    };
  }
  if (!plan.batch && first) {
    return { text: JSON.stringify(resultOf(first.response, detailsOf)), isError: !first.response.success };
  }
  return {
    text: JSON.stringify(batchResultOf(plan.policy, results, detailsOf)),
    isError: !batchSucceeded(plan.policy, results),
  };
}

function resultsOf({ plan, results }: BatchState): NamedResult[] {
  return plan.tasks.flatMap(({ name }, item) => {
    const response = results[item];
    return response ? [{ name, response }] : [];
  });
}

/** Queued tool calls for which a slot is free, in the order of the reply. */
export function startableTools({ calls, pin, paused }: AgentContext): CallState[] {
  if (paused) return [];
  const tools = calls.filter(({ plan }) => plan === null);
  const running = tools.filter(({ phase }) => phase === "running").length;
  return tools.filter(({ phase }) => phase === "queued").slice(0, Math.max(0, pin.limits.maxParallelTools - running));
}

/** The running tool call of this turn at that position; null means that the fact arrived late and is void. */
export function runningTool(context: AgentContext, step: number, call: number): CallState | null {
  const found = step === context.step ? context.calls[call] : undefined;
  return found?.phase === "running" && found.plan === null ? found : null;
}
