import { unlimited } from "../budget/ledger.ts";
import { AgentDefinition } from "../protocol/agent.ts";
import { approvalId } from "../protocol/approval.ts";
import type { Budget, Spent } from "../protocol/budget.ts";
import { DelegationTarget, type EntryBody, type RunSpec } from "../protocol/entry.ts";
import { childRunId } from "../protocol/ids.ts";
import type { InboxItem } from "../protocol/inbox.ts";
import { Limits } from "../protocol/limits.ts";
import type { Message, Usage } from "../protocol/model.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { RunResponse } from "../protocol/response.ts";
import type { RunError } from "../protocol/run-error.ts";
import { type ToolCall, ToolOutcome } from "../protocol/tool.ts";
import { tokensAfterCompaction } from "./agent/compaction.ts";
import type { EffectOf } from "./effects.ts";

export const session = "00000000-0000-7000-8000-00000000aaaa";
export const run = "00000000-0000-7000-8000-00000000bbbb";

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

export interface SpecChanges {
  definition?: Partial<AgentDefinition>;
  limits?: Partial<Limits>;
  budget?: Partial<Budget>;
  price?: RunSpec["price"];
  tools?: RunSpec["tools"];
  retry?: Partial<RunSpec["targets"][number]["retry"]>;
  targets?: (string | (Partial<DelegationTarget> & { id: string }))[];
  grantedTools?: string[];
  /** The model's window. */
  contextTokens?: number | null;
  history?: Message[];
  booksLostCalls?: boolean;
  marksLastTurn?: boolean;
  makesRoom?: boolean;
  readsTextOnce?: boolean;
  answersByDomain?: boolean;
}

/** A run of `main`, which may delegate to `helper` and `writer`. */
export function aSpec(changes: SpecChanges = {}): RunSpec {
  const { definition, limits, budget, price = null, tools = [], retry, targets = ["helper", "writer"] } = changes;
  const { grantedTools = ["read", "shell"], contextTokens = null, history = [] } = changes;
  const { booksLostCalls = true, marksLastTurn = true, makesRoom = true } = changes;
  const { readsTextOnce = true, answersByDomain = false } = changes;
  const on = ["network" as const, "rate_limit" as const];
  const policy = { maxAttempts: 2, backoffMs: 1_000, on, alternative: null, ...retry };
  return {
    protocol: 1,
    definition: aDefinition(definition),
    definitionHash: "",
    prompt: "You do everything.",
    tools,
    targets: targets.map((target) => {
      const changes = typeof target === "string" ? { id: target } : target;
      return DelegationTarget.parse({ description: changes.id, retry: policy, ...changes });
    }),
    model: "scripted/any",
    temperature: null,
    price,
    contextTokens,
    history,
    grant: { tools: grantedTools, agents: ["helper", "writer"], writes: [] },
    limits: { ...Limits.parse({}), ...limits },
    budget: { ...unlimited, ...budget },
    booksLostCalls,
    marksLastTurn,
    makesRoom,
    readsTextOnce,
    answersByDomain,
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
    contextFiles: [],
    successCriteria: null,
    userId: null,
    outputSchema: null,
    chain: [],
    continues: null,
    ancestors: [],
    layers: [],
    budget: unlimited,
    limits: {},
    model: "scripted/any",
    temperature: null,
    parentPrompt: null,
    workspace: { id: "w1", path: "/w" },
    remainingMs: null,
    ...changes,
  };
}

export function aToolCall(name: string, args: ToolCall["args"] = {}): ToolCall {
  return { id: `id-${name}`, name, args, problem: null };
}

/** Different calls, because a third identical one would be refused. */
export function reads(count: number): ToolCall[] {
  return Array.from({ length: count }, (_, i) => ({ ...aToolCall("read", { path: `${i}.txt` }), id: `id-read-${i}` }));
}

/** Different delegations. */
export function delegations(count: number, agent = "helper"): ToolCall[] {
  return Array.from({ length: count }, (_, i) => delegateTo(agent, `be ${agent} ${i}`));
}

export function delegateTo(agent: string, task = `be ${agent}`): ToolCall {
  return aToolCall("delegate", { agent, task });
}

/** Several tasks in one call, for `helper` by default. */
export function aBatch(
  tasks: { [key: string]: ToolCall["args"] }[],
  changes: { [key: string]: ToolCall["args"] } = {},
): ToolCall {
  return aToolCall("delegate", {
    tasks: tasks.map((task) => ({ agent: "helper", task: "help", ...task })),
    ...changes,
  });
}

export interface ReplyChanges {
  usage?: Partial<Usage>;
  stopReason?: "end" | "max_tokens" | "refusal";
}

/** The model's reply to a step: text and calls. */
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
  charged?: Partial<Spent>;
};

