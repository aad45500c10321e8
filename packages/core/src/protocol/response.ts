import { z } from "zod";
import { Spent } from "./budget.ts";
import { DomainResponse } from "./domain-response.ts";
import { Id, Token } from "./ids.ts";
import { Json } from "./json.ts";
import type { RunRequest } from "./request.ts";
import { RunError } from "./run-error.ts";
import { Taint } from "./taint.ts";

/** Status of an ended run. The machine decides it, never a model's text. */
export const RunStatus = z.enum(["completed", "failed", "cancelled", "timeout", "rejected", "bailed_out"]);
export type RunStatus = z.infer<typeof RunStatus>;

/** The cap that ended a run early. */
export const BailoutReason = z.enum([
  "max_iterations",
  "max_tool_calls",
  "max_tokens",
  "max_cost",
  "max_context",
  "timeout",
  "repeated_calls",
]);
export type BailoutReason = z.infer<typeof BailoutReason>;

/** The part of a sum that is an estimate, because model calls were stopped or lost. `costUsd` is null for an unknown price. */
export const Estimate = z.object({ tokens: z.int().nonnegative(), costUsd: z.number().nonnegative().nullable() });
export type Estimate = z.infer<typeof Estimate>;

/** Sums over a run, or over a run and all runs below it. */
export const Totals = z.object({
  runs: z.int().nonnegative(),
  iterations: z.int().nonnegative(),
  toolCalls: z.int().nonnegative(),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
  /** Absent if all tokens and cost are as the providers reported them. */
  estimated: Estimate.exactOptional(),
});
export type Totals = z.infer<typeof Totals>;

export const Metrics = Totals.omit({ runs: true }).extend({
  /** Estimated tokens of the conversation at its end. */
  contextSize: z.int().nonnegative(),
  durationMs: z.number().nonnegative(),
  /** This run and all runs below it. */
  subtree: Totals,
  /** Charge to the parent's budget: usage of the subtree, and reserves of calls whose outcome was lost. */
  charged: Spent.prefault({ tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 }),
  /** Time in which the run waited for people. It counts against no cap. */
  waitedMs: z.number().nonnegative().default(0),
});
export type Metrics = z.infer<typeof Metrics>;

/** Counts of the newest run of a test suite. Calls of one tool with equal arguments run the same suite. */
export const TestSuite = z.object({
  suite: z.string(),
  run: z.int().nonnegative(),
  passed: z.int().nonnegative(),
});
export type TestSuite = z.infer<typeof TestSuite>;

/** The response of a run. Every run ends with one, also after a failure. */
export const RunResponse = z.object({
  runId: Id,
  sessionId: Id,
  agent: Token,
  /** The task of the request. */
  request: z.string(),
  status: RunStatus,
  /** Whether `status` is `completed`. */
  success: z.boolean(),
  summary: z.string().max(500),
  details: z.string(),
  data: Json,
  findings: z.array(z.string()),
  /**
   * Confidence of the model that its result is right, as it says itself: below the heading `Confidence` of its answer, or in
   * the field `confidence` of an answer by schema. Null if it does not say, and for a run that did not complete.
   */
  confidence: z.number().min(0).max(1).nullable(),
  domain: z.string().nullable(),
  filesCreated: z.array(z.string()),
  filesModified: z.array(z.string()),
  filesDeleted: z.array(z.string()).default([]),
  artifacts: z.array(z.object({ name: z.string(), ref: z.string() })),
  /** Sum over the newest run of each suite. */
  testsRun: z.int().nonnegative(),
  testsPassed: z.int().nonnegative(),
  /** The suites in these sums. */
  testSuites: z.array(TestSuite).default([]),
  warnings: z.array(z.string()),
  suggestions: z.array(z.string()),
  toolsUsed: z.array(z.string()),
  error: RunError.nullable(),
  bailoutReason: BailoutReason.nullable(),
  /** The limit because of which the last turn had no tools: what was left permitted an answer only. Absent: none. */
  answerOnly: BailoutReason.exactOptional(),
  metrics: Metrics,
  /** Untrusted and private sources that the run and all runs below it have read. Absent: none. */
  taint: Taint.exactOptional(),
  /** The response in the shape of domain agents. Absent: the agent has no domain, or an earlier version ran it. */
  domainResponse: DomainResponse.exactOptional(),
});
export type RunResponse = z.infer<typeof RunResponse>;

/** A response with the field names of the delegation tool, for the parent's model. */
export function toDelegationResult(response: RunResponse): Record<string, z.infer<ReturnType<typeof z.json>>> {
  if (response.domainResponse) return { status: response.status, ...response.domainResponse };
  return {
    status: response.status,
    summary: response.summary,
    details: response.details,
    files_modified: response.filesModified,
    files_created: response.filesCreated,
    ...(response.filesDeleted.length > 0 ? { files_deleted: response.filesDeleted } : {}),
    tests_run: response.testsRun,
    tests_passed: response.testsPassed,
    warnings: response.warnings,
    suggestions: response.suggestions,
    iteration_count: response.metrics.iterations,
    duration_ms: response.metrics.durationMs,
    ...(response.confidence === null ? {} : { confidence: response.confidence }),
    ...(response.artifacts.length > 0 ? { artifacts: response.artifacts } : {}),
    ...(response.error ? { error: toSnakeCase(response.error) } : {}),
    ...(response.bailoutReason ? { bailout_reason: response.bailoutReason } : {}),
  };
}

function toSnakeCase({ retryAfterMs, ...error }: RunError): Record<string, string | number | boolean | null> {
  return { ...error, retry_after_ms: retryAfterMs };
}

/** The response of a run that never started. Its parent composes it, so that every child settles. */
export function notStartedResponse(request: RunRequest, status: RunStatus, error: RunError): RunResponse {
  const nothing = { inputTokens: 0, outputTokens: 0, totalTokens: 0, toolCalls: 0, iterations: 0, costUsd: 0 };
  return {
    runId: request.run,
    sessionId: request.session,
    agent: request.agent,
    request: request.task,
    status,
    success: false,
    summary: error.message.slice(0, 500),
    details: error.message,
    data: null,
    findings: [],
    confidence: null,
    domain: null,
    filesCreated: [],
    filesModified: [],
    filesDeleted: [],
    artifacts: [],
    testsRun: 0,
    testsPassed: 0,
    testSuites: [],
    warnings: [],
    suggestions: [],
    toolsUsed: [],
    error,
    bailoutReason: null,
    metrics: {
      ...nothing,
      contextSize: 0,
      durationMs: 0,
      subtree: { ...nothing, runs: 0 },
      charged: { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 },
      waitedMs: 0,
    },
  };
}
