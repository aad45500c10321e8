import type { Branch, OutcomeCounts, RecordTotals } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatDuration, shortIds } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { formatRate, formatSum } from "../render/sums.ts";
import { withArchive } from "../session/archive.ts";
import type { Output } from "../terminal/terminal.ts";

/** Branches and agents of each table. */
const rowsMax = 5;

/** `troupe stats`: shows totals, success rates, and the slowest and most expensive branches. */
export async function showStats(cli: Cli, flags: { windowMs: number; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async ({ queries }) => {
    const totals = await queries.totals({ sinceMs: cli.now() - flags.windowMs, branches: rowsMax });
    if (flags.json) out.line(jsonLine(totals));
    else if (totals.runs.total > 0) for (const line of linesOf(totals, out)) out.line(line);
    else err.line(`no run began in the last ${formatDuration(flags.windowMs)}`);
    if (totals.leftOut > 0) err.line(err.colours.dim(`${totals.leftOut} runs of demos and replays are left out`));
    return 0;
  });
}

function linesOf({ sessions, runs, toolCalls, cost, agents, slowest, mostExpensive }: RecordTotals, out: Output) {
  const { colours, width } = out;
  const facts: [string, string][] = [
    ["sessions", countsOf(sessions)],
    ["runs", countsOf(runs)],
    ["tool calls", toolCalls.toLocaleString("en-US")],
    ["tokens", cost.tokens.toLocaleString("en-US")],
    ["cost", formatSum(cost)],
  ];
  const dim = (text: string): Cell => ({ text, paint: colours.dim });
  const ofAgents = agents
    .slice(0, rowsMax)
    .map((row): Cell[] => [describeAgent(row), String(row.total), formatRate(row)].map((text) => ({ text })));
  return [
    ...layout(
      [{}, {}],
      facts.map(([name, text]) => [dim(name), { text }]),
      width,
    ),
    "",
    ...layout([{ flexible: true }, right, right], [["AGENT", "RUNS", "SUCCEEDED"].map(dim), ...ofAgents], width),
    ...branchTable("SLOWEST BRANCHES", slowest, out),
    ...branchTable("MOST EXPENSIVE BRANCHES", mostExpensive, out),
  ];
}

const right = { align: "right" } as const;

function countsOf(counts: OutcomeCounts): string {
  const parts = [
    counts.active > 0 ? `${counts.active} active` : "",
    counts.stopped > 0 ? `${counts.stopped} stopped` : "",
    counts.successRate === null ? "" : `${formatRate(counts)} succeeded`,
  ].filter((part) => part !== "");
  return [String(counts.total), ...parts].join(", ");
}

function branchTable(title: string, branches: readonly Branch[], { width, colours }: Output): string[] {
  if (branches.length === 0) return [];
  const short = shortIds(branches.map(({ run }) => run));
  const head = [title, "TASK", "RUNS", "TOOK", "COST", "RUN"].map((text): Cell => ({ text, paint: colours.dim }));
  const body = branches.map(({ path, task, durationMs, cost, run }): Cell[] =>
    [
      cleanLine(path.join(" › ")),
      cleanLine(task),
      String(cost.runs),
      durationMs === null ? "–" : formatDuration(durationMs),
      formatSum(cost),
      short(run),
    ].map((text) => ({ text })),
  );
  return ["", ...layout([{}, { flexible: true }, right, right, right, {}], [head, ...body], width)];
}
