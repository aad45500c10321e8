import { type Benchmark, iterations } from "../benchmark.ts";
import type { FileCost } from "../file-cost.ts";

export const files: Benchmark = {
  name: "files",
  what: "reading and editing a file of 10 MB by the tools, beside the bare file system",
  async *figures(measure) {
    const costs = await measure<FileCost>(iterations, "file-cost.ts");
    const of = (key: keyof FileCost) => costs.map((cost) => cost[key]);
    yield { what: "read a part of a file of 10 MB", values: of("readMs"), unit: "ms" };
    yield { what: "  floor: its bytes, read", values: of("readFloorMs"), unit: "ms" };
    yield { what: "edit a file of 10 MB, synced", values: of("editMs"), unit: "ms" };
    yield { what: "  floor: its bytes, read, written, synced and renamed", values: of("editFloorMs"), unit: "ms" };
  },
};
