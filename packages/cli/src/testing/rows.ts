import { randomUUID } from "node:crypto";
import {
  type ApprovalRow,
  type ChangeRow,
  type HostRow,
  type RunResponse,
  RunRow,
  type SessionRow,
} from "@troupe/core";
import { type ApprovalRule, Metrics } from "@troupe/core/internal";

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
    replay: false,
    workspace: "/srv/here",
    startedAt,
    completedAt,
    durationMs: given.completedAt === null ? null : 3_400,
    summary: "hello",
    error: null,
    runs: 1,
    runsActive: given.completedAt === null ? 1 : 0,
    totalTokens: 1_234,
    costUsd: null,
    approvalsWaiting: 0,
    turns: 1,
    turnStartedAt: null,
    ...given,
  };
}

/** A question that waits for a person. */
export function anApproval(given: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    id: randomUUID(),
    session: randomUUID(),
    run: randomUUID(),
    agent: "coder",
    path: ["lead", "coder"],
    tool: "shell",
    args: { command: "rm -rf build" },
    risk: "high",
    reason: "it runs a command on this machine",
    state: "waiting",
    requestedAt: new Date(1_000).toISOString(),
    answeredAt: null,
    scope: null,
    by: null,
    answerReason: null,
    ...given,
  };
}

export function aRule(given: Partial<ApprovalRule> = {}): ApprovalRule {
  return {
    id: randomUUID(),
    decision: "allow",
    tool: "shell",
    argsHash: "0f",
    args: { command: "npm test" },
    workspace: "/srv/here",
    agent: "coder",
    createdAt: startedAt,
    by: "ada",
    ...given,
  };
}

export function aChange(given: Partial<ChangeRow> = {}): ChangeRow {
  const done = { path: "src/sum.ts", kind: "modified", linesAdded: 1, linesRemoved: 1 } as const;
  const by = { session: randomUUID(), run: randomUUID(), agent: "coder", step: 2, call: 0, tool: "edit" };
  const diff = "@@ -1,2 +1,2 @@\n export const sum = (a, b) =>\n-  a - b;\n+  a + b;\n";
  return { id: 1, ...by, ...done, diff, cut: false, at: completedAt, ...given };
}

export function aHost(given: Partial<HostRow> = {}): HostRow {
  return {
    host: "worker-a",
    role: "worker",
    version: "0.1.0",
    pid: 7,
    place: "box",
    status: "alive",
    agents: [
      { id: "coder", hash: "0f".repeat(32) },
      { id: "tester", hash: "1f".repeat(32) },
    ],
    capacity: 4,
    runs: 3,
    busy: 2,
    startedAt,
    lastHeartbeatAt: new Date(8_800).toISOString(),
    ...given,
  };
}

/** A complete row, with the defaults of core's schema. */
const baseRun = RunRow.parse({
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
  exactStatus: "completed",
  model: null,
  startedAt,
  completedAt,
  durationMs: 3_400,
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
});

export function aRun(given: Partial<RunRow> = {}): RunRow {
  return {
    ...baseRun,
    run: randomUUID(),
    session: randomUUID(),
    exactStatus: given.status ?? "completed",
    durationMs: given.completedAt === null ? null : 3_400,
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
