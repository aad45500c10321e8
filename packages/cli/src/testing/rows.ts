import { randomUUID } from "node:crypto";
import type { ApprovalRow, ChangeRow, HostRow, RunResponse, RunRow, SessionRow } from "@troupe/core";
import {
  type ApprovalRule,
  Metrics,
  sampleApproval,
  sampleChange,
  sampleHost,
  sampleRule,
  sampleRun,
  sampleSession,
} from "@troupe/core/internal";

const startedAt = new Date(0).toISOString();
const completedAt = new Date(3_400).toISOString();
const ended = { status: "completed", startedAt, completedAt, totalTokens: 1_234 } as const;

/** A session of one run that has completed. With \`completedAt: null\` it is at work. */
export function aSession(given: Partial<SessionRow> = {}): SessionRow {
  const ids = { session: randomUUID(), rootRun: randomUUID() };
  const words = { agent: "lead", task: "say hello", summary: "hello", origin: "cli", workspace: "/srv/here" } as const;
  const isActive = given.completedAt === null;
  const rest = { durationMs: isActive ? null : 3_400, runsActive: isActive ? 1 : 0 };
  return sampleSession({ ...ids, ...words, ...ended, ...rest, ...given });
}

/** A question that waits for a person. */
export function anApproval(given: Partial<ApprovalRow> = {}): ApprovalRow {
  const ids = { id: randomUUID(), session: randomUUID(), run: randomUUID() };
  const asked = { args: { command: "rm -rf build" }, reason: "it runs a command on this machine" };
  const requestedAt = new Date(1_000).toISOString();
  return sampleApproval({ ...ids, path: ["lead", "coder"], ...asked, requestedAt, ...given });
}

export function aRule(given: Partial<ApprovalRule> = {}): ApprovalRule {
  const fits = { argsHash: "0f", args: { command: "npm test" }, workspace: "/srv/here", agent: "coder" };
  return sampleRule({ id: randomUUID(), ...fits, createdAt: startedAt, by: "ada", ...given });
}

export function aChange(given: Partial<ChangeRow> = {}): ChangeRow {
  const diff = "@@ -1,2 +1,2 @@\n export const sum = (a, b) =>\n-  a - b;\n+  a + b;\n";
  const ids = { session: randomUUID(), run: randomUUID() };
  return sampleChange({ ...ids, step: 2, path: "src/sum.ts", diff, at: completedAt, ...given });
}

/** A worker that serves two agents and has three runs. */
export function aHost(given: Partial<HostRow> = {}): HostRow {
  const agents = [
    { id: "coder", hash: "0f".repeat(32) },
    { id: "tester", hash: "1f".repeat(32) },
  ];
  const lastHeartbeatAt = new Date(8_800).toISOString();
  return sampleHost({ agents, runs: 3, busy: 2, startedAt, lastHeartbeatAt, ...given });
}

/** A run that has completed. With \`completedAt: null\` it is at work. */
export function aRun(given: Partial<RunRow> = {}): RunRow {
  const ids = { run: randomUUID(), session: randomUUID() };
  const words = { agent: "lead", task: "say hello", exactStatus: given.status ?? "completed" };
  const durationMs = given.completedAt === null ? null : 3_400;
  const counts = { iterations: 3, toolCalls: 2, lastEventAt: completedAt };
  return sampleRun({ ...ids, ...words, ...ended, ...counts, durationMs, ...given });
}

export function aResponse(given: Partial<RunResponse> = {}): RunResponse {
  const totals = {
    iterations: 3,
    toolCalls: 2,
    inputTokens: 1_000,
    outputTokens: 234,
    totalTokens: 1_234,
    costUsd: null,
    estimatedTokens: 0,
    estimatedCostUsd: 0,
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
    filesDeleted: [],
    artifacts: [],
    testsRun: 0,
    testsPassed: 0,
    testSuites: [],
    warnings: [],
    suggestions: [],
    toolsUsed: [],
    error: null,
    bailoutReason: null,
    metrics: Metrics.parse({ ...totals, contextSize: 10, durationMs: 3_400, subtree: { ...totals, runs: 2 } }),
    ...given,
  };
}
