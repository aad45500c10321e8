import type { Benchmark } from "../benchmark.ts";
import { measureRunStarts } from "../run-starts.ts";
import { measureStarts } from "../starts.ts";

export const start: Benchmark = {
  name: "start",
  what: "time of `troupe up`, `troupe --help` and `troupe run` until they are of use, beside a node without troupe",
  async *figures() {
    const { readyMs, floorMs } = await measureStarts();
    yield { what: "`troupe up` to ready, warm", values: readyMs, unit: "ms", aim: 1_500 };
    yield { what: "  floor: node that does nothing", values: floorMs, unit: "ms" };
    const starts = await measureRunStarts();
    yield { what: "`troupe --help`", values: starts.helpMs, unit: "ms", aim: 150 };
    yield { what: "  floor: node that does nothing", values: starts.floorMs, unit: "ms" };
    yield { what: "`troupe run` to its first model request", values: starts.aloneMs, unit: "ms", aim: 400 };
    yield { what: "  the same with a daemon", values: starts.withDaemonMs, unit: "ms", aim: 150 };
    yield { what: "  floor: node that sends one request", values: starts.requestFloorMs, unit: "ms" };
  },
};
