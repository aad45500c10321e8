import { type Benchmark, type Figure, iterations } from "../benchmark.ts";

interface CatchUp {
  perSecond: number;
  timesSlower: number;
  lagP99Ms: number;
}

interface CatchUpCost {
  barePerSecond: number;
  memory: CatchUp;
  /** Null where there is no server. */
  nats: (CatchUp & { restoredPerSecond: number }) | null;
}

export const recorder: Benchmark = {
  name: "recorder",
  what: "a recorder that catches up with 100,000 items, beside bare inserts of the same texts",
  async *figures(measure) {
    yield* figuresOf(await measure<CatchUpCost>(iterations, "recorder-catch-up.ts"));
  },
};

function figuresOf(costs: readonly CatchUpCost[]): Figure[] {
  const over = (where: string, caughtUp: readonly CatchUp[]): Figure[] => [
    {
      what: `recorder catches up over ${where}: bare batched inserts are faster by`,
      values: caughtUp.map(({ timesSlower }) => timesSlower),
      unit: "×",
      aim: 4,
    },
    { what: "  items a second", values: caughtUp.map(({ perSecond }) => perSecond), unit: "/s" },
    { what: "  event loop lag meanwhile, p99", values: caughtUp.map(({ lagP99Ms }) => lagP99Ms), unit: "ms" },
  ];
  const nats = costs.flatMap((cost) => cost.nats ?? []);
  return [
    ...over(
      "memory",
      costs.map(({ memory }) => memory),
    ),
    ...(nats.length === 0 ? [] : over("NATS", nats)),
    ...(nats.length === 0
      ? []
      : [
          {
            what: "  a lost stream is put back, items a second",
            values: nats.map(({ restoredPerSecond }) => restoredPerSecond),
            unit: "/s",
          },
        ]),
    { what: "  floor: bare inserts a second", values: costs.map(({ barePerSecond }) => barePerSecond), unit: "/s" },
  ];
}
