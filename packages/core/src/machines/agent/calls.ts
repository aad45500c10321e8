import { isDelegate } from "../../permissions/grant.ts";
import type { AgentContext, CallState } from "./context.ts";
import { planDelegation } from "./delegate.ts";

/** The calls of the newest reply; those over the tool-call cap, and those refused outright, are settled already. */
export function callsOf(context: AgentContext): CallState[] {
  const reply = context.messages.at(-1);
  const asked = reply?.role === "assistant" ? reply.calls : [];
  const left = context.pin.limits.maxToolCalls - context.tally.toolCalls;
  return asked.map((toolCall, call) => {
    const queued: CallState = { call, toolCall, phase: "queued", attempts: 0, text: null, isError: false };
    if (call >= left) {
      return refused(queued, `not run: the limit of ${context.pin.limits.maxToolCalls} tool calls is reached`);
    }
    if (!isDelegate(toolCall.name)) return queued;
    const plan = planDelegation(context, call, toolCall);
    return "error" in plan ? refused(queued, plan.error.message) : queued;
  });
}

/** A call that settles with an error and without having been started. */
export function refused(call: CallState, text: string): CallState {
  return { ...call, phase: "settled", text, isError: true };
}

export function settleCall(calls: readonly CallState[], index: number, text: string, isError: boolean): CallState[] {
  return calls.map((call) => (call.call === index ? { ...call, phase: "settled", text, isError } : call));
}

/** Queued calls that fit under the caps now, in the order in which the model made them. */
export function startable(context: AgentContext): CallState[] {
  const { maxParallelTools, maxConcurrent } = context.pin.limits;
  const isChild = (call: CallState): boolean => isDelegate(call.toolCall.name);
  const running = context.calls.filter((call) => call.phase === "running");
  const children = running.filter(isChild).length;
  const queued = context.calls.filter((call) => call.phase === "queued");
  return [
    ...queued.filter(isChild).slice(0, Math.max(0, maxConcurrent - children)),
    ...queued.filter((call) => !isChild(call)).slice(0, Math.max(0, maxParallelTools - (running.length - children))),
  ];
}

/** The tool call of this turn that runs at that place; a fact about any other is late, and void. */
export function runningTool(context: AgentContext, step: number, call: number): CallState | null {
  const found = runningCall(context, step, call);
  return found && !isDelegate(found.toolCall.name) ? found : null;
}

/** The same for a delegation, whose actor exists exactly as long. */
export function runningChild(context: AgentContext, step: number, call: number): CallState | null {
  const found = runningCall(context, step, call);
  return found && isDelegate(found.toolCall.name) ? found : null;
}

function runningCall(context: AgentContext, step: number, call: number): CallState | null {
  const found = step === context.step ? context.calls[call] : undefined;
  return found?.phase === "running" ? found : null;
}
