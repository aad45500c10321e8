import type { Benchmark, Figure } from "../benchmark.ts";

interface RecordCost {
  treeMs: number;
  treeFloorMs: number;
  sessionMs: number;
  searchCommonMs: number;
  searchRareMs: number;
  searchAgentMs: number;
  searchSinceMs: number;
  searchPrefixMs: number;
  searchFloorMs: number;
  listMs: number;
  listFloorMs: number;
  idMs: number;
  costsDayMs: number;
  costsAllMs: number;
  costsLagMaxMs: number;
  fillMs: number;
}

export const record: Benchmark = {
  name: "record",
  what: "queries over a record of a million rows, beside bare SQL for the same rows",
  async *figures(measure) {
    yield* figuresOf(await measure<RecordCost>(1, "record-cost.ts"));
  },
};

const searchMs = 100;
const lines: readonly [name: keyof RecordCost, what: string, aim?: number][] = [
  ["treeMs", "the tree of a session of 1,000 runs", 50],
  ["treeFloorMs", "  floor: one query for its rows"],
  ["sessionMs", "  the session as the page loads it"],
  ["searchCommonMs", "search for two common words", searchMs],
  ["searchFloorMs", "  floor: the places of 20 matches"],
  ["searchRareMs", "search for a rare word", searchMs],
  ["searchAgentMs", "search for a common word of one agent", searchMs],
  ["searchSinceMs", "search for a rare word of the last day", searchMs],
  ["searchPrefixMs", "search for the beginning of a word", searchMs],
  ["listMs", "a page of 50 sessions", 20],
  ["listFloorMs", "  floor: one query for its rows"],
  ["idMs", "ids with a prefix", 20],
  ["costsDayMs", "costs of a day by agent"],
  ["costsAllMs", "costs of the whole record (250,000 runs) by agent", 1_000],
  ["costsLagMaxMs", "  longest event loop lag meanwhile", 100],
  ["fillMs", "  sums of all its sessions, once, for a record of an older version"],
];

function figuresOf(costs: readonly RecordCost[]): Figure[] {
  return lines.map(([name, what, aim]) => {
    const values = costs.map((cost) => cost[name]);
    return { what, values, unit: "ms", ...(aim === undefined ? {} : { aim }) };
  });
}
