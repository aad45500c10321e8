import type { AgentStats, AgentStatsList } from "../protocol/agent-stats.ts";

/** With fewer runs, one lucky or unlucky run would decide the model's choice. */
export const hintRunsMin = 10;

/**
 * The hint for a delegating model: how earlier runs of an agent went. The runs under the same parent count if there are
 * at least ten, else all runs of the agent. Undefined with fewer. It has numbers only, and no text that a model wrote.
 *
 * @example
 * agentHint(stats, { parent: "main", agent: "coder" }); // "12 of 14 succeeded, median 40 s, $0.03"
 */
export function agentHint(
  { agents, pairs }: Pick<AgentStatsList, "agents" | "pairs">,
  { parent, agent }: { parent: string; agent: string },
): string | undefined {
  const pair = pairs.find((row) => row.agent === agent && row.parent === parent);
  const rows = [pair, agents.find((row) => row.agent === agent)];
  const found = rows.find((row) => row !== undefined && row.runs >= hintRunsMin);
  return found && hintOf(found);
}

/** A cost that few runs have says as little as few runs: it is left out. An unknown cost is never $0. */
function hintOf({ runs, succeeded, medianMs, medianCostUsd, costRuns, costIsEstimate }: AgentStats): string {
  const parts = [`${succeeded} of ${runs} succeeded`];
  if (medianMs !== null) parts.push(`median ${roughTime(medianMs)}`);
  if (medianCostUsd !== null && costRuns >= hintRunsMin) {
    parts.push(`${costIsEstimate ? "≈ " : ""}${roughCost(medianCostUsd)}`);
  }
  return parts.join(", ");
}

function roughTime(ms: number): string {
  if (ms < 1_000) return "under 1 s";
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

const smallestCostUsd = 0.0001;

function roughCost(usd: number): string {
  if (usd > 0 && usd < smallestCostUsd) return `under $${smallestCostUsd}`;
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}
