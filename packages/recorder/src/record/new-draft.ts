import type { Entry, RunRequest } from "@troupe/core";
import type { PlannedChild } from "@troupe/core/internal";
import type { RunDraft } from "./draft.ts";
import { earlier, toIso } from "./time.ts";

type Asked = Pick<
  RunDraft,
  | "session"
  | "run"
  | "parentRun"
  | "requestType"
  | "agent"
  | "depth"
  | "attempt"
  | "maxAttempts"
  | "task"
  | "contextMode"
>;

/** A requested run that no host has taken yet. */
export function draftOfRequest(request: RunRequest, atMs: number): RunDraft {
  const { session, run, agent, depth, attempt, task, contextMode } = request;
  const parentRun = request.parent?.run ?? null;
  const byUser = request.continues === null ? "prompt" : "continuation";
  const requestType = parentRun === null ? byUser : "delegation";
  return queued(
    { session, run, parentRun, requestType, agent, depth, attempt, maxAttempts: attempt, task, contextMode },
    atMs,
  );
}

/** A child that its parent is going to ask. */
export function draftOfPlanned(parent: RunDraft, child: PlannedChild, atMs: number): RunDraft {
  const { run, agent, task, contextMode, maxAttempts } = child;
  const place = { session: parent.session, run, parentRun: parent.run, depth: parent.depth + 1 };
  return queued({ ...place, requestType: "delegation", agent, attempt: 1, maxAttempts, task, contextMode }, atMs);
}

/** What its request says, with what was known before: a root counts from when it was asked for, a child from its start. */
export function draftOfOpening(known: RunDraft | null, { request, at }: Entry & { kind: "run.opened" }): RunDraft {
  const asked = draftOfRequest(request, at);
  if (!known) return asked;
  return {
    ...asked,
    // A host's clock may be behind that of whoever asked.
    startedAt: asked.parentRun === null ? earlier(known.startedAt, asked.startedAt) : asked.startedAt,
    maxAttempts: Math.max(known.maxAttempts, asked.maxAttempts),
  };
}

function queued(asked: Asked, atMs: number): RunDraft {
  const at = toIso(atMs);
  return {
    ...asked,
    contextTokens: null,
    model: null,
    systemPrompt: null,
    status: "pending",
    exactStatus: "queued",
    asks: [],
    paused: false,
    startedAt: at,
    completedAt: null,
    durationMs: null,
    iterations: 0,
    maxIterations: null,
    maxDurationMs: null,
    maxToolCalls: null,
    budget: null,
    toolCalls: [],
    toolCallCount: 0,
    inputTokens: null,
    outputTokens: null,
    totalTokens: null,
    costUsd: 0,
    files: [],
    activity: "queued",
    details: null,
    summary: null,
    error: null,
    exactBailout: null,
    warnings: [],
    metadata: { run_id: asked.run, status: "queued", attempt: asked.attempt },
    host: null,
    lastEventAt: at,
    headIndex: -1,
    headHash: null,
    position: 0,
  };
}
