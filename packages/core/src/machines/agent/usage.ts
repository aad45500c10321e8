import { addCost, addSpent, nothingSpent } from "../../budget/ledger.ts";
import type { Spent } from "../../protocol/budget.ts";
import type { ModelReply, Usage } from "../../protocol/model.ts";
import type { RunResponse, TestSuite, Totals } from "../../protocol/response.ts";
import { joinTaint, noTaint, type Taint } from "../../protocol/taint.ts";
import { filesOf, type ToolCall, type ToolOutcome } from "../../protocol/tool.ts";
import { type ChangedFiles, union, withArtifacts, withFiles, withSuites, withTestRun } from "./evidence.ts";

/** Everything that a run has used and changed so far: evidence from the runtime, never from a model's text. */
export interface UsageCounts extends ChangedFiles {
  /** Tokens and cost of the run's own model calls. */
  own: { inputTokens: number; outputTokens: number; costUsd: number | null };
  /** The part for calls without a reply, by estimate. It is not in `own`. */
  estimated: Usage | null;
  toolCalls: number;
  toolsUsed: string[];
  artifacts: RunResponse["artifacts"];
  /** The newest run of each suite anywhere in the subtree. */
  testSuites: TestSuite[];
  warnings: string[];
  /** Sums over all children, retries included. */
  children: Totals;
  /** The amount that the subtree takes from the budget: usage, and reserves of calls whose outcome was lost. */
  charged: Spent;
  /** The part of `charged` for this run's own lost calls. */
  lost: { tokens: number; costUsd: number };
  /** Untrusted and private sources that the run and its children have read. */
  taint: Taint;
}

const emptyTotals: Totals = {
  runs: 0,
  iterations: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
};

export const emptyUsageCounts: UsageCounts = {
  own: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  estimated: null,
  toolCalls: 0,
  toolsUsed: [],
  filesCreated: [],
  filesModified: [],
  filesDeleted: [],
  artifacts: [],
  testSuites: [],
  warnings: [],
  children: emptyTotals,
  charged: nothingSpent,
  lost: { tokens: 0, costUsd: 0 },
  taint: noTaint,
};

/** Recorded in responses: its text may not change. */
export const lostCallWarning =
  "a model call was lost after it had begun: it may have been paid for, and no tokens or cost of it are counted as used";
/** The same for runs whose lost calls are booked. */
export const estimatedCallWarning =
  "a model call was stopped or lost after it had begun: its tokens and its cost are estimates (≈)";
const cutOffWarning = "the model was cut off at its output limit: what it said is incomplete";

export function addReply(counts: UsageCounts, { usage, stopReason }: ModelReply): UsageCounts {
  const used = addUsage(counts, usage);
  return stopReason === "max_tokens" ? { ...used, warnings: union(counts.warnings, [cutOffWarning]) } : used;
}

export function addUsage(counts: UsageCounts, usage: Usage): UsageCounts {
  const tokens = usage.inputTokens + usage.outputTokens;
  return {
    ...counts,
    own: {
      inputTokens: counts.own.inputTokens + usage.inputTokens,
      outputTokens: counts.own.outputTokens + usage.outputTokens,
      costUsd: addCost(counts.own.costUsd, usage.costUsd),
    },
    charged: addSpent(counts.charged, { tokens, costUsd: usage.costUsd, toolCalls: 0, spawns: 0 }),
  };
}

/** Charges a call whose outcome was lost: the provider may have billed it, and its real usage is unknown. */
export function addLost(counts: UsageCounts, lost: { tokens: number; costUsd: number }): UsageCounts {
  return {
    ...counts,
    warnings: union(counts.warnings, [lostCallWarning]),
    charged: addSpent(counts.charged, { ...lost, toolCalls: 0, spawns: 0 }),
    lost: { tokens: counts.lost.tokens + lost.tokens, costUsd: counts.lost.costUsd + lost.costUsd },
  };
}

