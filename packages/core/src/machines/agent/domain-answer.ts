import type { HandledAnswer, HandledResult } from "../../ports/request-handler.ts";
import { type DomainError, DomainErrorType, type DomainResponse } from "../../protocol/domain-response.ts";
import type { Json } from "../../protocol/json.ts";
import type { RunResponse } from "../../protocol/response.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { HandledTurn } from "../effects.ts";
import { extraSectionsOf } from "./answer-sections.ts";
import type { AgentContext } from "./context.ts";
import { isOfThisRun, toolResultsOf } from "./result-placeholders.ts";
import { turnsMax } from "./turn.ts";

/** The answers of domain agents: their text, and the one shape in which a parent reads them. */

/** The response of a run in the shape of its domain. Absent for an agent without a domain. */
export function domainResponseOf(
  context: AgentContext,
  response: RunResponse,
): { domainResponse: DomainResponse } | Record<never, never> {
  const { domain } = context.pin.definition;
  if (!context.pin.answersByDomain || domain === null) return {};
  const results = callResultsOf(context);
  const error = errorOf(context, response, results);
  const { assumptions, missing } = extraSectionsOf(response.details);
  const domainResponse: DomainResponse = {
    success: response.success && error === null,
    domain,
    request: response.request,
    result: {
      data: dataOf(results),
      summary: response.summary,
      tools_used: response.toolsUsed,
      execution_time: response.metrics.durationMs / 1_000,
    },
    confidence: error === null ? response.confidence : null,
    assumptions,
    missing,
    ...(error ? { error } : {}),
  };
  return { domainResponse };
}

/** The turn of a handler; empty for a run whose model decides the calls. */
export function handledInput(context: AgentContext): { handled: HandledTurn } | Record<never, never> {
  if (context.intent.handler === undefined) return {};
  const turnsLeft = context.turn?.last === null ? turnsMax(context.pin) - context.step : 0;
  return { handled: { intent: context.intent, results: callResultsOf(context), turnsLeft } };
}

/**
 * The text of a handler's answer, in the sections that every domain agent writes.
 *
 * @example
 * answerText({ summary: "Two mails.", details: "", assumptions: [], missing: [], confidence: 1 });
 * // "Two mails.\n\n## Confidence\n1"
 */
export function answerText({ summary, details, assumptions, missing, confidence }: HandledAnswer): string {
  const list = (heading: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`## ${heading}\n${items.map((item) => `- ${item}`).join("\n")}`];
  return [
    summary,
    ...(details === "" ? [] : [details]),
    ...list("Assumptions", assumptions),
    ...list("Missing", missing),
    `## Confidence\n${confidence}`,
  ].join("\n\n");
}

/** The results of the run's own calls, oldest first. */
export function callResultsOf(context: Pick<AgentContext, "messages" | "lastReplyStep" | "requestIndex">) {
  const args = new Map<string, Json>();
  for (const message of context.messages.slice(context.requestIndex)) {
    if (message.role === "assistant") for (const call of message.calls) args.set(call.id, call.args);
  }
  return toolResultsOf(context)
    .filter(isOfThisRun)
    .map(({ message: { name, callId, text, isError } }): HandledResult => {
      return { tool: name, args: args.get(callId) ?? null, ok: !isError, output: parsed(text), text };
    });
}

/** The outputs of all calls that succeeded, joined. The newest wins. Null if none succeeded. */
export function dataOf(results: readonly HandledResult[]): Json {
  const outputs = results.filter(({ ok }) => ok);
  if (outputs.length === 0) return null;
  return Object.assign({}, ...outputs.map(({ tool, output }) => (isObject(output) ? output : { [tool]: output })));
}

/** Why the request failed; null if it did not. A run whose calls all failed has done nothing, whatever its text says. */
function errorOf(
  { intent }: AgentContext,
  { success, error }: RunResponse,
  results: readonly HandledResult[],
): DomainError | null {
  const failed = results.findLast(({ ok }) => !ok);
  const hasNothing = failed !== undefined && results.every(({ ok }) => !ok);
  if (success && !hasNothing) return null;
  const tool = error?.tool ?? failed?.tool ?? intent.context.tools[0] ?? "";
  if (error && !(success && failed)) return { ...typed(error), tool };
  return failed ? { ...errorIn(failed), tool: failed.tool } : { ...unknownError, tool };
}

const unknownError = { type: "tool_error" as const, message: "the run ended without a result", recoverable: false };

/** The six types of domain agents. Every other type is the tool's, or the run's, own. */
function typed({ type, message, recoverable, retryAfterMs }: RunError): Omit<DomainError, "tool"> {
  const known = DomainErrorType.safeParse(type);
  return {
    type: known.success ? known.data : "tool_error",
    message,
    recoverable,
    ...(retryAfterMs === null ? {} : { retryAfter: retryAfterMs / 1_000 }),
  };
}

/** The error in the output of a failed call: an object of JSON, or a text that begins with its type. */
function errorIn({ output, text }: HandledResult): Omit<DomainError, "tool"> {
  const error = isObject(output) && isObject(output.error) ? output.error : {};
  const [, prefix = "", rest = text] = /^([a-z_]+): ([\s\S]*)$/.exec(text) ?? [];
  const type = DomainErrorType.safeParse(error.type ?? prefix).data ?? "tool_error";
  const { message, retry_after: retryAfter } = error;
  return {
    type,
    message: typeof message === "string" ? message : rest,
    recoverable: type === "auth" || type === "rate_limit" || type === "network",
    ...(typeof retryAfter === "number" && retryAfter >= 0 ? { retryAfter } : {}),
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
