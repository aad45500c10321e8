import type { Branch, CostSum, RecordTotals } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";
import { toIso } from "../time.ts";
import { addCharge, countOutcome, emptyCounts, emptySum } from "./cost-sum.ts";
import { createAncestry, type FactList, forEachFact, type RunFacts } from "./run-facts.ts";

const taskCharactersMax = 200;

type AgentCounts = RecordTotals["agents"][number];

/** Totals, success rates, and the branches that took the longest or cost the most. */
export function createTotals(database: Database) {
  const sessions = database.prepare<[string], { status: string; count: number }>(
    `SELECT status, count(*) AS count FROM sessions
     WHERE root_run IS NOT NULL AND demo = 0 AND replay = 0 AND started_at >= ? GROUP BY status`,
  );
  const taskOf = database.prepareValue<[string], string>(
    `SELECT substr(m.request_content, 1, ${taskCharactersMax}) FROM runs r JOIN messages m ON m.id = r.message_id
     WHERE r.run_id = ?`,
  );

  return async (
    { facts, leftOut, isCut }: FactList,
    sinceMs: number | null,
    branchesMax: number,
  ): Promise<RecordTotals> => {
    const since = sinceMs === null ? null : toIso(sinceMs);
    const ofSessions = emptyCounts();
    for (const { status, count } of sessions.all(since ?? "")) countOutcome(ofSessions, status, count);
    const runs = emptyCounts();
    const cost = emptySum();
    const agents = new Map<string, AgentCounts>();
    let toolCalls = 0;
    await forEachFact(facts, (fact) => {
      countOutcome(runs, fact.status);
      addCharge(cost, fact);
      toolCalls += fact.toolCalls;
      const counts = agents.get(fact.agent) ?? { agent: fact.agent, team: fact.team, ...emptyCounts() };
      countOutcome(counts, fact.status);
      agents.set(fact.agent, counts);
    });
    const above = await createAncestry(facts);
    const sums = new Map<string, CostSum>();
    await forEachFact(facts, (fact) => addToBranches(sums, fact, above(fact)));
    const toBranch = (fact: RunFacts): Branch => ({
      session: fact.session,
      run: fact.run,
      path: [...[...above(fact)].map(({ agent }) => agent).reverse(), fact.agent],
      task: taskOf.get(fact.run) ?? "",
      status: fact.status,
      durationMs: fact.durationMs,
      cost: sums.get(fact.run) ?? emptySum(),
    });
    const branches = facts.filter(({ parentRun }) => parentRun !== null);
    const top = (rank: (fact: RunFacts) => number): Branch[] =>
      branches
        .filter((fact) => rank(fact) > 0)
        .sort((a, b) => rank(b) - rank(a))
        .slice(0, branchesMax)
        .map(toBranch);
    return {
      since,
      sessions: ofSessions,
      runs,
      toolCalls,
      cost,
      agents: [...agents.values()].sort((a, b) => b.total - a.total || (a.agent < b.agent ? -1 : 1)),
      slowest: top(({ durationMs }) => durationMs ?? 0),
      mostExpensive: top(({ run }) => sums.get(run)?.knownCostUsd ?? 0),
      leftOut,
      isCut,
    };
  };
}

/** The cost of each run with the runs below it. */
export function subtreeSums<Fact extends Pick<RunFacts, "run" | "tokens" | "costUsd" | "estimatedTokens">>(
  facts: readonly Fact[],
  above: (fact: Fact) => Iterable<Pick<RunFacts, "run">>,
): Map<string, CostSum> {
  const sums = new Map<string, CostSum>();
  for (const fact of facts) addToBranches(sums, fact, above(fact));
  return sums;
}

/** Adds the cost of a run to its own branch, and to the branches of the runs above it. */
function addToBranches(
  sums: Map<string, CostSum>,
  fact: Pick<RunFacts, "run" | "tokens" | "costUsd" | "estimatedTokens">,
  above: Iterable<Pick<RunFacts, "run">>,
): void {
  const add = (run: string): void => {
    const sum = sums.get(run) ?? emptySum();
    addCharge(sum, fact);
    sums.set(run, sum);
  };
  add(fact.run);
  for (const { run } of above) add(run);
}
