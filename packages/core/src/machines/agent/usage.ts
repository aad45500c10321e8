import { addCost, addSpent, nothingSpent } from "../../budget/ledger.ts";
import type { Spent } from "../../protocol/budget.ts";
import type { ModelReply, Usage } from "../../protocol/model.ts";
import type { RunResponse, TestSuite, Totals } from "../../protocol/response.ts";
import { filesOf, type ToolCall, type ToolOutcome } from "../../protocol/tool.ts";
import { withSuites, withTestRun } from "./evidence.ts";
import { type ChangedFiles, withFiles } from "./touched-files.ts";

/** What has been used and touched so far: evidence, from the runtime alone. */
export interface UsageCounts extends ChangedFiles {
  usage: { inputTokens: number; outputTokens: number; costUsd: number | null };
  toolCalls: number;
  toolsUsed: string[];
  artifacts: RunResponse["artifacts"];
  /** The newest run of each suite, by whichever run of the tree. */
  testSuites: TestSuite[];
  warnings: string[];
  /** Sums over all children, retries included. */
  children: Totals;
  /** What the whole subtree takes from the budget: use, and reserves of calls whose outcome was lost. */
  charged: Spent;
  /** The part of it that this run's own lost calls are charged. */
  lost: { tokens: number; costUsd: number };
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
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
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
};

const lostWarning =
  "a model call was lost after it had begun: it may have been paid for, and no tokens or cost of it are counted as used";
const cutOffWarning = "the model was cut off at its output limit: what it said is incomplete";

export function addReply(tally: UsageCounts, { usage, stopReason }: ModelReply): UsageCounts {
  const used = addUsage(tally, usage);
  return stopReason === "max_tokens" ? { ...used, warnings: union(tally.warnings, [cutOffWarning]) } : used;
}

export function addUsage(tally: UsageCounts, usage: Usage): UsageCounts {
  const tokens = usage.inputTokens + usage.outputTokens;
  return {
    ...tally,
    usage: {
      inputTokens: tally.usage.inputTokens + usage.inputTokens,
      outputTokens: tally.usage.outputTokens + usage.outputTokens,
      costUsd: addCost(tally.usage.costUsd, usage.costUsd),
    },
    charged: addSpent(tally.charged, { tokens, costUsd: usage.costUsd, toolCalls: 0, spawns: 0 }),
  };
}

/** A call that may have been paid for, though nobody knows what came of it. */
export function addLost(tally: UsageCounts, lost: { tokens: number; costUsd: number }): UsageCounts {
  return {
    ...tally,
    warnings: union(tally.warnings, [lostWarning]),
    charged: addSpent(tally.charged, { ...lost, toolCalls: 0, spawns: 0 }),
    lost: { tokens: tally.lost.tokens + lost.tokens, costUsd: tally.lost.costUsd + lost.costUsd },
  };
}

export function addToolCalls(tally: UsageCounts, count: number): UsageCounts {
  return {
    ...tally,
    toolCalls: tally.toolCalls + count,
    charged: addSpent(tally.charged, { ...nothingSpent, toolCalls: count }),
  };
}

/** A run was started: what it uses besides comes with its response. */
export function addSpawn(tally: UsageCounts): UsageCounts {
  return { ...tally, charged: addSpent(tally.charged, { ...nothingSpent, spawns: 1 }) };
}

/** A run that was counted as started was not. */
export function withoutSpawn(tally: UsageCounts): UsageCounts {
  return { ...tally, charged: addSpent(tally.charged, { ...nothingSpent, spawns: -1 }) };
}

export function addOutcome(tally: UsageCounts, toolCall: ToolCall, outcome: ToolOutcome): UsageCounts {
  const tool = toolCall.name;
  const refused = isRefused(outcome);
  return {
    ...tally,
    ...withFiles(tally, filesOf(outcome)),
    toolsUsed: refused ? tally.toolsUsed : union(tally.toolsUsed, [tool]),
    artifacts: withArtifacts(tally.artifacts, outcome.artifacts),
    testSuites: refused ? tally.testSuites : withTestRun(tally.testSuites, toolCall, outcome.tests),
    warnings: outcome.inDoubt
      ? [...tally.warnings, `${tool} was interrupted: it may or may not have happened, and was not repeated`]
      : tally.warnings,
  };
}

function withArtifacts(known: UsageCounts["artifacts"], added: UsageCounts["artifacts"]): UsageCounts["artifacts"] {
  const fresh = added.filter(({ name, ref }) => !known.some((one) => one.name === name && one.ref === ref));
  return fresh.length === 0 ? known : [...known, ...fresh];
}

/** For what was asked, or for who asked it: nothing was done, and the tool need not even exist. */
function isRefused({ error }: ToolOutcome): boolean {
  return error?.type === "params" || error?.type === "permission";
}

/**
 * A child's evidence becomes its parent's: what its whole subtree has used, and, where both work in the same folder, files
 * that it touched.
 */
export function addChild(tally: UsageCounts, response: RunResponse, sharesFolder: boolean): UsageCounts {
  return {
    ...tally,
    // A child that was never asked is no work that was handed on.
    toolsUsed: response.metrics.subtree.runs > 0 ? union(tally.toolsUsed, ["delegate"]) : tally.toolsUsed,
    ...(sharesFolder ? withFiles(tally, response) : {}),
    artifacts: withArtifacts(tally.artifacts, response.artifacts),
    testSuites: withSuites(tally.testSuites, response.testSuites),
    warnings: union(tally.warnings, response.warnings),
    children: addTotals(tally.children, response.metrics.subtree),
    charged: addSpent(tally.charged, response.metrics.charged),
  };
}

export function addTotals(a: Totals, b: Totals): Totals {
  return {
    runs: a.runs + b.runs,
    iterations: a.iterations + b.iterations,
    toolCalls: a.toolCalls + b.toolCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: addCost(a.costUsd, b.costUsd),
  };
}

function union(a: string[], b: readonly string[]): string[] {
  return b.every((item) => a.includes(item)) ? a : [...new Set([...a, ...b])];
}
