import type { Benchmark } from "../benchmark.ts";
import { measureStarts } from "../starts.ts";

export const start: Benchmark = {
  name: "start",
  what: "time of `troupe up` until it is ready, beside a node that does nothing",
  async *figures() {
    const { readyMs, floorMs } = await measureStarts();
    yield { what: "`troupe up` to ready, warm", values: readyMs, unit: "ms", aim: 1_500 };
    yield { what: "  floor: node that does nothing", values: floorMs, unit: "ms" };
  },
};
