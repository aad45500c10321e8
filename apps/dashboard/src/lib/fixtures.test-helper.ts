import { type ApprovalRow, type HostRow, RunRow, type SessionRow } from "@troupe/core";

const id = "00000000-0000-4000-8000-000000000000";

/** A complete row, with the defaults of core's schema. */
const baseRun = RunRow.parse({
  run: id,
  session: id,
  parentRun: null,
  order: 0,
  agent: "coder",
  depth: 0,
  attempt: 1,
  maxAttempts: 2,
  task: "write it",
  status: "running",
  exactStatus: "running",
  model: null,
  startedAt: "2026-01-01T00:00:00.000Z",
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
  warnings: [],
  lastEventAt: "2026-01-01T00:00:00.000Z",
});

/** A complete row. A test gives only the fields that matter to it. */
export function runRow(part: Partial<RunRow> & { run: string }): RunRow {
  return { ...baseRun, session: "s1", ...part };
}

export function sessionRow(part: Partial<SessionRow> & { session: string }): SessionRow {
  return {
    rootRun: "r1",
    agent: "main",
    task: "do it",
    status: "running",
    origin: "page",
    demo: false,
    replay: false,
    workspace: "/w",
    startedAt: "2026-01-01T00:00:00.000Z",
    completedAt: null,
    durationMs: null,
    summary: null,
    error: null,
    runs: 1,
    runsActive: 1,
    totalTokens: 0,
    costUsd: null,
    approvalsWaiting: 0,
    turns: 1,
    turnStartedAt: null,
    ...part,
  };
}

export function approvalRow(part: Partial<ApprovalRow> & { id: string }): ApprovalRow {
  return {
    session: "s1",
    run: "r1",
    agent: "coder",
    path: ["main", "coder"],
    tool: "shell",
    args: { command: "npm test" },
    risk: "high",
    reason: "shell is a tool of high risk",
    state: "waiting",
    requestedAt: "2026-01-01T00:00:00.000Z",
    answeredAt: null,
    scope: null,
    by: null,
    answerReason: null,
    ...part,
  };
}

export function hostRow(host: string, more: Partial<HostRow> = {}): HostRow {
  const facts = { role: "worker", version: "0.1.0", pid: 7, place: "box", status: "alive", capacity: 4 } as const;
  const at = "2026-11-18T12:00:00.000Z";
  return { host, ...facts, agents: [], runs: 0, busy: 0, startedAt: at, lastHeartbeatAt: at, ...more };
}
