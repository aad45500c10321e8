import { addCost } from "../../budget/ledger.ts";
import { planSummary } from "../../plan/plan-runner.ts";
import type { Usage } from "../../protocol/model.ts";
import type { BailoutReason, Estimate, RunResponse, Totals } from "../../protocol/response.ts";
import { type Taint, taintField } from "../../protocol/taint.ts";
import { parseJsonAnswer, sectionsOf } from "./answer-sections.ts";
import { chargedSoFar } from "./children.ts";
import { activeMs } from "./clock.ts";
import type { AgentContext, RunOutcome } from "./context.ts";
import { domainResponseOf } from "./domain-answer.ts";
import { testTotals } from "./evidence.ts";
import { withLostCall } from "./lost-call.ts";
import { addTotals } from "./usage.ts";

const summaryCharsMax = 500;
/** The first half of a surrogate pair, left over by a cut. */
const loneHighSurrogate = /[\uD800-\uDBFF]$/;

/** The run's one response: status from the machine, evidence from the runtime, only the prose from the model. */
export function composeResponse(given: AgentContext, outcome: RunOutcome): RunResponse {
  // A run that a crash ends can have a running call.
  const context = given.pin.booksLostCalls ? { ...given, ...withLostCall(given, undefined) } : given;
  const { request, usage } = context;
  const text = lastText(context);
  const details = text || outcome.error?.message || "";
  const own = ownTotals(context);
  const sections = sectionsOf(text);
  const durationMs = Math.max(0, context.lastAt - context.openedAt);
  const answerOnly = answerOnlyReason(context);
  const warnings = [
    ...usage.warnings,
    ...(answerOnly ? [answerOnlyWarning(answerOnly)] : []),
    ...checkWarnings(context, outcome),
    ...sections.warnings,
  ];
  const ofPlan = request.plan ? planSummary(text) : null;
  const data = outputSchemaOf(context) ? (parseJsonAnswer(text) ?? null) : null;
  const response: RunResponse = {
    runId: request.run,
    sessionId: request.session,
    agent: request.agent,
    request: request.task,
    status: outcome.status,
    success: outcome.status === "completed",
    summary: firstParagraph(
      outcome.status === "completed" ? ofPlan || sections.summary || details : (outcome.error?.message ?? details),
    ),
    details,
    data,
    findings: sections.findings,
    confidence: outcome.status === "completed" ? (sections.confidence ?? confidenceIn(data)) : null,
    domain: context.pin.definition.domain,
    filesCreated: usage.filesCreated,
    filesModified: usage.filesModified,
    filesDeleted: usage.filesDeleted,
    artifacts: usage.artifacts,
    ...testTotals(usage.testSuites),
    warnings: [...new Set(warnings)],
    suggestions: sections.suggestions,
    toolsUsed: usage.toolsUsed,
    error: outcome.error,
    bailoutReason: outcome.bailoutReason,
    ...(answerOnly ? { answerOnly } : {}),
    metrics: {
      iterations: own.iterations,
      toolCalls: own.toolCalls,
      inputTokens: own.inputTokens,
      outputTokens: own.outputTokens,
      totalTokens: own.totalTokens,
      costUsd: own.costUsd,
      ...(own.estimated ? { estimated: own.estimated } : {}),
      contextSize: context.contextTokens,
      durationMs,
      subtree: addTotals(own, usage.children),
      charged: chargedSoFar(context),
      waitedMs: Math.max(0, durationMs - activeMs(context)),
    },
    ...taintField(withoutInherited(context)),
  };
  return { ...response, ...domainResponseOf(context, response) };
}

/** The parent knows the characters that were sent before this run. */
function withoutInherited({ usage, request }: AgentContext): Taint {
  const { taint } = usage;
  return { ...taint, sentCharacters: Math.max(0, taint.sentCharacters - (request.taint?.sentCharacters ?? 0)) };
}

/** An answer by schema states its confidence in a field of that name. */
function confidenceIn(data: RunResponse["data"]): number | null {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return null;
  const { confidence } = data;
  return typeof confidence === "number" && confidence >= 0 && confidence <= 1 ? confidence : null;
}

/** The schema that the answer has to fit: the parent's, else the definition's own. */
export function outputSchemaOf({ request, pin }: Pick<AgentContext, "request" | "pin">) {
  return request.outputSchema ?? pin.definition.outputSchema;
}

/** The model's newest text, which may be partial work if a cap ended the run; if it was compacted, the summary of it. */
function lastText({ messages, requestIndex, compacted }: AgentContext): string {
  const own = messages.slice(requestIndex);
  const text = own.findLast((message) => message.role === "assistant" && message.text !== "")?.text;
  return text ?? compacted?.text ?? "";
}

function ownTotals({ step, usage, pin }: AgentContext): Totals {
  const { own, estimated } = usage;
  const inputTokens = own.inputTokens + (estimated?.inputTokens ?? 0);
  const outputTokens = own.outputTokens + (estimated?.outputTokens ?? 0);
  return {
    runs: 1,
    iterations: iterationsOf({ step, pin }),
    toolCalls: usage.toolCalls,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    costUsd: addCost(own.costUsd, estimated ? estimated.costUsd : 0),
    ...(estimated ? { estimated: estimateOf(estimated) } : {}),
  };
}

/** The turns of a run. A domain agent's answer is not one. */
function iterationsOf({ step, pin }: Pick<AgentContext, "step" | "pin">): number {
  return pin.answersByDomain ? Math.min(step, pin.limits.maxIterations) : step;
}

function estimateOf({ inputTokens, outputTokens, costUsd }: Usage): Estimate {
  return { tokens: inputTokens + outputTokens, costUsd };
}

/** The first paragraph, cut at a word boundary if it is too long. */
function firstParagraph(text: string): string {
  const paragraph = text.trim().split(/\n\s*\n/, 1)[0] ?? "";
  if (paragraph.length <= summaryCharsMax) return paragraph;
  const cut = paragraph.slice(0, summaryCharsMax - 1).replace(loneHighSurrogate, "");
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > summaryCharsMax / 2 ? cut.slice(0, lastSpace) : cut}…`;
}

/** The budgets that can leave a run an answer without work, in words. */
const budgetNames: Partial<Record<BailoutReason, string>> = {
  max_tokens: "token budget",
  max_cost: "cost budget",
  max_tool_calls: "budget of tool calls",
};

/** Why the run's last turn had no tools, if a budget is the reason; null for an agent that never has any. */
function answerOnlyReason({ pin, turn }: AgentContext): BailoutReason | null {
  const last = pin.marksLastTurn && pin.tools.length > 0 ? (turn?.last ?? null) : null;
  return last !== null && budgetNames[last] !== undefined ? last : null;
}

/** The user learns of each failed check of a child's result. A run with a result that does not hold never completes. */
function checkWarnings({ checkFailures }: AgentContext, { status }: RunOutcome): string[] {
  const end = status === "completed" ? "; it was mended" : "";
  return checkFailures.map((failure) => `a result did not hold: ${failure}${end}`);
}

function answerOnlyWarning(reason: BailoutReason): string {
  return `the last turn had no tools: what was left of the ${budgetNames[reason]} permitted an answer only`;
}
