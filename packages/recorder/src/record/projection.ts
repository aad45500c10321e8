import { type Entry, type EntryKind, type RunRequest, type RunResponse, toRecordStatus } from "@troupe/core";
import { activityAfter } from "./activity.ts";
import type { RunDraft, ToolCallNote } from "./draft.ts";

const argsCharsMax = 4_000;
const outputCharsMax = 2_000;

type EntryOf<K extends EntryKind> = Entry & { kind: K };
type Change = Partial<Omit<RunDraft, "session" | "run">>;

/** A requested root that no host has taken yet. */
export function draftOfRequest(request: RunRequest, atMs: number): RunDraft {
  const at = toIso(atMs);
  return {
    session: request.session,
    run: request.run,
    parentRun: request.parent?.run ?? null,
    agent: request.agent,
    depth: request.depth,
    attempt: request.attempt,
    maxAttempts: request.attempt,
    task: request.task,
    contextMode: request.contextMode,
    contextTokens: null,
    model: null,
    systemPrompt: null,
    status: "pending",
    exactStatus: "queued",
    startedAt: at,
    completedAt: null,
    durationMs: null,
    iterations: 0,
    maxIterations: null,
    maxDurationMs: null,
    toolCalls: [],
    toolCallCount: 0,
    inputTokens: null,
    outputTokens: null,
    totalTokens: null,
    files: [],
    activity: "queued",
    details: null,
    summary: null,
    error: null,
    exactBailout: null,
    warnings: [],
    metadata: { run_id: request.run, status: "queued", attempt: request.attempt },
    lastEventAt: at,
    headIndex: -1,
    headHash: null,
    position: 0,
  };
}

/**
 * What a run's next entry makes of its draft. Null for an entry of a run that the record has not seen open: it has
 * nothing to hang it on.
 */
export function project(draft: RunDraft | null, entry: Entry): RunDraft | null {
  const before = entry.kind === "run.opened" ? (draft ?? draftOfRequest(entry.request, entry.at)) : draft;
  if (!before) return null;
  const head = { headIndex: entry.index, headHash: entry.hash };
  // A terminal state never changes again, whatever a defect may append.
  if (before.completedAt !== null) return { ...before, ...head };
  const apply = changes[entry.kind] as (before: RunDraft, entry: Entry) => Change;
  const after = { ...before, ...apply(before, entry), ...head, lastEventAt: toIso(entry.at) };
  return { ...after, activity: activityAfter(after, entry) };
}

/** One for each kind: the compiler names the one that is missing. */
const changes: { [K in EntryKind]: (before: RunDraft, entry: EntryOf<K>) => Change } = {
  "run.opened": open,
  "run.claimed": (before) => exactly(before, "running"),
  "run.parked": (before) => exactly(before, "parked"),
  "intent.assessed": () => ({}),
  "model.replied": keepReply,
  "model.failed": (before, { step }) => ({ iterations: Math.max(before.iterations, step) }),
  "tool.started": () => ({}),
  "tool.finished": keepOutcome,
  "child.settled": keepChild,
  "timer.fired": () => ({}),
  "inbox.received": () => ({}),
  "verify.finished": () => ({}),
  "run.settled": (_before, { response, at }) => settle(response, at),
};

function open(before: RunDraft, { request, pin, at }: EntryOf<"run.opened">): Change {
  const { definition, definitionHash, limits } = pin;
  return {
    // A host's clock may be behind that of whoever asked.
    startedAt: earlier(before.startedAt, toIso(at)),
    status: "running",
    exactStatus: "running",
    model: pin.model,
    systemPrompt: `${definition.id}@${definitionHash.slice(0, 12)}`,
    maxAttempts: request.parent ? Math.max(definition.retry.maxAttempts, request.attempt) : request.attempt,
    maxIterations: limits.maxIterations,
    maxDurationMs: limits.maxDurationMs,
    metadata: { ...before.metadata, status: "running" },
  };
}

/** The record's status stays `running`: only the machine's own word changes. */
function exactly(before: RunDraft, status: string): Change {
  return { exactStatus: status, metadata: { ...before.metadata, status } };
}

function keepReply(before: RunDraft, { step, reply }: EntryOf<"model.replied">): Change {
  const asked = reply.calls.map<ToolCallNote>(({ name, args }, call) => {
    return { step, call, name, args: clipArgs(args), outcome: null, duration_ms: null };
  });
  const inputTokens = (before.inputTokens ?? 0) + reply.usage.inputTokens;
  const outputTokens = (before.outputTokens ?? 0) + reply.usage.outputTokens;
  return {
    model: reply.model,
    iterations: Math.max(before.iterations, step),
    toolCalls: [...before.toolCalls, ...asked],
    toolCallCount: before.toolCallCount + asked.length,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
  };
}

function keepOutcome(before: RunDraft, { step, call, outcome }: EntryOf<"tool.finished">): Change {
  const { output, error, inDoubt, filesCreated, filesModified, durationMs } = outcome;
  const note = { ok: error === null, output: clip(output, outputCharsMax), error: error?.message ?? null };
  return {
    toolCalls: withOutcome(before, step, call, { outcome: { ...note, in_doubt: inDoubt }, duration_ms: durationMs }),
    files: union(before.files, filesCreated, filesModified),
  };
}

/** A later attempt's result takes the place of an earlier one. */
function keepChild(before: RunDraft, { step, call, response }: EntryOf<"child.settled">): Change {
  const { success, summary, error, metrics } = response;
  const outcome = { ok: success, output: summary, error: error?.message ?? null, in_doubt: false };
  return { toolCalls: withOutcome(before, step, call, { outcome, duration_ms: metrics.durationMs }) };
}

function settle(response: RunResponse, atMs: number): Change {
  const { metrics, error, bailoutReason, status } = response;
  return {
    status: toRecordStatus(status),
    exactStatus: status,
    completedAt: toIso(atMs),
    durationMs: metrics.durationMs,
    iterations: metrics.iterations,
    toolCallCount: metrics.toolCalls,
    contextTokens: metrics.contextSize,
    inputTokens: metrics.inputTokens,
    outputTokens: metrics.outputTokens,
    totalTokens: metrics.totalTokens,
    files: union(response.filesCreated, response.filesModified),
    details: response.details,
    summary: response.summary,
    error: error?.message ?? null,
    exactBailout: bailoutReason,
    warnings: response.warnings,
    metadata: {
      run_id: response.runId,
      status,
      bailout_reason: bailoutReason,
      error_type: error?.type ?? null,
      cost_usd: metrics.costUsd,
    },
  };
}

/** The three words of the `bailout_reason` column; the exact cap is in `metadata_json`. */
export function recordBailout(draft: Pick<RunDraft, "exactStatus" | "exactBailout">): string | null {
  if (draft.exactStatus === "timeout") return "timeout";
  if (draft.exactBailout === null) return draft.exactStatus === "bailed_out" ? "error" : null;
  return ["timeout", "max_iterations"].includes(draft.exactBailout) ? draft.exactBailout : "error";
}

export function earlier(a: string, b: string): string {
  return a.localeCompare(b) <= 0 ? a : b;
}

function withOutcome(before: RunDraft, step: number, call: number, outcome: Partial<ToolCallNote>): ToolCallNote[] {
  return before.toolCalls.map((note) => (note.step === step && note.call === call ? { ...note, ...outcome } : note));
}

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

function clipArgs(args: ToolCallNote["args"]): ToolCallNote["args"] {
  const text = JSON.stringify(args);
  return text.length <= argsCharsMax ? args : clip(text, argsCharsMax);
}

function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
