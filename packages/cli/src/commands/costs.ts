import type { CostGrouping, CostReport, CostSum } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { formatSum } from "../render/sums.ts";
import { withArchive } from "../session/archive.ts";
import type { Output } from "../terminal/terminal.ts";

export interface CostFlags {
  by: CostGrouping;
  /** How far to look back. */
  windowMs: number;
  json: boolean;
  csv: boolean;
}

/** `troupe costs`: shows what the runs of each agent, role, model, team or day cost. */
export async function showCosts(cli: Cli, { by, windowMs, json, csv }: CostFlags): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async ({ queries }) => {
    const report = await queries.costs({ by, sinceMs: cli.now() - windowMs });
    const print = (lines: readonly string[]) => lines.forEach((line) => void out.line(line));
    if (json) print([jsonLine(report)]);
    else if (csv) print(csvOf(report));
    else if (report.rows.length > 0) print(tableOf(report, out));
    for (const line of notesOf(report, windowMs)) err.line(err.colours.dim(line));
    return 0;
  });
}

function notesOf({ rows, leftOut, isCut }: CostReport, windowMs: number): string[] {
  const offline = leftOut === 0 ? [] : [`${leftOut} runs of demos and replays cost nothing and are left out`];
  const none = rows.length > 0 ? [] : [`no run began in the last ${formatDuration(windowMs)}`];
  return [...none, ...offline, ...(isCut ? ["only the newest 250,000 runs are counted"] : [])];
}

function tableOf({ by, rows, total }: CostReport, { width, colours }: Output): string[] {
  const dim = (text: string): Cell => ({ text, paint: colours.dim });
  const cells = (name: string, own: CostSum, below: string): Cell[] => [
    { text: name },
    ...[String(own.runs), own.tokens.toLocaleString("en-US"), formatSum(own), below].map((text) => ({ text })),
  ];
  const head = [by.toUpperCase(), "RUNS", "TOKENS", "COST", "WITH RUNS BELOW"].map(dim);
  const body = rows.map(({ name, own, subtree }) => cells(nameOf(name), own, formatSum(subtree)));
  const right = { align: "right" } as const;
  const columns = [{ flexible: true }, right, right, right, right];
  return layout(columns, [head, ...body, cells("all", total, "")], width);
}

function nameOf(name: string | null): string {
  return name === null ? "–" : cleanLine(name);
}

const csvColumns: readonly [name: string, read: (sum: CostSum) => number | null][] = [
  ["runs", ({ runs }) => runs],
  ["tokens", ({ tokens }) => tokens],
  ["cost_usd", ({ costUsd }) => costUsd],
  ["known_cost_usd", ({ knownCostUsd }) => knownCostUsd],
  ["unknown_runs", ({ unknownRuns }) => unknownRuns],
  ["estimated_tokens", ({ estimatedTokens }) => estimatedTokens],
];

/** RFC 4180. An unknown cost is an empty field. */
function csvOf({ by, rows }: CostReport): string[] {
  const head = [by, ...csvColumns.map(([name]) => name), ...csvColumns.map(([name]) => `subtree_${name}`)];
  const body = rows.map(({ name, own, subtree }) => [
    name === null ? "" : cleanLine(name),
    ...[own, subtree].flatMap((sum) => csvColumns.map(([, read]) => rounded(read(sum)))),
  ]);
  return [head, ...body].map((fields) => fields.map(csvField).join(","));
}

/** A sum of decimal fractions without the noise of its last digits. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toFixed(10));
}

function csvField(value: string | number | null): string {
  const text = String(value ?? "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
