/** Requests of people and programs to a daemon: strict where a mistake would grant too much. */
import { describe, expect, test } from "vitest";
import { run, session } from "../machines/fixtures.test-helper.ts";
import {
  AgentSummary,
  ApprovalAnswer,
  RecordChange,
  RunRow,
  SessionGrant,
  SessionRow,
  SubmitSession,
  toRecordStatus,
} from "./api.ts";
import { RunStatus } from "./response.ts";

describe("an answer to an approval", () => {
  test("is for this call and these arguments by default", () => {
    expect(ApprovalAnswer.parse({ approved: true })).toEqual({
      approved: true,
      scope: "once",
      anyArguments: false,
      reason: null,
      by: "a person",
    });
  });

  test.each([
    ["a rule for any arguments", { approved: true, scope: "rule", anyArguments: true }, true],
    ["a rule for these arguments", { approved: false, scope: "rule" }, true],
    ["any arguments, once", { approved: true, anyArguments: true }, false],
    ["any arguments, for the run", { approved: true, scope: "run", anyArguments: true }, false],
    ["neither allow nor deny", {}, false],
    ["a boolean as a text", { approved: "yes" }, false],
    ["a misspelt key, which would be ignored", { approved: true, scop: "rule" }, false],
    ["an empty reason", { approved: false, reason: "  " }, false],
    ["an empty name", { approved: true, by: "" }, false],
  ])("%s", (_, answer, sound) => {
    expect(ApprovalAnswer.safeParse(answer).success).toBe(sound);
  });
});

describe("a session's grant", () => {
  test.each([
    ["nothing", {}],
    ["some of the keys", { tools: ["read"], denyAgents: ["critic"] }],
    ["empty lists, which grant nothing", { tools: [], agents: [] }],
  ])("may have %s", (_, grant) => {
    expect(SessionGrant.parse(grant)).toEqual(grant);
  });

  test.each([
    ["a misspelt denial, which would deny nothing", { denytools: ["shell"] }],
    ["null, which is not a list", { tools: null }],
    ["one name in place of a list", { denyTools: "shell" }],
  ])("may not have %s", (_, grant) => {
    expect(SessionGrant.safeParse(grant).success).toBe(false);
  });
});

describe("the request for a session", () => {
  test("needs only a task", () => {
    expect(SubmitSession.parse({ task: " count them " })).toEqual({ task: "count them", origin: "api" });
  });

  test("may have a budget, caps and a grant, which stay as given", () => {
    const asked = { task: "x", budget: { tokens: 9 }, limits: { maxDepth: 1 }, grant: { tools: [] }, origin: "cli" };
    expect(SubmitSession.parse(asked)).toEqual(asked);
  });

  test.each([
    ["a budget of null", { budget: { tokens: 0 } }],
    ["a negative cap", { limits: { maxDepth: -1 } }],
    ["a grant of unknown keys", { grant: { allow: ["read"] } }],
    ["no words", { task: "  " }],
  ])("may not have %s", (_, changes) => {
    expect(SubmitSession.safeParse({ task: "x", ...changes }).success).toBe(false);
  });
});

describe("a row from before budgets and approvals", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const common = {
    session,
    agent: "main",
    task: "x",
    startedAt: at,
    completedAt: null,
    durationMs: null,
    totalTokens: 0,
  };
  const oldSession = {
    ...common,
    rootRun: run,
    status: "running",
    origin: "cli",
    demo: false,
    workspace: "/w",
    summary: null,
    error: null,
    runs: 1,
    runsActive: 1,
  };
  const oldRun = {
    ...common,
    run,
    parentRun: null,
    order: 0,
    depth: 0,
    attempt: 1,
    maxAttempts: 1,
    status: "running",
    exactStatus: "running",
    model: null,
    iterations: 0,
    maxIterations: null,
    toolCalls: 0,
    filesModified: [],
    activity: null,
    summary: null,
    error: null,
    bailoutReason: null,
    warnings: [],
    lastEventAt: at,
  };

  test("has an unknown cost, and waits for no approval", () => {
    expect(SessionRow.parse(oldSession)).toEqual({
      ...oldSession,
      team: null,
      forkedFrom: null,
      replay: false,
      costUsd: null,
      estimatedTokens: 0,
      estimatedCostUsd: 0,
      approvalsWaiting: 0,
      turns: 1,
      turnStartedAt: null,
    });
    expect(RunRow.parse(oldRun)).toEqual({
      ...oldRun,
      team: null,
      confidence: null,
      queuePosition: null,
      contextMode: "task_only",
      costUsd: null,
      estimatedTokens: 0,
      estimatedCostUsd: 0,
      maxToolCalls: null,
      maxDurationMs: null,
      budget: null,
      answerOnly: null,
      host: null,
    });
    expect(RecordChange.parse({ position: 1, sessions: [], runs: [] }).approvals).toEqual([]);
  });

  test("has an enabled agent", () => {
    const agent = { id: "main", name: "Main", description: "x", tools: null, subagents: [], model: "inherit" };
    const old = { ...agent, origin: "builtin", path: "main.md" };
    expect(AgentSummary.parse(old)).toEqual({ ...old, disabled: false });
  });
});

test("the record has fewer words for the end of a run than the machine", () => {
  expect(RunStatus.options.map((status) => [status, toRecordStatus(status)])).toEqual([
    ["completed", "completed"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
    ["timeout", "timeout"],
    ["rejected", "failed"],
    ["bailed_out", "failed"],
  ]);
});
