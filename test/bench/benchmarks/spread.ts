import { type Benchmark, iterations } from "../benchmark.ts";

export const spread: Benchmark = {
  name: "spread",
  what: "wall time of 320 tasks on 8 workers, beside the ideal, and the CPU of an idle worker",
  needsNats: true,
  async *figures(measure) {
    const spreads = await measure<{ ratio: number; idlePercentMax: number }>(iterations, "nats/spread.ts");
    const ratios = spreads.map(({ ratio }) => ratio);
    const what = "320 tasks of one of 50 agents, 8 workers of 4 slots, 200 ms: wall over ideal";
    yield { what, values: ratios, unit: "×", aim: 1.15 };
    const idle = spreads.map(({ idlePercentMax }) => idlePercentMax);
    yield { what: "  CPU of the busiest of these workers when idle", values: idle, unit: "%", aim: 1 };
  },
};
