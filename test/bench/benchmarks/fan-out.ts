import { type Benchmark, type Figure, iterations, type Measure } from "../benchmark.ts";
import type { WireName } from "../fan-out/bare.ts";

type Side = "bare" | "troupe";

interface Cost {
  cpuMsPerChild: number;
  wallMs: number;
}

/** Measures both sides alternately, so that other load on the machine affects both. */
async function pairs<T>(measure: Measure, wire: WireName, ...args: number[]): Promise<Record<Side, T>[]> {
  const found: Record<Side, T>[] = [];
  for (let i = 0; i < iterations; i += 1) {
    const [bare] = await measure<T>(1, "fan-out/measure.ts", wire, "bare", ...args.map(String));
    const [troupe] = await measure<T>(1, "fan-out/measure.ts", wire, "troupe", ...args.map(String));
    if (bare && troupe) found.push({ bare, troupe });
  }
  return found;
}

/** main → N sub-agents, each with a look-up between two calls → main: over HTTP, by troupe and by the bare SDK. */
export const fanOut: Benchmark = {
  name: "fan-out",
  what: "8 and 500 sub-agents that call a model over HTTP, beside the vendor's bare SDK",
  async *figures(measure) {
    for (const wire of ["anthropic", "openai-responses", "openai-chat"] as const) {
      for await (const figure of wireFigures(measure, wire)) yield { ...figure, what: `${wire}: ${figure.what}` };
    }
  },
};

async function* wireFigures(measure: Measure, wire: WireName): AsyncIterable<Figure> {
  const busy = await pairs<Cost>(measure, wire, 8, 0, 200);
  const busyOver = ratios(busy, "cpuMsPerChild");
  yield { what: "8 sub-agents, latency 0: CPU of each over the bare SDK's", values: busyOver, unit: "×", aim: 1.5 };
  yield { what: "  CPU per sub-agent", values: busy.map(({ troupe }) => troupe.cpuMsPerChild), unit: "ms" };
  yield { what: "  floor: the bare SDK's", values: busy.map(({ bare }) => bare.cpuMsPerChild), unit: "ms" };
  const few = await pairs<Cost>(measure, wire, 8, 100, 10);
  const fewOver = ratios(few, "wallMs");
  yield { what: "8 sub-agents, 100 ms a call: wall over the bare SDK's", values: fewOver, unit: "×", aim: 1.15 };
  const held = await pairs<{ heapKbPerChild: number }>(measure, wire, 8, 0, 0, 25);
  const heldOver = ratios(held, "heapKbPerChild");
  yield { what: "live heap of a waiting sub-agent over the bare SDK's", values: heldOver, unit: "×", aim: 2 };
  yield { what: "  live heap of one", values: held.map(({ troupe }) => troupe.heapKbPerChild), unit: "KB" };
  const many = await pairs<Cost>(measure, wire, 500, 100, 4);
  const manyOver = ratios(many, "wallMs");
  yield { what: "500 sub-agents, 100 ms a call: wall over the bare SDK's", values: manyOver, unit: "×", aim: 1.3 };
  yield { what: "  wall", values: many.map(({ troupe }) => troupe.wallMs), unit: "ms" };
  yield { what: "  floor: the bare SDK's", values: many.map(({ bare }) => bare.wallMs), unit: "ms" };
  const overFew = many.map(({ troupe }, i) => troupe.cpuMsPerChild / (busy[i]?.troupe.cpuMsPerChild ?? Number.NaN));
  yield { what: "  CPU of each over that of one of 8", values: overFew, unit: "×", aim: 1.2 };
}

function ratios<K extends string>(found: readonly Record<Side, Record<K, number>>[], key: K): number[] {
  return found.map(({ bare, troupe }) => troupe[key] / bare[key]);
}
