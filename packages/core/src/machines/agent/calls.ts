import { batchResultOf, batchSucceeded, firstResultOf, type NamedResult, resultOf } from "../../delegation/result.ts";
import { isDelegate } from "../../permissions/grant.ts";
import type { PlannedChild } from "../../protocol/entry.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import type { RefusedCall } from "../effects.ts";
import type { AgentContext, BatchState, CallState } from "./context.ts";
import { countsOf, repeatsRefused } from "./loop-detection.ts";
import { planBatch } from "./plan-batch.ts";
import { permanentError } from "./rules.ts";
import { runningTasks } from "./task-ids.ts";
import { toolCallsLeft } from "./turn.ts";

/** The calls of the newest reply; those that are refused outright are settled already. */
export function callsOf(context: AgentContext): CallState[] {
  const reply = context.messages.at(-1);
  const asked = reply?.role === "assistant" ? reply.calls : [];
  const left = toolCallsLeft(context);
  const counts = countsOf(context.repeats, asked);
  // What an earlier call of the turn asks for is taken by the time a later one is looked at.
  let ahead = context;
  return asked.map((toolCall, call) => {
    const begun = beginCall(call, toolCall);
    const state = call < left ? callOf(ahead, begun, counts[call] ?? 1) : refused(begun, overLimit(context));
    ahead = { ...ahead, childrenAsked: ahead.childrenAsked + (state.plan?.tasks.length ?? 0) };
    return state;
  });
}

function callOf(context: AgentContext, state: CallState, count: number): CallState {
  const { call, toolCall } = state;
  if (toolCall.problem) return refused(state, { ...permanentError("params", toolCall.problem), tool: toolCall.name });
  if (count >= repeatsRefused) return refused(state, repeated(toolCall.name, count));
  if (!isDelegate(toolCall.name)) return state;
  const planned = planBatch(context, call, toolCall);
  if ("error" in planned) return refused(state, planned.error);
  if ("cancel" in planned) return cancelled(context, state, planned.cancel);
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

/** A call that settles with an error and without having been started. */
export function refused(state: CallState, error: RunError): CallState {
  const text = JSON.stringify({ error: { type: error.type, message: error.message } });
  return { ...state, phase: "settled", text, refusal: error, isError: true };
}

function overLimit(context: AgentContext): RunError {
  const { maxToolCalls } = context.pin.limits;
  const isOwn = maxToolCalls - context.tally.toolCalls <= toolCallsLeft(context);
  const which = isOwn ? `${maxToolCalls} tool calls` : "the tool calls that the whole tree may make";
  return permanentError("budget", `not run: the limit of ${which} is reached`);
}

function repeated(tool: string, count: number): RunError {
  const message = `not run: ${tool} was asked for ${count} times with the same arguments, and nothing has changed since: do something else, or answer`;
  return { ...permanentError("params", message), tool };
}

/** Stopping streaming tasks is no task itself: it is answered at once. */
function cancelled(context: AgentContext, state: CallState, handles: readonly string[]): CallState {
  const running = Object.values(context.batches).flatMap(runningTasks);
  const known = new Set(running.map(({ handle }) => handle));
  const unknown = handles.filter((handle) => !known.has(handle));
  if (unknown.length > 0) {
    const names = known.size > 0 ? `running are: ${[...known].join(", ")}` : "none is running";
    return refused(
      state,
      permanentError("params", `cancel: ${unknown.join(", ")} is no handle of a running task; ${names}`),
    );
  }
  return { ...state, phase: "settled", stops: handles, text: JSON.stringify({ cancelled: handles }) };
}

/** What is written down before the calls of a turn start; null where it is but plain calls. */
export function planOf({ calls, step }: Pick<AgentContext, "calls" | "step">) {
  const children = calls.flatMap(({ call, plan }) =>
    (plan?.tasks ?? []).map(({ request, name, after, retry }, item): PlannedChild => {
      const waitsFor = after.flatMap((place) => plan?.tasks[place]?.name ?? []);
      const { run, agent, task, contextMode } = request;
      return { call, item, run, agent, task, name, after: waitsFor, contextMode, maxAttempts: retry.maxAttempts };
    }),
  );
  const refusedCalls = calls.flatMap(({ call, toolCall, refusal: error }): RefusedCall[] =>
    error ? [{ call, tool: toolCall.name, error }] : [],
  );
  return children.length + refusedCalls.length === 0 ? null : { step, children, refused: refusedCalls };
}

export function withCall(calls: readonly CallState[], index: number, change: Partial<CallState>): CallState[] {
  return calls.map((call) => (call.call === index ? { ...call, ...change } : call));
}

export function settleCall(calls: readonly CallState[], index: number, text: string, isError: boolean): CallState[] {
  return withCall(calls, index, { phase: "settled", text, isError });
}

/** What the model reads of a delegate call: of one task, of all, or of the first where the others stream. */
export function batchText(batch: BatchState): { text: string; isError: boolean } {
  const { plan } = batch;
  const results = resultsOf(batch);
  const [first] = results;
  if (results.length < plan.tasks.length && first) {
    return { text: JSON.stringify(firstResultOf(first, runningTasks(batch))), isError: !first.response.success };
  }
  if (!plan.batch && first) return { text: JSON.stringify(resultOf(first.response)), isError: !first.response.success };
  return { text: JSON.stringify(batchResultOf(plan.policy, results)), isError: !batchSucceeded(plan.policy, results) };
}

function resultsOf({ plan, results }: BatchState): NamedResult[] {
  return plan.tasks.flatMap(({ name }, item) => {
    const response = results[item];
    return response ? [{ name, response }] : [];
  });
}

/** Tools that wait for nothing but a place among those that run, in the order in which the model asked for them. */
export function startableTools({ calls, pin, paused }: AgentContext): CallState[] {
  if (paused) return [];
  const tools = calls.filter(({ plan }) => plan === null);
  const running = tools.filter(({ phase }) => phase === "running").length;
  return tools.filter(({ phase }) => phase === "queued").slice(0, Math.max(0, pin.limits.maxParallelTools - running));
}

/** The tool call of this turn that runs at that place; a fact about any other is late, and void. */
export function runningTool(context: AgentContext, step: number, call: number): CallState | null {
  const found = step === context.step ? context.calls[call] : undefined;
  return found?.phase === "running" && found.plan === null ? found : null;
}
