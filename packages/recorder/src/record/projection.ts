import type { Entry, RunResponse, Usage } from "@troupe/core";
import { type EntryKind, filesOf, forkHost, toRecordStatus } from "@troupe/core/internal";
import { activityAfter } from "./activity.ts";
import { recordOfOpening } from "./new-run-record.ts";
import type { RunRecord } from "./run-columns.ts";
import { afterInboxItem, runStatus, withApproval, withExactStatus, withoutApprovalsOf } from "./run-status.ts";
import { toIso } from "./time.ts";
import { toolCallRecords, withChild, withPlan, withToolOutcome } from "./tool-calls.ts";

type EntryOf<K extends EntryKind> = Entry & { kind: K };
type Change = Partial<Omit<RunRecord, "session" | "run">>;

/**
 * Applies the next entry of a run to its record. Returns null if the record has no opening of the run: the entry is kept,
 * but has no row. `child-updates.ts` derives the changes to other runs.
 */
export function project(record: RunRecord | null, entry: Entry): RunRecord | null {
  const head = { headIndex: entry.index, headHash: entry.hash };
  // A terminal state never changes, even if a defective host appends more entries.
  if (record && isClosed(record)) return { ...record, ...head };
  const before = entry.kind === "run.opened" ? recordOfOpening(record, entry) : record;
  if (!before) return null;
  const apply = changes[entry.kind] as (before: RunRecord, entry: Entry) => Change;
  const after = { ...before, ...apply(before, asPaid(entry)), ...head, host: entry.host, lastEventAt: toIso(entry.at) };
  return { ...after, activity: activityAfter(after, entry) };
}

/** Usage of a run that has called no model yet. */
const nothingUsed = {
  ...{ inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0, estimatedTokens: 0, estimatedCostUsd: 0 },
} satisfies Change;

/** A run that a fork copied to its end: the original session has its tokens and costs. */
function asPaid(entry: Entry): Entry {
  if (entry.host !== forkHost || entry.kind !== "run.settled") return entry;
  const { response } = entry;
  const { estimated: _, ...metrics } = response.metrics;
  const free = { inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 };
  return { ...entry, response: { ...response, metrics: { ...metrics, ...free } } };
}

/** True if the run has settled in its own journal. An end that comes from its parent holds only until the run has an entry. */
export function isClosed({ completedAt, headIndex }: RunRecord): boolean {
  return completedAt !== null && headIndex >= 0;
}

/** One change per entry kind: the compiler reports a missing kind. */
const changes: { [K in EntryKind]: (before: RunRecord, entry: EntryOf<K>) => Change } = {
  "run.opened": open,
  "run.claimed": (before, { forkedFrom }) => ({ ...runStatus(before), ...(forkedFrom ? nothingUsed : {}) }),
  "run.parked": (before, entry) => ({ ...park(before, entry), ...addLostUsage(before, entry) }),
  "intent.assessed": (before, { usage }) => (usage ? addUsage(before, usage) : {}),
  "model.replied": keepReply,
  "model.failed": (before, entry) => ({
    iterations: Math.max(before.iterations, entry.step),
    ...addLostUsage(before, entry),
  }),
  "calls.planned": (before, entry) => ({ calls: withPlan(before.calls, entry) }),
  "context.summarised": (before, { usage }) => addUsage(before, usage),
  "context.trimmed": () => ({}),
  "context.compacted": (before, { usage }) => addUsage(before, usage),
  "approval.requested": (before, { step, call, approval: { id, tool, risk, covers } }) => {
    const reach = tool !== null && covers !== undefined ? { reach: { tool, risk, covers } } : {};
    return withApproval(before, { approval: id, tool, step, call, ...reach });
  },
  "tool.started": (before, { step, call }) => withoutApprovalsOf(before, step, call),
  "tool.finished": keepOutcome,
  "child.settled": (before, entry) => ({ calls: withChild(before.calls, entry) }),
  "child.waiting": () => ({}),
  "timer.fired": addLostUsage,
  "inbox.received": (before, entry) => ({ ...afterInboxItem(before, entry.item), ...addLostUsage(before, entry) }),
  "children.checked": () => ({}),
  "verify.finished": () => ({}),
  "run.settled": (_before, { response, at }) => settle(response, at),
};

