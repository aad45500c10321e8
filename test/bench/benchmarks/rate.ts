import { type Benchmark, iterations } from "../benchmark.ts";

export const rate: Benchmark = {
  name: "rate",
  what: "delegations per second over NATS to one, two and four workers",
  needsNats: true,
  async *figures(measure) {
    for (const workers of [1, 2, 4]) {
      const rates = await measure<{ perSecond: number }>(iterations, "nats/rate.ts", String(workers));
      const what = `delegations a second to ${workers} worker${workers === 1 ? "" : "s"}`;
      yield { what, values: rates.map(({ perSecond }) => perSecond), unit: "/s" };
    }
  },
};
