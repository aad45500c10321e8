import type { Figure } from "./figure.ts";

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

type Measure = <T>(times: number, script: string, ...args: string[]) => Promise<T[]>;

/** A recorder that has 100,000 items to catch up with, beside bare inserts of the same texts. */
export async function recorderFigures(measure: Measure, iterations: number): Promise<Figure[]> {
  const costs = await measure<CatchUpCost>(iterations, "recorder-catch-up.ts");
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
