import { setImmediate as nextTurn } from "node:timers/promises";
import type { CostGrouping, CostReport, CostRow, CostSum } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import type { Database } from "../../database/sqlite.ts";
import { toIso } from "../time.ts";
import { addCharge, addSum, emptySum } from "./cost-sum.ts";
import { createAncestry, type FactRow, factColumns, forEachFact, type RunFacts } from "./run-facts.ts";

/** Costs by a property of each run: for the runs alone, and for them with the runs below. */
export type CostQuery = (by: CostGrouping, sinceMs: number | null) => Promise<CostReport>;

/** Sessions whose stored sums are added at once. Other work runs between two parts. */
const sessionsPerTurn = 10_000;

interface SumRow extends Record<`own${SumPart}` | `all${SumPart}`, number> {
  name: string | null;
}
type SumPart = "Runs" | "Tokens" | "Usd" | "Unknown" | "Estimated";

/**
 * Adds the stored sums of sessions that have ended, and the runs of all others. A session that began before the asked time and
 * ended after it counts run by run too.
 */
export function createCostQuery(database: Database): CostQuery {
  const last = database.prepareValue<[], number>("SELECT coalesce(max(id), 0) FROM summed_sessions");
  const sums = database.prepare<[string, number, number, string], SumRow>(`
    SELECT c.name, ${["own", "all"].map(sumColumns).join(", ")}
    FROM summed_sessions s JOIN session_costs c ON c.summed_id = s.id AND c.grouping = ?
    WHERE s.id > ? AND s.id <= ? AND s.is_summed = 1 AND s.offline = 0 AND s.first_at >= ? GROUP BY c.name`);
  const offline = database.prepareValue<[string], number>(
    "SELECT coalesce(sum(runs), 0) FROM summed_sessions WHERE offline = 1 AND is_summed = 1 AND first_at >= ?",
  );
  const others = database.prepareValue<[string, string], string>(
    `SELECT session_id FROM summed_sessions WHERE is_summed = 0
     UNION ALL SELECT session_id FROM summed_sessions WHERE is_summed = 1 AND first_at < ? AND last_at >= ?`,
  );
  const factsOf = database.prepare<[string, string], FactRow>(
    `SELECT ${factColumns} FROM runs r JOIN messages m ON m.id = r.message_id JOIN sessions s ON s.session_id = r.session_id
     WHERE r.session_id = ? AND m.started_at >= ?`,
  );

  const readOthers = async (since: string): Promise<FactRow[]> => {
    const facts: FactRow[] = [];
    let turnFacts = 0;
    for (const session of others.all(since, since)) {
      facts.push(...factsOf.all(session, since));
      if (facts.length - turnFacts < factsPerTurn) continue;
      turnFacts = facts.length;
      await nextTurn();
    }
    return facts;
  };

  return async (by, sinceMs) => {
    const since = sinceMs === null ? "" : toIso(sinceMs);
    const groups = emptyGroups();
    const lastId = last.get() ?? 0;
    for (let id = 0; id < lastId; id += sessionsPerTurn) {
      for (const row of sums.all(by, id, id + sessionsPerTurn, since)) addStored(groups, row);
      await nextTurn();
    }
    const facts = await readOthers(since);
    const paid = facts.filter(({ isOffline }) => isOffline === 0);
    const above = await createAncestry(paid);
    await forEachFact(paid, (fact) => addGroups(groups, fact, above(fact), nameOf[by]));
    const rows = [...groups.values()];
    const total = emptySum();
    for (const { own } of rows) addSum(total, own);
    const leftOut = (offline.get(since) ?? 0) + facts.length - paid.length;
    return {
      since: sinceMs === null ? null : since,
      by,
      rows: rows.sort(orders[by] ?? byCost),
      total,
      leftOut,
      isCut: false,
    };
  };
}

const factsPerTurn = 2_000;

function sumColumns(of: string): string {
  const parts = ["Runs", "Tokens", "Usd", "Unknown", "Estimated"];
  return parts.map((part) => `total(c.${of}_${part.toLowerCase()}) AS ${of}${part}`).join(", ");
}

function addStored(groups: CostGroups, row: SumRow): void {
  const known = groups.get(row.name);
  const group = known ?? { name: row.name, own: emptySum(), subtree: emptySum() };
  if (!known) groups.set(row.name, group);
  addSum(group.own, sumOf(row.ownRuns, row.ownTokens, row.ownUsd, row.ownUnknown, row.ownEstimated));
  addSum(group.subtree, sumOf(row.allRuns, row.allTokens, row.allUsd, row.allUnknown, row.allEstimated));
}

function sumOf(runs: number, tokens: number, usd: number, unknown: number, estimated: number): CostSum {
  return { runs, tokens, costUsd: null, knownCostUsd: usd, unknownRuns: unknown, estimatedTokens: estimated };
}

/** Sums by the name of their group. */
export type CostGroups = Map<string | null, CostRow>;

export function emptyGroups(): CostGroups {
  return new Map();
}

/** Adds a run to its own group, and to the group of each run above it. */
export function addGroups(
  groups: CostGroups,
  fact: RunFacts,
  above: Iterable<RunFacts>,
  name: (fact: RunFacts) => string | null,
): void {
  const rowOf = (group: string | null): CostRow => {
    const known = groups.get(group);
    if (known) return known;
    const row = { name: group, own: emptySum(), subtree: emptySum() };
    groups.set(group, row);
    return row;
  };
  const own = name(fact);
  addCharge(rowOf(own).own, fact);
  // A run below several runs of one group counts once in the group.
  const names = new Set([own]);
  for (const ancestor of above) names.add(name(ancestor));
  for (const each of names) addCharge(rowOf(each).subtree, fact);
}

export const nameOf: Readonly<Record<CostGrouping, (fact: RunFacts) => string | null>> = {
  agent: ({ agent }) => agent,
  role: (fact) => describeAgent(fact).split("/").at(-1) ?? null,
  model: ({ model }) => model,
  team: ({ team }) => team,
  day: ({ startedAt }) => startedAt.slice(0, 10),
};

const orders: Partial<Record<CostGrouping, (a: CostRow, b: CostRow) => number>> = { day: byName };

function byCost(a: CostRow, b: CostRow): number {
  return b.own.knownCostUsd - a.own.knownCostUsd || b.own.tokens - a.own.tokens || byName(a, b);
}

function byName({ name: a }: CostRow, { name: b }: CostRow): number {
  if (a === b) return 0;
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
