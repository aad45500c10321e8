import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse, RunStatus } from "../protocol/response.ts";
import type { RunError } from "../protocol/run-error.ts";

/** The response of a run that never began: its parent gives it, so that every child settles. */
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
