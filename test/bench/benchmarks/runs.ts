import { type Benchmark, iterations } from "../benchmark.ts";

interface Floors {
  xstateCpuMsPerLife: number;
  singleMs: number;
  grouped50CpuMsPerRow: number;
}

export const runs: Benchmark = {
  name: "runs",
  what: "CPU of a sub-agent run with journal and recorder, beside a bare XState actor and a bare SQLite row",
  async *figures(measure) {
    const costs = await measure<{ cpuMsPerRun: number; wallMsPerRun: number }>(iterations, "run-cost.ts");
    const ofRun = (key: "cpuMsPerRun" | "wallMsPerRun") => costs.map((cost) => cost[key]);
    yield { what: "CPU per sub-agent run, journal and recorder on", values: ofRun("cpuMsPerRun"), unit: "ms", aim: 1 };
    yield { what: "  wall time of the same, 50 children at once", values: ofRun("wallMsPerRun"), unit: "ms" };
    const floors = await measure<Floors>(1, "floors.ts");
    const ofFloor = (key: keyof Floors) => floors.map((floor) => floor[key]);
    yield { what: "  floor: CPU of a bare XState actor's life", values: ofFloor("xstateCpuMsPerLife"), unit: "ms" };
    yield {
      what: "  floor: CPU of a bare SQLite row, 50 a commit",
      values: ofFloor("grouped50CpuMsPerRow"),
      unit: "ms",
    };
    yield { what: "  floor: one bare SQLite commit (FULL)", values: ofFloor("singleMs"), unit: "ms" };
  },
};
