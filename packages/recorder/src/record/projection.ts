import type { Entry, RunResponse, Usage } from "@troupe/core";
import { type EntryKind, filesOf, toRecordStatus } from "@troupe/core/internal";
import { activityAfter } from "./activity.ts";
import type { RunDraft } from "./draft.ts";
import { draftOfOpening } from "./new-draft.ts";
import { asking, exactly, heard, movedOn, standing } from "./standing.ts";
import { toIso } from "./time.ts";
import { notesOf, withChild, withPlan, withToolOutcome } from "./tool-calls.ts";

type EntryOf<K extends EntryKind> = Entry & { kind: K };
type Change = Partial<Omit<RunDraft, "session" | "run">>;

/**
 * What a run's next entry makes of its draft. Null for an entry of a run that the record has not seen open: it has
 * nothing to hang it on. What the entry says of other runs is in `hearsay.ts`.
 */
export function project(draft: RunDraft | null, entry: Entry): RunDraft | null {
  const head = { headIndex: entry.index, headHash: entry.hash };
  // A terminal state never changes again, whatever a defect may append.
  if (draft && isClosed(draft)) return { ...draft, ...head };
  const before = entry.kind === "run.opened" ? draftOfOpening(draft, entry) : draft;
  if (!before) return null;
  const apply = changes[entry.kind] as (before: RunDraft, entry: Entry) => Change;
  const after = { ...before, ...apply(before, entry), ...head, host: entry.host, lastEventAt: toIso(entry.at) };
  return { ...after, activity: activityAfter(after, entry) };
}

/** Settled by its own journal. What others say of its end holds only while it has no entry itself. */
export function isClosed({ completedAt, headIndex }: RunDraft): boolean {
  return completedAt !== null && headIndex >= 0;
}

/** One for each kind: the compiler names the one that is missing. */
const changes: { [K in EntryKind]: (before: RunDraft, entry: EntryOf<K>) => Change } = {
  "run.opened": open,
  "run.claimed": (before) => standing(before),
  "run.parked": park,
  "intent.assessed": (before, { usage }) => (usage ? addUsage(before, usage) : {}),
  "model.replied": keepReply,
  "model.failed": (before, { step }) => ({ iterations: Math.max(before.iterations, step) }),
  "calls.planned": (before, entry) => ({ toolCalls: withPlan(before.toolCalls, entry) }),
  "context.summarised": (before, { usage }) => addUsage(before, usage),
  "context.trimmed": () => ({}),
  "context.compacted": (before, { usage }) => addUsage(before, usage),
  "approval.requested": (before, { step, call, approval: { id, tool } }) =>
    asking(before, { approval: id, tool, step, call }),
  "tool.started": (before, { step, call }) => movedOn(before, step, call),
  "tool.finished": keepOutcome,
  "child.settled": (before, entry) => ({ toolCalls: withChild(before.toolCalls, entry) }),
  "child.waiting": () => ({}),
  "timer.fired": () => ({}),
  "inbox.received": (before, { item }) => heard(before, item),
  "verify.finished": () => ({}),
  "run.settled": (_before, { response, at }) => settle(response, at),
};

function open(before: RunDraft, { request, pin }: EntryOf<"run.opened">): Change {
  const { definition, definitionHash, limits } = pin;
  return {
    status: "running",
    exactStatus: "running",
    model: pin.model,
    systemPrompt: `${definition.id}@${definitionHash.slice(0, 12)}`,
    maxAttempts: request.parent ? Math.max(definition.retry.maxAttempts, before.maxAttempts) : request.attempt,
    maxIterations: limits.maxIterations,
    maxDurationMs: limits.maxDurationMs,
    maxToolCalls: limits.maxToolCalls,
    budget: pin.budget,
    metadata: { ...before.metadata, status: "running" },
  };
}

/** A run that waits for a person is shown so, whether or not a host holds it. */
function park(before: RunDraft, { reason }: EntryOf<"run.parked">): Change {
  if (reason === "drain") return exactly(before, "parked");
  if (before.exactStatus !== "running") return {};
  return exactly(before, reason === "pause" ? "paused" : "waiting");
}

function keepReply(before: RunDraft, { step, reply }: EntryOf<"model.replied">): Change {
  return {
    model: reply.model,
    iterations: Math.max(before.iterations, step),
    toolCalls: [...before.toolCalls, ...notesOf(step, reply.calls)],
    toolCallCount: before.toolCallCount + reply.calls.length,
    ...addUsage(before, reply.usage),
  };
}

function addUsage(before: RunDraft, usage: Usage): Change {
  const inputTokens = (before.inputTokens ?? 0) + usage.inputTokens;
  const outputTokens = (before.outputTokens ?? 0) + usage.outputTokens;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, costUsd: addCost(before, usage) };
}

/** An unknown price makes the sum unknown; where no token was used there was nothing to pay. */
function addCost({ costUsd: sum }: RunDraft, { costUsd, inputTokens, outputTokens }: Usage): number | null {
  const cost = costUsd ?? (inputTokens + outputTokens === 0 ? 0 : null);
  return sum === null || cost === null ? null : sum + cost;
}

function keepOutcome(before: RunDraft, entry: EntryOf<"tool.finished">): Change {
  const { step, call, outcome } = entry;
  const { filesCreated, filesModified, filesDeleted } = filesOf(outcome);
  return {
    ...movedOn(before, step, call),
    toolCalls: withToolOutcome(before.toolCalls, entry),
    files: union(before.files, filesCreated, filesModified, filesDeleted),
  };
}

/** How a run ended, by its one response. */
export function settle(response: RunResponse, atMs: number): Change {
  const { metrics, error, bailoutReason, status } = response;
  return {
    status: toRecordStatus(status),
    exactStatus: status,
    asks: [],
    paused: false,
    completedAt: toIso(atMs),
    durationMs: metrics.durationMs,
    iterations: metrics.iterations,
    toolCallCount: metrics.toolCalls,
    contextTokens: metrics.contextSize,
    inputTokens: metrics.inputTokens,
    outputTokens: metrics.outputTokens,
    totalTokens: metrics.totalTokens,
    costUsd: metrics.costUsd,
    files: union(response.filesCreated, response.filesModified, response.filesDeleted),
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

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
