import { type Benchmark, iterations } from "../benchmark.ts";

interface Cost {
  stoppedMs: number;
  answeredMs: number;
  callsBegunAfter: number;
}

export const cancel: Benchmark = {
  name: "cancel",
  what: "time to cancel 1,000 running runs",
  async *figures(measure) {
    const costs = await measure<Cost>(iterations, "cancel-cost.ts");
    const of = (key: keyof Cost) => costs.map((cost) => cost[key]);
    yield { what: "cancel of 1,000 runs at work: all have stopped", values: of("stoppedMs"), unit: "ms", aim: 2_000 };
    yield { what: "  the request for it has its answer", values: of("answeredMs"), unit: "ms" };
    yield { what: "  calls begun after it was durable", values: of("callsBegunAfter"), unit: "", aim: 0 };
  },
};
