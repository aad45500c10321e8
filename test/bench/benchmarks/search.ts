import type { Benchmark, Figure } from "../benchmark.ts";

interface Compared {
  troupeMs: number;
  linesMs: number;
  countsMs: number;
  lagMaxMs: number;
}

interface SearchCost {
  common: Compared;
  rare: Compared;
  globMs: number;
  planMs: number;
}

export const search: Benchmark = {
  name: "search",
  what: "searching 50,000 files by the tools, beside a bare ripgrep",
  async *figures(measure) {
    yield* figuresOf(await measure<SearchCost>(1, "search-cost.ts"));
  },
};

function figuresOf(costs: readonly SearchCost[]): Figure[] {
  const about = (what: string, compared: (cost: SearchCost) => Compared): Figure[] => [
    {
      what: `search of 50,000 files, ${what} pattern: over bare ripgrep`,
      values: costs.map((cost) => compared(cost).troupeMs / compared(cost).linesMs),
      unit: "×",
      aim: 1.5,
    },
    { what: "  the tool, in its sandbox", values: costs.map((cost) => compared(cost).troupeMs), unit: "ms" },
    { what: "  floor: ripgrep, printing each line", values: costs.map((cost) => compared(cost).linesMs), unit: "ms" },
    { what: "  floor: ripgrep, only counting", values: costs.map((cost) => compared(cost).countsMs), unit: "ms" },
    { what: "  longest event loop lag", values: costs.map((cost) => compared(cost).lagMaxMs), unit: "ms", aim: 100 },
  ];
  return [
    ...about("common", ({ common }) => common),
    ...about("rare", ({ rare }) => rare),
    { what: "glob of the same tree", values: costs.map(({ globMs }) => globMs), unit: "ms" },
    { what: "plan_files of the same tree", values: costs.map(({ planMs }) => planMs), unit: "ms", aim: 5_000 },
  ];
}
