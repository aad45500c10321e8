import type { AgentLoadCost } from "../agent-load-cost.ts";
import { type Benchmark, iterations } from "../benchmark.ts";

export const agents: Benchmark = {
  name: "agents",
  what: "loading a folder of 1,000 agent files, beside reading their bytes",
  async *figures(measure) {
    const costs = await measure<AgentLoadCost>(iterations, "agent-load-cost.ts");
    const of = (key: keyof AgentLoadCost) => costs.map((cost) => cost[key]);
    yield { what: "load 1,000 agent files for the first time", values: of("firstMs"), unit: "ms" };
    yield { what: "  load them again, unchanged", values: of("againMs"), unit: "ms" };
    yield { what: "  floor: their bytes, read", values: of("floorMs"), unit: "ms" };
  },
};