function open(before: RunRecord, { request, pin }: EntryOf<"run.opened">): Change {
  const { definition, definitionHash, limits } = pin;
  return {
    status: "running",
    exactStatus: "running",
    model: pin.model,
    team: definition.team ?? null,
    systemPrompt: `${definition.id}@${definitionHash.slice(0, 12)}`,
    maxAttempts: request.parent ? Math.max(definition.retry.maxAttempts, before.maxAttempts) : request.attempt,
    maxIterations: limits.maxIterations,
    maxDurationMs: limits.maxDurationMs,
    maxToolCalls: limits.maxToolCalls,
    budget: pin.budget,
    metadata: { ...before.metadata, status: "running" },
  };
}

/** A run that waits for a user has the same status with and without a host. */
function park(before: RunRecord, { reason }: EntryOf<"run.parked">): Change {
  if (reason === "drain") return withExactStatus(before, "parked");
  if (before.exactStatus !== "running") return {};
  return withExactStatus(before, reason === "pause" ? "paused" : "waiting");
}

function keepReply(before: RunRecord, { step, reply }: EntryOf<"model.replied">): Change {
  return {
    model: reply.model,
    iterations: Math.max(before.iterations, step),
    calls: [...before.calls, ...toolCallRecords(step, reply.calls)],
    toolCalls: before.toolCalls + reply.calls.length,
    ...addUsage(before, reply.usage),
  };
}

function addUsage(before: RunRecord, usage: Usage): Change {
  const inputTokens = (before.inputTokens ?? 0) + usage.inputTokens;
  const outputTokens = (before.outputTokens ?? 0) + usage.outputTokens;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, costUsd: addCost(before, usage) };
}

/** Adds the estimated usage of the model call that the entry has stopped. */
function addLostUsage(before: RunRecord, { lostUsage }: { lostUsage?: Usage | null }): Change {
  if (!lostUsage) return {};
  const { inputTokens, outputTokens, costUsd } = lostUsage;
  const sum = before.estimatedCostUsd;
  return {
    ...addUsage(before, lostUsage),
    estimatedTokens: before.estimatedTokens + inputTokens + outputTokens,
    estimatedCostUsd: sum === null || costUsd === null ? null : sum + costUsd,
  };
}

/** An unknown price makes the sum unknown. A call without tokens costs nothing. */
function addCost({ costUsd: sum }: RunRecord, { costUsd, inputTokens, outputTokens }: Usage): number | null {
  const cost = costUsd ?? (inputTokens + outputTokens === 0 ? 0 : null);
  return sum === null || cost === null ? null : sum + cost;
}

function keepOutcome(before: RunRecord, entry: EntryOf<"tool.finished">): Change {
  const { step, call, outcome } = entry;
  const { filesCreated, filesModified, filesDeleted } = filesOf(outcome);
  return {
    ...withoutApprovalsOf(before, step, call),
    calls: withToolOutcome(before.calls, entry),
    filesModified: union(before.filesModified, filesCreated, filesModified, filesDeleted),
  };
}

/** The fields that a run's response sets. */
export function settle(response: RunResponse, atMs: number): Change {
  const { metrics, error, bailoutReason, status } = response;
  return {
    status: toRecordStatus(status),
    exactStatus: status,
    pendingApprovals: [],
    paused: false,
    completedAt: toIso(atMs),
    durationMs: metrics.durationMs,
    iterations: metrics.iterations,
    toolCalls: metrics.toolCalls,
    contextTokens: metrics.contextSize,
    inputTokens: metrics.inputTokens,
    outputTokens: metrics.outputTokens,
    totalTokens: metrics.totalTokens,
    costUsd: metrics.costUsd,
    estimatedTokens: metrics.estimated?.tokens ?? 0,
    estimatedCostUsd: metrics.estimated ? metrics.estimated.costUsd : 0,
    filesModified: union(response.filesCreated, response.filesModified, response.filesDeleted),
    details: response.details,
    summary: response.summary,
    confidence: response.confidence,
    error: error?.message ?? null,
    bailoutReason,
    answerOnly: response.answerOnly ?? null,
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

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
