import { type HandledRequest, type ModelReply, type RequestHandler, RunFailure } from "@troupe/core";
import { answerText, type HandledTurn, Intent } from "@troupe/core/internal";
import type { EffectScope } from "./effect.ts";

/** Requests whose calls a handler decides, in the place of a model. */

/**
 * The intent of a request by the agent's handler. Null if the handler has no pattern for it; a string if this host cannot
 * ask the handler, with the reason.
 */
export async function assessByHandler(
  direct: Intent,
  name: string,
  scope: EffectScope,
): Promise<Intent | string | null> {
  const handler = scope.deps.handlers?.get(name);
  if (!handler) return missingHandler(name, scope);
  const assessed = await handler.assess(requestOf(scope));
  if (!assessed) return null;
  const { tools, params, risk, expectedFormat, successCriteria, errorPlan, notes, problem } = assessed;
  return Intent.parse({
    context: { ...direct.context, tools, params, notes: [...direct.context.notes, ...notes] },
    expectedFormat,
    successCriteria,
    risk,
    by: "patterns",
    errorPlan,
    handler: name,
    ...(problem ? { problem } : {}),
  });
}

/** The reply of a handler: its next calls or its answer. Throws a `RunFailure` if the request cannot be carried out. */
export async function handledReply(turn: HandledTurn, step: number, scope: EffectScope): Promise<ModelReply> {
  const { intent, results, turnsLeft } = turn;
  if (intent.problem) throw new RunFailure(intent.problem);
  const next = await handlerOf(intent, scope).next({ request: requestOf(scope), intent, results, turnsLeft });
  if (next.kind === "failure") throw new RunFailure(next.error);
  const isAnswer = next.kind === "answer";
  const calls = isAnswer ? [] : next.calls;
  return {
    text: isAnswer ? answerText(next.answer) : next.note,
    calls: calls.map(({ tool, args }, index) => ({ id: `call-${step}-${index}`, name: tool, args, problem: null })),
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 },
    stopReason: isAnswer ? "end" : "tool_calls",
    model: `handler/${intent.handler}`,
  };
}

function requestOf({ request, pin, openedAt }: EffectScope): HandledRequest {
  const { task, userId, session, run } = request;
  const tools = pin.tools.map(({ name }) => name);
  const agents = pin.targets.map(({ id }) => id);
  // The same time in every turn: "tomorrow" keeps its meaning in a run that goes on after midnight.
  return { task, userId, session, run, nowMs: openedAt, tools, agents };
}

function handlerOf({ handler: name = "" }: Intent, scope: EffectScope): RequestHandler {
  const handler = scope.deps.handlers?.get(name);
  if (handler) return handler;
  // Another host has assessed the request.
  throw new RunFailure({ type: "tool_error", message: missingHandler(name, scope), recoverable: false });
}

function missingHandler(name: string, { deps }: EffectScope): string {
  const known = [...(deps.handlers?.keys() ?? [])].join(", ") || "none";
  return `this host has no handler ${JSON.stringify(name)} (it has: ${known}): start every host with the same handlers`;
}