/** Charges the reserve of a call whose outcome was lost, and counts its estimated usage. */
export function addEstimate(
  counts: UsageCounts,
  reserve: { tokens: number; costUsd: number },
  usage: Pick<Usage, "inputTokens" | "outputTokens" | "costUsd">,
): UsageCounts {
  const before = counts.estimated ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  const charged = addLost({ ...counts, warnings: [] }, reserve);
  return {
    ...charged,
    warnings: union(counts.warnings, [estimatedCallWarning]),
    estimated: {
      ...before,
      inputTokens: before.inputTokens + usage.inputTokens,
      outputTokens: before.outputTokens + usage.outputTokens,
      costUsd: addCost(before.costUsd, usage.costUsd),
    },
  };
}

export function addToolCalls(counts: UsageCounts, count: number): UsageCounts {
  return {
    ...counts,
    toolCalls: counts.toolCalls + count,
    charged: addSpent(counts.charged, { ...nothingSpent, toolCalls: count }),
  };
}

/** Counts a started child. Its further usage arrives with its response. */
export function addSpawn(counts: UsageCounts): UsageCounts {
  return { ...counts, charged: addSpent(counts.charged, { ...nothingSpent, spawns: 1 }) };
}

/** Takes back a counted child that was not started after all. */
export function withoutSpawn(counts: UsageCounts): UsageCounts {
  return { ...counts, charged: addSpent(counts.charged, { ...nothingSpent, spawns: -1 }) };
}

export function addOutcome(counts: UsageCounts, toolCall: ToolCall, outcome: ToolOutcome): UsageCounts {
  const tool = toolCall.name;
  const refused = isRefused(outcome);
  return {
    ...counts,
    ...withFiles(counts, filesOf(outcome)),
    toolsUsed: refused ? counts.toolsUsed : union(counts.toolsUsed, [tool]),
    artifacts: withArtifacts(counts.artifacts, outcome.artifacts),
    testSuites: refused ? counts.testSuites : withTestRun(counts.testSuites, toolCall, outcome.tests),
    taint: joinTaint(counts.taint, outcome.taint),
    warnings: outcome.inDoubt
      ? [...counts.warnings, `${tool} was interrupted: it may or may not have happened, and was not repeated`]
      : counts.warnings,
  };
}

/** Whether the call was refused before it ran. The tool need not even exist. */
function isRefused({ error }: ToolOutcome): boolean {
  return error?.type === "params" || error?.type === "permission";
}

/** Adds a child's evidence: the usage of its subtree and, if both runs share a folder, its changed files. */
export function addChild(counts: UsageCounts, response: RunResponse, sharesFolder: boolean): UsageCounts {
  return {
    ...counts,
    // A child that was never started does not count as a use of the delegation tool.
    toolsUsed: response.metrics.subtree.runs > 0 ? union(counts.toolsUsed, ["delegate"]) : counts.toolsUsed,
    ...(sharesFolder ? withFiles(counts, response) : {}),
    artifacts: withArtifacts(counts.artifacts, response.artifacts),
    testSuites: withSuites(counts.testSuites, response.testSuites),
    warnings: union(counts.warnings, response.warnings),
    children: addTotals(counts.children, response.metrics.subtree),
    charged: addSpent(counts.charged, response.metrics.charged),
    taint: joinTaint(counts.taint, response.taint),
  };
}

export function addTotals(a: Totals, b: Totals): Totals {
  return {
    ...addEstimates(a.estimated, b.estimated),
    runs: a.runs + b.runs,
    iterations: a.iterations + b.iterations,
    toolCalls: a.toolCalls + b.toolCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: addCost(a.costUsd, b.costUsd),
  };
}

function addEstimates(a: Totals["estimated"], b: Totals["estimated"]): Pick<Totals, "estimated"> {
  if (!a || !b) return a || b ? ({ estimated: a ?? b } as Pick<Totals, "estimated">) : {};
  return { estimated: { tokens: a.tokens + b.tokens, costUsd: addCost(a.costUsd, b.costUsd) } };
}
