import { type Benchmark, iterations } from "../benchmark.ts";
import type { TrackingCost } from "../tracking-cost.ts";

export const tracking: Benchmark = {
  name: "tracking",
  what: "the search for changes by a command in 50,000 files, beside one listing by find",
  async *figures(measure) {
    const costs = await measure<TrackingCost>(iterations, "tracking-cost.ts");
    const of = (key: keyof TrackingCost) => costs.map((cost) => cost[key]);
    yield { what: "changes of a command in 50,000 files: added latency", values: of("addedMs"), unit: "ms", aim: 60 };
    yield { what: "  of a command that makes a file", values: of("changedMs"), unit: "ms" };
    yield { what: "  of the first command of a process", values: of("firstMs"), unit: "ms" };
    yield { what: "  floor: one listing by find", values: of("findMs"), unit: "ms" };
    yield { what: "a sandboxed command in a workspace of 20 files", values: of("smallMs"), unit: "ms" };
    yield { what: "  the same with the search for changes", values: of("smallTrackedMs"), unit: "ms" };
  },
};
