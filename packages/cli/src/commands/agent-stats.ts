import type { AgentStats, AgentStatsList } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatCost, formatDuration } from "../render/format.ts";
import { type Cell, layout, truncate } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe agents stats`: shows how the settled runs of each agent went, from the record. */
export async function showAgentStats(cli: Cli, flags: { sinceMs: number; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  return withArchive(cli, async (archive) => {
    const stats = await archive.agentStats(flags.sinceMs);
    if (flags.json) out.line(jsonLine(stats));
    else if (stats.agents.length === 0) {
      err.line(`no run has settled in the last ${formatDuration(flags.sinceMs)}; demos and replays do not count`);
    } else for (const line of tableOf(stats, out)) out.line(line);
    return 0;
  });
}

/** With it, the widest numbers still fit 80 columns. */
const parentWidthMax = 14;

/** The row of each agent, and below it a row for each parent that it worked for. */
function tableOf({ agents, pairs }: AgentStatsList, { width, colours }: Output): string[] {
  const head: Cell[] = ["AGENT", "UNDER", "RUNS", "SUCCEEDED", "STOPPED", "MEDIAN", "COST"].map((text) => ({
    text,
    paint: colours.dim,
  }));
  const rows = agents.flatMap((row) => [row, ...pairs.filter(({ agent }) => agent === row.agent)]).map(cellsOf);
  const numbers = Array.from({ length: 5 }, () => ({ align: "right" }) as const);
  return layout([{ flexible: true }, {}, ...numbers], [head, ...rows], width);
}

function cellsOf({ agent, parent, runs, succeeded, successRate, stopped, medianMs, ...cost }: AgentStats): Cell[] {
  const rate = successRate === null ? "–" : `${succeeded} (${Math.round(successRate * 100)}%)`;
  const time = medianMs === null ? "–" : formatDuration(medianMs);
  return [
    { text: parent === null ? cleanLine(agent) : "" },
    { text: parent === null ? "any" : truncate(cleanLine(parent), parentWidthMax) },
    ...[String(runs), rate, String(stopped), time, costOf(cost, runs)].map((text) => ({ text })),
  ];
}

function costOf(
  { medianCostUsd, costIsEstimate }: Pick<AgentStats, "medianCostUsd" | "costIsEstimate">,
  runs: number,
): string {
  if (runs === 0) return "–";
  return medianCostUsd === null ? "unknown" : formatCost(medianCostUsd, { isEstimate: costIsEstimate });
}
