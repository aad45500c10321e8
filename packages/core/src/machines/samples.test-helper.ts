import { AgentDefinition } from "../protocol/agent.ts";
import type { EntryBody, Pin } from "../protocol/entry.ts";
import { childRunId } from "../protocol/ids.ts";
import { Limits } from "../protocol/limits.ts";
import type { Usage } from "../protocol/model.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { RunError } from "../protocol/run-error.ts";
import { type ToolCall, ToolOutcome } from "../protocol/tool.ts";

export const session = "00000000-0000-7000-8000-00000000aaaa";
export const run = "00000000-0000-7000-8000-00000000bbbb";
const otherRun = "00000000-0000-7000-8000-00000000cccc";

type Body<K extends EntryBody["kind"]> = Extract<EntryBody, { kind: K }>;

export function aDefinition(changes: Partial<AgentDefinition> = {}): AgentDefinition {
  return AgentDefinition.parse({
    id: "main",
    name: "Main",
    description: "does everything",
    prompt: "You do everything.",
    source: { origin: "builtin", path: "main.md" },
    ...changes,
  });
}

export interface PinChanges {
  definition?: Partial<AgentDefinition>;
  limits?: Partial<Limits>;
  retry?: Partial<Pin["targets"][number]["retry"]>;
  targets?: string[];
}

/** A run of `main`, which may delegate to `helper` and `writer`. */
export function aPin({ definition, limits, retry, targets = ["helper", "writer"] }: PinChanges = {}): Pin {
  const policy = { maxAttempts: 2, backoffMs: 1_000, on: ["network" as const, "rate_limit" as const], ...retry };
  return {
    protocol: 1,
    definition: aDefinition(definition),
    definitionHash: "",
    prompt: "You do everything.",
    tools: [],
    targets: targets.map((id) => ({ id, description: id, retry: policy })),
    model: "scripted/any",
    grant: { tools: ["read", "shell"], agents: ["helper", "writer"] },
    limits: { ...Limits.parse({}), ...limits },
  };
}

export function aRequest(changes: Partial<RunRequest> = {}): RunRequest {
  return {
    v: 1,
    session,
    run,
    parent: null,
    agent: "main",
    depth: 0,
    attempt: 1,
    task: "count the files",
    context: null,
    contextMode: "task_only",
    successCriteria: null,
    userId: null,
    chain: [],
    grant: { tools: ["read", "shell"], agents: ["helper", "writer", "main"] },
    limits: {},
    model: "scripted/any",
    workspace: { id: "w1", path: "/w" },
    remainingMs: null,
    ...changes,
  };
}

export function aToolCall(name: string, args: ToolCall["args"] = {}): ToolCall {
  return { id: `id-${name}`, name, args };
}

export function delegateTo(agent: string, task = `be ${agent}`): ToolCall {
  return aToolCall("delegate", { agent, task });
}

export interface ReplyChanges {
  usage?: Partial<Usage>;
  stopReason?: "end" | "max_tokens" | "refusal";
}

/** The model's answer to a step: text, and the calls that it asks for. */
export function reply(
  step: number,
  text: string,
  calls: ToolCall[] = [],
  changes: ReplyChanges = {},
): Body<"model.replied"> {
  const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 0, costUsd: 0.01, ...changes.usage };
  const stopReason = changes.stopReason ?? (calls.length > 0 ? ("tool_calls" as const) : ("end" as const));
  return { kind: "model.replied", step, reply: { text, calls, usage, stopReason, model: "any" }, durationMs: 5 };
}

export function modelFailed(step: number, changes: Partial<RunError> = {}): Body<"model.failed"> {
  return { kind: "model.failed", step, error: anError({ type: "model", ...changes }), durationMs: 5 };
}

export function anError(changes: Partial<RunError> = {}): RunError {
  return { type: "network", message: "it broke", tool: null, recoverable: true, retryAfterMs: null, ...changes };
}

export function toolFinished(
  step: number,
  call: number,
  output: string,
  changes: Partial<ToolOutcome> & { tool?: string } = {},
): Body<"tool.finished"> {
  const { tool = "read", ...outcome } = changes;
  return { kind: "tool.finished", step, call, tool, outcome: ToolOutcome.parse({ output, ...outcome }) };
}

export type ResponseChanges = Partial<Omit<RunResponse, "metrics">> & {
  subtree?: Partial<RunResponse["metrics"]["subtree"]>;
};

/** A child's response: completed unless an error is given. */
export function aResponse(changes: ResponseChanges = {}): RunResponse {
  const { subtree, ...rest } = changes;
  const totals = { iterations: 1, toolCalls: 0, inputTokens: 20, outputTokens: 2, totalTokens: 22, costUsd: 0.001 };
  const status = changes.error ? "failed" : "completed";
  return {
    runId: run,
    sessionId: session,
    agent: "helper",
    request: "be helper",
    status,
    success: (changes.status ?? status) === "completed",
    summary: "done",
    details: "done",
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
    metrics: { ...totals, contextSize: 5, durationMs: 7, subtree: { runs: 1, ...totals, ...subtree } },
    ...rest,
  };
}

export function childSettled(
  step: number,
  call: number,
  changes: ResponseChanges = {},
  attempt = 1,
): Body<"child.settled"> {
  const runId = childRunId({ parentRun: run, step, call, attempt });
  return { kind: "child.settled", step, call, attempt, response: aResponse({ runId, ...changes }) };
}

export function timerFired(timer: string): Body<"timer.fired"> {
  return { kind: "timer.fired", timer };
}

export function cancelled(reason = "enough"): Body<"inbox.received"> {
  return { kind: "inbox.received", seq: 2, item: { v: 1, kind: "session.cancelled", at: 0, session, reason } };
}

export function answered(approved: boolean, about: "this run" | "another run" = "this run"): Body<"inbox.received"> {
  const item = { v: 1 as const, kind: "approval.answered" as const, at: 0, session, approved, by: "ada" };
  return { kind: "inbox.received", seq: 3, item: { ...item, run: about === "this run" ? run : otherRun } };
}

export function intentAssessed(risk: "low" | "medium" | "high"): Body<"intent.assessed"> {
  const context = {
    request: "",
    tools: [],
    params: {},
    status: "planning" as const,
    result: null,
    notes: ["assessed"],
  };
  return { kind: "intent.assessed", intent: { context, expectedFormat: "text", successCriteria: "any", risk } };
}

export function verified(round: number, failures: string[] = []): Body<"verify.finished"> {
  return { kind: "verify.finished", round, failures };
}

export function claimed(): Body<"run.claimed"> {
  return { kind: "run.claimed", reason: "resumed" };
}

export function settledWith(response: RunResponse): Body<"run.settled"> {
  return { kind: "run.settled", response };
}
