import type { RunResponse, Totals } from "../../protocol/response.ts";
import { parseJsonAnswer, sectionsOf } from "./answer-sections.ts";
import { chargedSoFar } from "./children.ts";
import { activeMs } from "./clock.ts";
import type { AgentContext, RunOutcome } from "./context.ts";
import { testsOf } from "./evidence.ts";
import { addTotals } from "./usage.ts";

const summaryCharsMax = 500;
/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/** The run's one response: status from the machine, evidence from the tally, only the prose from the model. */
export function composeResponse(context: AgentContext, verdict: RunOutcome): RunResponse {
  const { request, tally } = context;
  const text = lastText(context);
  const details = text || verdict.error?.message || "";
  const own = ownTotals(context);
  const sections = sectionsOf(text);
  const durationMs = Math.max(0, context.lastAt - context.openedAt);
  return {
    runId: request.run,
    sessionId: request.session,
    agent: request.agent,
    request: request.task,
    status: verdict.status,
    success: verdict.status === "completed",
    summary: summarise(
      verdict.status === "completed" ? sections.summary || details : (verdict.error?.message ?? details),
    ),
    details,
    data: outputSchemaOf(context) ? (parseJsonAnswer(text) ?? null) : null,
    findings: sections.findings,
    confidence: null,
    domain: context.pin.definition.domain,
    filesCreated: tally.filesCreated,
    filesModified: tally.filesModified,
    filesDeleted: tally.filesDeleted,
    artifacts: tally.artifacts,
    ...testsOf(tally.testSuites),
    warnings: [...new Set([...tally.warnings, ...sections.warnings])],
    suggestions: sections.suggestions,
    toolsUsed: tally.toolsUsed,
    error: verdict.error,
    bailoutReason: verdict.bailoutReason,
    metrics: {
      iterations: own.iterations,
      toolCalls: own.toolCalls,
      inputTokens: own.inputTokens,
      outputTokens: own.outputTokens,
      totalTokens: own.totalTokens,
      costUsd: own.costUsd,
      contextSize: context.contextTokens,
      durationMs,
      subtree: addTotals(own, tally.children),
      charged: chargedSoFar(context),
      waitedMs: Math.max(0, durationMs - activeMs(context)),
    },
  };
}

/** What the answer has to fit: what its parent asks for, else what its own definition does. */
export function outputSchemaOf({ request, pin }: Pick<AgentContext, "request" | "pin">) {
  return request.outputSchema ?? pin.definition.outputSchema;
}

/**
 * The newest words of the model: with a cap hit in mid-turn, that is what was achieved so far. Where those gave way to a
 * summary, that.
 */
function lastText({ messages, requestAt, compacted }: AgentContext): string {
  const own = messages.slice(requestAt);
  const said = own.findLast((message) => message.role === "assistant" && message.text !== "")?.text;
  return said ?? compacted?.text ?? "";
}

function ownTotals({ step, tally }: AgentContext): Totals {
  const { inputTokens, outputTokens, costUsd } = tally.usage;
  return {
    runs: 1,
    iterations: step,
    toolCalls: tally.toolCalls,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    costUsd,
  };
}

/** The first paragraph, cut at a word where it is too long. */
function summarise(text: string): string {
  const paragraph = text.trim().split(/\n\s*\n/, 1)[0] ?? "";
  if (paragraph.length <= summaryCharsMax) return paragraph;
  const cut = paragraph.slice(0, summaryCharsMax - 1).replace(halfCharacter, "");
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > summaryCharsMax / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
