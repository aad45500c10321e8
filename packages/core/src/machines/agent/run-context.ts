import type { RunContext } from "../../protocol/intent.ts";
import type { AgentContext } from "./context.ts";
import { callResultsOf, dataOf } from "./domain-answer.ts";
import { isOfThisRun, toolResultsOf } from "./result-placeholders.ts";

const outputCharactersMax = 500;
const resultsMax = 100;

/**
 * The short context of a run: its request, tools, parameters, status, result and notes, and at the end its summary. While
 * the run works, `result` lists the newest results of its calls; afterwards it is the run's answer.
 *
 * @example
 * runContextOf(replayAgent(entries)).status; // "executing"
 */
export function runContextOf(context: AgentContext): RunContext {
  const { intent, response, usage } = context;
  const { status } = intent.context;
  const isSettled = status === "complete" || status === "failed";
  const settled = isSettled ? response : null;
  return {
    ...intent.context,
    params: { ...intent.context.params, ...newestArguments(context) },
    result: settled ? (settled.domainResponse?.result.data ?? settled.data ?? settled.details) : resultsSoFar(context),
    notes: [...new Set([...intent.context.notes, ...turnNotes(context), ...(settled?.warnings ?? usage.warnings)])],
    summary: settled?.summary ?? null,
    risk: intent.risk,
    expectedFormat: intent.expectedFormat,
    successCriteria: intent.successCriteria,
    ...(intent.by === undefined ? {} : { by: intent.by }),
    ...(intent.errorPlan === undefined ? {} : { errorPlan: intent.errorPlan }),
    ...(intent.handler === undefined ? {} : { handler: intent.handler }),
    ...(intent.problem === undefined ? {} : { problem: intent.problem }),
  };
}

function resultsSoFar(context: AgentContext): RunContext["result"] {
  return context.pin.answersByDomain ? dataOf(callResultsOf(context)) : newestResults(context);
}

/** What a handler says about its calls. */
function turnNotes({ intent, messages, requestIndex }: AgentContext): string[] {
  if (intent.handler === undefined) return [];
  const replies = messages.slice(requestIndex).filter((message) => message.role === "assistant");
  return replies.flatMap(({ text, calls }) => (calls.length > 0 && text !== "" ? [text] : []));
}

/** The arguments of the newest call of each tool. */
function newestArguments({ messages, requestIndex }: AgentContext): RunContext["params"] {
  const calls = messages.slice(requestIndex).flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return Object.fromEntries(calls.map(({ name, args }) => [name, args]));
}

function newestResults(context: AgentContext): RunContext["result"] {
  const results = toolResultsOf(context).filter(isOfThisRun).slice(-resultsMax);
  if (results.length === 0) return null;
  return results.map(({ reference, message: { name, text, isError } }) => ({
    reference,
    tool: name,
    ok: !isError,
    output: text.slice(0, outputCharactersMax),
  }));
}
