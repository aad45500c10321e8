import { type Benchmark, type Figure, iterations } from "../benchmark.ts";
import type { Lag } from "../loop-lag.ts";

interface Crowd {
  heapMb: number;
  heapKbPerAgent: number;
  drainedMs: number;
  lag: Lag;
  floorLag: Lag;
}

const agents = "10000";
const spreadMs = "10000";

export const crowd: Benchmark = {
  name: "crowd",
  what: "heap and event loop lag of 10,000 waiting agents, beside as many bare XState actors",
  async *figures(measure) {
    const bunched = await measure<Crowd>(iterations, "crowd-cost.ts");
    yield { what: "10,000 waiting agents: live heap", values: bunched.map((c) => c.heapMb), unit: "MB", aim: 500 };
    yield { what: "  per agent", values: bunched.map((c) => c.heapKbPerAgent), unit: "KB", aim: 40 };
    const floors = await measure<{ xstateHeapKbPerActor: number }>(1, "floors.ts");
    const heapKb = floors.map((floor) => floor.xstateHeapKbPerActor);
    yield { what: "  floor: a bare waiting XState actor", values: heapKb, unit: "KB" };
    yield* lagFigures("at one moment", bunched);
    yield* lagFigures("within 10 s", await measure<Crowd>(iterations, "crowd-cost.ts", agents, spreadMs));
  },
};

function lagFigures(when: string, crowds: readonly Crowd[]): Figure[] {
  const of = (read: (one: Crowd) => number) => crowds.map(read);
  return [
    { what: `  their timers fire ${when}: event loop lag, p99`, values: of((c) => c.lag.p99Ms), unit: "ms", aim: 100 },
    { what: "    the longest", values: of((c) => c.lag.maxMs), unit: "ms" },
    { what: "    until all have ended", values: of((c) => c.drainedMs), unit: "ms" },
    { what: "    floor: lag of as many bare XState actors, p99", values: of((c) => c.floorLag.p99Ms), unit: "ms" },
  ];
}
