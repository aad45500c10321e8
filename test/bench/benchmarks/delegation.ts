import { type Benchmark, iterations } from "../benchmark.ts";

interface Cost {
  roundTripMs: number;
  delegationMs: number;
  delegationP99Ms: number;
  fromReplyMs: number;
  ratio: number;
}

/** How often the server syncs its disk, and the aim over the plain round trip. */
const syncs = [
  { sync: "default", aim: 6 },
  { sync: "always", aim: 12 },
];

export const delegation: Benchmark = {
  name: "delegation",
  what: "time of a delegation between two processes over NATS, beside a plain request and its reply",
  needsNats: true,
  async *figures(measure) {
    for (const { sync, aim } of syncs) {
      const costs = await measure<Cost>(iterations, "nats/delegation-cost.ts", sync);
      const of = (key: keyof Cost) => costs.map((cost) => cost[key]);
      const what = `a delegation between two processes (sync ${sync}), p50 over the round trip`;
      yield { what, values: of("ratio"), unit: "×", aim };
      yield { what: "  p50, from its offer to its parent's next model call", values: of("delegationMs"), unit: "ms" };
      yield { what: "  p99", values: of("delegationP99Ms"), unit: "ms" };
      yield { what: "  p50, from the model's reply that asks for it", values: of("fromReplyMs"), unit: "ms" };
      yield { what: "  floor: a request and its reply, 1 KB, p50", values: of("roundTripMs"), unit: "ms" };
    }
  },
};
