import { z } from "zod";
import { Spent } from "./budget.ts";
import { Id, Token } from "./ids.ts";
import { Json } from "./json.ts";
import { RunError } from "./run-error.ts";

/** How a run ended. It comes from the machine, never from a model's text. */
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

/** Sums over a run, or over a run and all below it. */
export const Totals = z.object({
  runs: z.int().nonnegative(),
  iterations: z.int().nonnegative(),
  toolCalls: z.int().nonnegative(),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
});
export type Totals = z.infer<typeof Totals>;

export const Metrics = Totals.omit({ runs: true }).extend({
  /** Estimated tokens of the conversation at its end. */
  contextSize: z.int().nonnegative(),
  durationMs: z.number().nonnegative(),
  /** This run and all runs below it. */
  subtree: Totals,
  /** What the subtree takes from the budget of whoever asked: use, and reserves of calls whose outcome was lost. */
  charged: Spent.prefault({ tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 }),
  /** Time in which the run waited for people, which counts against no cap. */
  waitedMs: z.number().nonnegative().default(0),
});
export type Metrics = z.infer<typeof Metrics>;

/** What the newest run of some tests said. Calls of one tool with the same arguments are about the same suite. */
export const TestSuite = z.object({
  suite: z.string(),
  run: z.int().nonnegative(),
  passed: z.int().nonnegative(),
});
export type TestSuite = z.infer<typeof TestSuite>;

/** The one response of a run: every agent answers in this shape, whatever happened. */
export const RunResponse = z.object({
  runId: Id,
  sessionId: Id,
  agent: Token,
  /** The task, as it was asked. */
  request: z.string(),
  status: RunStatus,
  /** Derived: whether `status` is `completed`. */
  success: z.boolean(),
  summary: z.string().max(500),
  details: z.string(),
  data: Json,
  findings: z.array(z.string()),
  confidence: z.number().min(0).max(1).nullable(),
  domain: z.string().nullable(),
  filesCreated: z.array(z.string()),
  filesModified: z.array(z.string()),
  filesDeleted: z.array(z.string()).default([]),
  artifacts: z.array(z.object({ name: z.string(), ref: z.string() })),
  /** Of the newest run of each suite: run again, a suite takes the place of what it said before. */
  testsRun: z.int().nonnegative(),
  testsPassed: z.int().nonnegative(),
  /** The suites that these are the sums of. */
  testSuites: z.array(TestSuite).default([]),
  warnings: z.array(z.string()),
  suggestions: z.array(z.string()),
  toolsUsed: z.array(z.string()),
  error: RunError.nullable(),
  bailoutReason: BailoutReason.nullable(),
  metrics: Metrics,
});
export type RunResponse = z.infer<typeof RunResponse>;

/** What a parent's model reads of a child: the same facts in the words of the delegation tool. */
export function toDelegationResult(response: RunResponse): Record<string, z.infer<ReturnType<typeof z.json>>> {
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
    ...(response.artifacts.length > 0 ? { artifacts: response.artifacts } : {}),
    ...(response.error ? { error: toSnakeCase(response.error) } : {}),
    ...(response.bailoutReason ? { bailout_reason: response.bailoutReason } : {}),
  };
}

function toSnakeCase({ retryAfterMs, ...error }: RunError): Record<string, string | number | boolean | null> {
  return { ...error, retry_after_ms: retryAfterMs };
}
