import { isDelegate } from "../../../permissions/grant.ts";
import { releases } from "../../../protocol/approval.ts";
import { permanentError } from "../../../protocol/run-error.ts";
import { taintField } from "../../../protocol/taint.ts";
import {
  callsOf,
  countsAfterCall,
  planOf,
  refusedCall,
  runningTool,
  settleCall,
  startableTools,
  withCall,
} from "../calls.ts";
import type { AgentContext, CallState } from "../context.ts";
import { withMessages } from "../conversation.ts";
import { answeredCall } from "../events.ts";
import { wantsSummary } from "../plan-batch.ts";
import { toolActor } from "../task-ids.ts";
import { addOutcome, addToolCalls } from "../usage.ts";
import { agentBase, type Guard } from "./base.ts";

/** The calls of a turn: their plan, tool calls, approvals of single calls, and results. */

export const toolGuards = {
  needsPlan: ({ context }) => planOf(context) !== null,
  /** Whether the summary that some children need is there. */
  canStartCalls: ({ context }) =>
    context.summary?.step === context.step || !context.calls.some(({ plan }) => plan !== null && wantsSummary(plan)),
  allCallsSettled: ({ context }) => context.calls.every(({ phase }) => phase === "settled"),
  isRunningTool: ({ context, event }) =>
    (event.type === "tool.finished" || event.type === "approval.requested") &&
    runningTool(context, event.step, event.call) !== null,
  isCallAnswer: ({ context, event }) => answeredCall(context, event) !== null,
} satisfies Record<string, Guard>;

export const toolActions = {
  prepareCalls: agentBase.assign(({ context }) => {
    const calls = callsOf(context);
    const count = calls.filter(({ refusal }) => refusal?.type !== "budget").length;
    return { calls, usage: addToolCalls(context.usage, count) };
  }),
  recordPlan: agentBase.assign(({ context }) => ({ plannedStep: context.step })),
  startTools: agentBase.enqueueActions(({ context, enqueue }) => {
    const { step, request, allowedTools, allowances } = context;
    let calls = context.calls;
    for (const { call, toolCall, approved, asked } of startableTools(context)) {
      const isAllowed = approved || allowedTools.includes(toolCall.name);
      const taint = taintField(context.usage.taint);
      const input = {
        kind: "callTool" as const,
        run: request.run,
        step,
        call,
        toolCall,
        approved: isAllowed,
        ...(asked ? { approval: asked } : {}),
        ...(allowances.length > 0 ? { allowances } : {}),
        ...taint,
      };
      enqueue.spawnChild("callTool", { id: toolActor({ step, call }), input });
      calls = withCall(calls, call, { phase: "running" });
    }
    enqueue.assign({ calls });
  }),
  storeToolOutcome: agentBase.enqueueActions(({ context, event, enqueue }) => {
    if (event.type !== "tool.finished") return;
    const { step, call, outcome } = event;
    const finished = runningTool(context, step, call);
    if (!finished) return;
    const isError = outcome.error !== null || outcome.inDoubt;
    enqueue.assign({
      usage: addOutcome(context.usage, finished.toolCall, outcome),
      calls: settleCall(context.calls, call, outcome.output, isError),
      callCounts: countsAfterCall(context, call, isError),
    });
    enqueue.stopChild(toolActor({ step, call }));
  }),
  /** Stops the call until a person answers; it starts anew if it is allowed. */
  holdCall: agentBase.enqueueActions(({ context, event, enqueue }) => {
    if (event.type !== "approval.requested") return;
    const { call, approval } = event;
    const { id, tool, risk, covers, losses, bound } = approval;
    const reach = tool !== null && covers !== undefined ? { reach: { tool, risk, covers } } : {};
    const asked = { id, ...(losses ? { losses } : {}), ...(bound ? { bound } : {}) };
    // A call that was allowed before is asked about again if its files have changed since.
    const waiting = { phase: "waiting" as const, approval: id, approved: false, asked, ...reach };
    enqueue.assign({ calls: withCall(context.calls, call, waiting) });
    enqueue.stopChild(toolActor({ step: context.step, call }));
  }),
  /** An approval for the rest of the run also releases other waiting calls that it covers. */
  applyCallAnswer: agentBase.assign(({ context, event }) => {
    const answered = answeredCall(context, event);
    if (!answered || event.type !== "inbox.received" || event.item.kind !== "approval.answered") return {};
    const { approved, scope, reason, by } = event.item;
    if (!approved) {
      const tool = answered.toolCall.name;
      const message = `denied by ${by}${reason ? `: ${reason}` : ""}`;
      const denied = refusedCall(answered, { ...permanentError("permission", message), tool });
      return { calls: withCall(context.calls, answered.call, denied) };
    }
    const isReleased = (state: CallState): boolean =>
      state.call === answered.call ||
      (scope === "run" && state.phase === "waiting" && releases(waitingCall(answered), waitingCall(state)));
    return {
      calls: context.calls.map((state) =>
        isReleased(state) ? { ...state, phase: "queued" as const, approved: true } : state,
      ),
      ...(scope === "run" ? allowedForRun(context, answered) : {}),
    };
  }),
  appendToolResults: agentBase.assign(({ context }) =>
    withMessages(
      context,
      context.calls.map(({ toolCall, text, isError }) => ({
        role: "tool" as const,
        callId: toolCall.id,
        name: toolCall.name,
        text: text ?? "",
        isError,
      })),
    ),
  ),
  stopTools: agentBase.enqueueActions(({ context, enqueue }) => {
    const { step } = context;
    for (const { call, toolCall, phase } of context.calls) {
      if (phase === "running" && !isDelegate(toolCall.name)) enqueue.stopChild(toolActor({ step, call }));
    }
    enqueue.assign({ calls: [], readyTasks: [] });
  }),
};

function waitingCall({ toolCall, reach }: CallState) {
  return { tool: toolCall.name, ...(reach ? { reach } : {}) };
}

/** Requests of earlier versions do not say what they cover: they cover the tool. */
function allowedForRun({ allowedTools, allowances }: AgentContext, { toolCall, reach }: CallState) {
  return reach ? { allowances: [...allowances, reach] } : { allowedTools: [...allowedTools, toolCall.name] };
}
