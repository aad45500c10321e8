import { type Benchmark, iterations } from "../benchmark.ts";

export const takeover: Benchmark = {
  name: "takeover",
  what: "time until another worker continues the runs of a killed one, in leases",
  needsNats: true,
  async *figures(measure) {
    for (const leaseMs of [2_000, 8_000]) {
      const takeovers = await measure<{ leases: number }>(iterations, "nats/takeover.ts", String(leaseMs));
      const what = `takeover after a worker's SIGKILL, lease ${leaseMs / 1_000} s`;
      yield { what, values: takeovers.map(({ leases }) => leases), unit: "leases", aim: 1.5 };
    }
  },
};
