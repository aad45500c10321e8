import { type ApprovalRow, type ChangeRow, type HostRow, RunRow, type SessionRow } from "./api.ts";
import type { ApprovalRule } from "./approval.ts";

const id = "00000000-0000-4000-8000-000000000000";
const at = "2026-01-01T00:00:00.000Z";

/**
 * Rows of the API for tests and mock daemons. Each is complete, so a test gives only the fields that matter to it. All rows
 * have the same id: give others to rows that a test tells apart.
 *
 * @example
 * sampleRun({ status: "failed", error: "network: reset" });
 */
export function sampleRun(given: Partial<RunRow> = {}): RunRow {
  const row = RunRow.parse({
    run: id,
    session: id,
    parentRun: null,
    order: 0,
    agent: "main",
    depth: 0,
    attempt: 1,
    maxAttempts: 2,
    task: "do it",
    status: "running",
    exactStatus: "running",
    model: null,
    startedAt: at,
    completedAt: null,
    durationMs: null,
    iterations: 0,
    maxIterations: 20,
    toolCalls: 0,
    totalTokens: 0,
    filesModified: [],
    activity: null,
    summary: null,
    error: null,
    bailoutReason: null,
    answerOnly: null,
    warnings: [],
    lastEventAt: at,
  });
  return { ...row, ...given };
}

/** A session with one run, at work. */
export function sampleSession(given: Partial<SessionRow> = {}): SessionRow {
  return {
    session: id,
    rootRun: id,
    agent: "main",
    team: null,
    task: "do it",
    status: "running",
    origin: "api",
    demo: false,
    replay: false,
    workspace: "/w",
    startedAt: at,
    completedAt: null,
    durationMs: null,
    summary: null,
    error: null,
    turns: 1,
    turnStartedAt: null,
    runs: 1,
    runsActive: 1,
    totalTokens: 0,
    costUsd: null,
    estimatedTokens: 0,
    estimatedCostUsd: 0,
    approvalsWaiting: 0,
    forkedFrom: null,
    ...given,
  };
}

/** A question that waits for a person. */
export function sampleApproval(given: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    id,
    session: id,
    run: id,
    agent: "coder",
    team: null,
    path: ["main", "coder"],
    tool: "shell",
    args: { command: "npm test" },
    risk: "high",
    reason: "shell is a tool of high risk",
    state: "waiting",
    requestedAt: at,
    answeredAt: null,
    scope: null,
    by: null,
    answerReason: null,
    ...given,
  };
}

/** A rule that allows a tool, with any arguments. */
export function sampleRule(given: Partial<ApprovalRule> = {}): ApprovalRule {
  const fits = { tool: "shell", argsHash: null, args: null, workspace: "/w", agent: null };
  return { id, decision: "allow", ...fits, createdAt: at, by: "Ada", ...given };
}

/** One changed line of a file. */
export function sampleChange(given: Partial<ChangeRow> = {}): ChangeRow {
  return {
    id: 1,
    session: id,
    run: id,
    agent: "coder",
    step: 1,
    call: 0,
    tool: "edit",
    path: "a.ts",
    kind: "modified",
    diff: "@@ -1 +1 @@\n-a\n+b\n",
    cut: false,
    linesAdded: 1,
    linesRemoved: 1,
    at,
    ...given,
  };
}

/** A worker that is alive and has no run. */
export function sampleHost(given: Partial<HostRow> = {}): HostRow {
  return {
    host: "worker-a",
    role: "worker",
    version: "0.1.0",
    pid: 7,
    place: "box",
    status: "alive",
    agents: [],
    capacity: 4,
    runs: 0,
    busy: 0,
    startedAt: at,
    lastHeartbeatAt: at,
    ...given,
  };
}
