import { type Benchmark, iterations } from "../benchmark.ts";

interface Cost {
  ratio: number;
  addedMsPerChild: number;
  floorAddedMsPerLife: number;
}

export const wide: Benchmark = {
  name: "wide",
  what: "wall time of 1,000 children of one parent, beside the ideal and bare XState actors",
  async *figures(measure) {
    const costs = await measure<Cost>(iterations, "wide-cost.ts");
    const of = (key: keyof Cost) => costs.map((cost) => cost[key]);
    yield { what: "1,000 children at once, 2 s a call: wall over ideal", values: of("ratio"), unit: "×", aim: 1.25 };
    yield { what: "  added wall time per child", values: of("addedMsPerChild"), unit: "ms" };
    yield { what: "  floor: the same of a bare XState actor", values: of("floorAddedMsPerLife"), unit: "ms" };
  },
};
