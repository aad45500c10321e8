import { randomUUID } from "node:crypto";
import type { RunResponse, RunRow, SessionRow } from "@troupe/core";

const startedAt = new Date(0).toISOString();
const completedAt = new Date(3_400).toISOString();

export function aSession(given: Partial<SessionRow> = {}): SessionRow {
  return {
    session: randomUUID(),
    rootRun: randomUUID(),
    agent: "lead",
    task: "say hello",
    status: "completed",
    origin: "cli",
    demo: false,
    workspace: "/srv/here",
    startedAt,
    completedAt,
    durationMs: given.completedAt === null ? null : 3_400,
    summary: "hello",
    error: null,
    runs: 1,
    runsActive: given.completedAt === null ? 1 : 0,
    totalTokens: 1_234,
    ...given,
  };
}

export function aRun(given: Partial<RunRow> = {}): RunRow {
  return {
    run: randomUUID(),
    session: randomUUID(),
    parentRun: null,
    order: 0,
    agent: "lead",
    depth: 0,
    attempt: 1,
    maxAttempts: 2,
    task: "say hello",
    status: "completed",
    exactStatus: given.status ?? "completed",
    model: null,
    startedAt,
    completedAt,
    durationMs: given.completedAt === null ? null : 3_400,
    iterations: 3,
    maxIterations: 20,
    toolCalls: 2,
    totalTokens: 1_234,
    filesModified: [],
    activity: null,
    summary: null,
    error: null,
    bailoutReason: null,
    warnings: [],
    lastEventAt: completedAt,
    ...given,
  };
}

export function aResponse(given: Partial<RunResponse> = {}): RunResponse {
  const totals = {
    iterations: 3,
    toolCalls: 2,
    inputTokens: 1_000,
    outputTokens: 234,
    totalTokens: 1_234,
    costUsd: null,
  };
  return {
    runId: randomUUID(),
    sessionId: randomUUID(),
    agent: "lead",
    request: "say hello",
    status: "completed",
    success: true,
    summary: "a summary",
    details: "",
    data: null,
    findings: [],
    confidence: null,
    domain: null,
    filesCreated: [],
    filesModified: [],
    artifacts: [],
    testsRun: 0,
    testsPassed: 0,
    warnings: [],
    suggestions: [],
    toolsUsed: [],
    error: null,
    bailoutReason: null,
    metrics: { ...totals, contextSize: 10, durationMs: 3_400, subtree: { ...totals, runs: 2 } },
    ...given,
  };
}
