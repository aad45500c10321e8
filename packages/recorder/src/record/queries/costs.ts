import type { CostGrouping, CostReport, CostRow } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { toIso } from "../time.ts";
import { addCharge, emptySum } from "./cost-sum.ts";
import { createAncestry, type FactList, forEachFact, type RunFacts } from "./run-facts.ts";

/** Sums the cost of runs by a property of each run: for the runs alone, and for them with the runs below. */
export async function costReport(list: FactList, by: CostGrouping, sinceMs: number | null): Promise<CostReport> {
  const { facts, leftOut, isCut } = list;
  const nameOf = names[by];
  const above = await createAncestry(facts);
  const rows = new Map<string | null, CostRow>();
  const rowOf = (name: string | null): CostRow => {
    const known = rows.get(name);
    if (known) return known;
    const row = { name, own: emptySum(), subtree: emptySum() };
    rows.set(name, row);
    return row;
  };
  const total = emptySum();
  await forEachFact(facts, (fact) => {
    const own = nameOf(fact);
    addCharge(total, fact);
    addCharge(rowOf(own).own, fact);
    // A run below several runs of one group counts once in the group.
    const groups = new Set([own]);
    for (const ancestor of above(fact)) groups.add(nameOf(ancestor));
    for (const name of groups) addCharge(rowOf(name).subtree, fact);
  });
  const since = sinceMs === null ? null : toIso(sinceMs);
  return { since, by, rows: [...rows.values()].sort(orders[by] ?? byCost), total, leftOut, isCut };
}

const names: Readonly<Record<CostGrouping, (fact: RunFacts) => string | null>> = {
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
