import type { RunResponse } from "@troupe/core";

/** What several responses come to. */
export interface Aggregate {
  /** Whether every one of them succeeded. */
  success: boolean;
  succeeded: number;
  failed: number;
  /** One paragraph for each response, in their order: what whoever asked should read. */
  summary: string;
  /** All that was found, each thing once. Empty unless it was wanted. */
  findings: string[];
  filesCreated: string[];
  filesModified: string[];
  filesDeleted: string[];
  warnings: string[];
  /** The figures count the runs below each response too. */
  runs: number;
  toolCalls: number;
  totalTokens: number;
  /** Null when any price is unknown. */
  costUsd: number | null;
}

/**
 * Puts responses together, those of failures too.
 *
 * @param options.findings whether what was found comes along, also beneath each paragraph. @default false
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
    findings: findings ? each(responses, "findings") : [],
    filesCreated: each(responses, "filesCreated"),
    filesModified: each(responses, "filesModified"),
    filesDeleted: each(responses, "filesDeleted"),
    warnings: each(responses, "warnings"),
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

function each(
  responses: readonly RunResponse[],
  list: "findings" | "filesCreated" | "filesModified" | "filesDeleted" | "warnings",
): string[] {
  return [...new Set(responses.flatMap((response) => response[list]))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