/** A child's response: completed unless an error is given. */
export function aResponse(changes: ResponseChanges = {}): RunResponse {
  const { subtree, charged, ...rest } = changes;
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
    metrics: {
      ...totals,
      contextSize: 5,
      durationMs: 7,
      subtree: { runs: 1, ...totals, ...subtree },
      charged: { tokens: totals.totalTokens, costUsd: totals.costUsd, toolCalls: 0, spawns: 0, ...charged },
      waitedMs: 0,
    },
    ...rest,
  };
}

export function childSettled(
  step: number,
  call: number,
  changes: ResponseChanges = {},
  attempt = 1,
  item = 0,
): Body<"child.settled"> {
  const runId = childRunId({ parentRun: run, step, call, item, attempt });
  return { kind: "child.settled", step, call, item, attempt, response: aResponse({ runId, ...changes }) };
}

export function timerFired(timer: string): Body<"timer.fired"> {
  return { kind: "timer.fired", timer };
}

export function cancelled(reason = "enough"): Body<"inbox.received"> {
  return { kind: "inbox.received", seq: 2, item: { v: 1, kind: "session.cancelled", at: 0, session, reason } };
}

type AnswerChanges = Partial<Extract<InboxItem, { kind: "approval.answered" }>>;

/** A person's answer to an approval. */
export function answered(approval: string, approved: boolean, changes: AnswerChanges = {}): Body<"inbox.received"> {
  const item = {
    v: 1 as const,
    kind: "approval.answered" as const,
    at: 0,
    session,
    run,
    approval,
    approved,
    scope: "once" as const,
    reason: null,
    by: "ada",
    ...changes,
  };
  return { kind: "inbox.received", seq: 3, item };
}

/** An approval request for a call, or for the whole run with step 0. */
export function approvalRequested(step: number, call: number, tool: string | null = "shell", covers?: string[]) {
  const id = approvalId({ run, step, call, argsHash: "" });
  const reach = covers ? { covers } : {};
  const approval = { id, tool, args: {}, risk: "high" as const, reason: "high risk", path: ["main"], ...reach };
  return { kind: "approval.requested" as const, step, call, approval };
}

/** Another command for this run. */
export function commanded(
  command:
    | { kind: "run.cancelled"; reason: string }
    | { kind: "run.steered"; text: string }
    | { kind: "run.paused" | "run.resumed" },
): Body<"inbox.received"> {
  const item = {
    v: 1 as const,
    at: 0,
    session,
    run,
    ...(command.kind === "run.cancelled" ? {} : { by: "ada" }),
    ...command,
  };
  return { kind: "inbox.received", seq: 4, item: item as InboxItem };
}

/** The entry for a `trim` effect. */
export function trimmed({ step, results, tokensBefore, tokensAfter }: Omit<EffectOf<"trim">, "kind" | "run">) {
  return { kind: "context.trimmed" as const, step, results: [...results], tokensBefore, tokensAfter };
}

type CompactionChanges = Partial<Pick<Body<"context.compacted">, "text" | "error">> & { usage?: Partial<Usage> };

export function compacted(effect: EffectOf<"compact">, changes: CompactionChanges = {}): Body<"context.compacted"> {
  const { step, kept, tokensBefore } = effect;
  const { text = "in short", error = null } = changes;
  const usage = { inputTokens: 50, outputTokens: 5, cachedTokens: 0, costUsd: 0.001, ...changes.usage };
  const tokensAfter = tokensAfterCompaction(effect, { text, error });
  return { kind: "context.compacted", step, kept, text, usage, error, tokensBefore, tokensAfter, durationMs: 1 };
}

export function childWaiting(step: number, call: number, waiting: boolean, item = 0): Body<"child.waiting"> {
  return { kind: "child.waiting", step, call, item, attempt: 1, waiting };
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
  return {
    kind: "intent.assessed",
    intent: { context, expectedFormat: "text", successCriteria: "any", risk },
    usage: null,
  };
}

export function verified(round: number, failures: string[] = []): Body<"verify.finished"> {
  return { kind: "verify.finished", round, failures };
}

/** Every check of the effect has the same failures. */
export function checkedChildren(
  { round, checks }: Pick<EffectOf<"checkChildren">, "round" | "checks">,
  failures: string[] = [],
): Body<"children.checked"> {
  const results = checks.map(({ child, agent, verifier }) => ({ child, agent, verifier: verifier.name, failures }));
  return { kind: "children.checked", round, results };
}

export function claimed(): Body<"run.claimed"> {
  return { kind: "run.claimed", reason: "resumed" };
}

export function settledWith(response: RunResponse): Body<"run.settled"> {
  return { kind: "run.settled", response };
}
