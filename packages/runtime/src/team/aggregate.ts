import type { RunResponse } from "@troupe/core";

/** Several responses combined. */
export interface Aggregate {
  /** Whether all of them succeeded. */
  success: boolean;
  succeeded: number;
  failed: number;
  /** One paragraph per response, in order, for a person or a model to read. */
  summary: string;
  /** All findings without duplicates. Empty unless the option `findings` is set. */
  findings: string[];
  filesCreated: string[];
  filesModified: string[];
  filesDeleted: string[];
  warnings: string[];
  /** This and the following numbers include the runs below each response. */
  runs: number;
  toolCalls: number;
  totalTokens: number;
  /** Null if any price is unknown. */
  costUsd: number | null;
}

/**
 * Combines responses, including those of failed runs.
 *
 * @param options.findings also returns the findings, and lists them below each paragraph. @default false
 * @example
 * const { summary, toolCalls } = aggregate(await team.fanOut(tasks));
 */
export function aggregate(responses: readonly RunResponse[], { findings = false } = {}): Aggregate {
  const succeeded = responses.filter(({ success }) => success).length;
  const totals = responses.map(({ metrics }) => metrics.subtree);
  return {
    success: succeeded === responses.length,
    succeeded,
    failed: responses.length - succeeded,
    summary: responses.map((response) => paragraphOf(response, findings)).join("\n\n"),
    findings: findings ? collect(responses, "findings") : [],
    filesCreated: collect(responses, "filesCreated"),
    filesModified: collect(responses, "filesModified"),
    filesDeleted: collect(responses, "filesDeleted"),
    warnings: collect(responses, "warnings"),
    runs: sum(totals.map(({ runs }) => runs)),
    toolCalls: sum(totals.map(({ toolCalls }) => toolCalls)),
    totalTokens: sum(totals.map(({ totalTokens }) => totalTokens)),
    costUsd: totals.reduce<number | null>(
      (all, { costUsd }) => (all === null || costUsd === null ? null : all + costUsd),
      0,
    ),
  };
}

function paragraphOf({ agent, success, status, summary, findings }: RunResponse, withFindings: boolean): string {
  const head = `${agent}${success ? "" : ` (${status.replace("_", " ")})`}: ${summary}`;
  return [head, ...(withFindings ? findings.map((finding) => `- ${finding}`) : [])].join("\n");
}

function collect(
  responses: readonly RunResponse[],
  list: "findings" | "filesCreated" | "filesModified" | "filesDeleted" | "warnings",
): string[] {
  return [...new Set(responses.flatMap((response) => response[list]))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
