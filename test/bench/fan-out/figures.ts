import type { Figure } from "../figure.ts";
import type { WireName } from "./bare.ts";

type Side = "bare" | "troupe";
type Measure = <T>(times: number, script: string, ...args: string[]) => Promise<T[]>;

interface Cost {
  cpuMsPerChild: number;
  wallMs: number;
}

/** Measures both sides alternately, so that other load on the machine affects both. */
async function pairs<T>(
  measure: Measure,
  iterations: number,
  wire: WireName,
  ...args: number[]
): Promise<Record<Side, T>[]> {
  const found: Record<Side, T>[] = [];
  for (let i = 0; i < iterations; i += 1) {
    const [bare] = await measure<T>(1, "fan-out/measure.ts", wire, "bare", ...args.map(String));
    const [troupe] = await measure<T>(1, "fan-out/measure.ts", wire, "troupe", ...args.map(String));
    if (bare && troupe) found.push({ bare, troupe });
  }
  return found;
}

/** main → N sub-agents, each with a look-up between two calls → main: over HTTP, by troupe and by the bare SDK. */
export async function fanOutFigures(measure: Measure, iterations: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const wire of ["anthropic", "openai-responses", "openai-chat"] as const) {
    const busy = await pairs<Cost>(measure, iterations, wire, 8, 0, 200);
    const few = await pairs<Cost>(measure, iterations, wire, 8, 100, 10);
    const many = await pairs<Cost>(measure, iterations, wire, 500, 100, 4);
    const held = await pairs<{ heapKbPerChild: number }>(measure, iterations, wire, 8, 0, 0, 25);
    const row = (what: string, values: number[], unit: string, aim?: number): void => {
      figures.push({ what: `${wire}: ${what}`, values, unit, ...(aim === undefined ? {} : { aim }) });
    };
    row("8 sub-agents, latency 0: CPU of each over the bare SDK's", ratios(busy, "cpuMsPerChild"), "×", 1.5);
    row(
      "  CPU per sub-agent",
      busy.map(({ troupe }) => troupe.cpuMsPerChild),
      "ms",
    );
    row(
      "  floor: the bare SDK's",
      busy.map(({ bare }) => bare.cpuMsPerChild),
      "ms",
    );
    row("8 sub-agents, 100 ms a call: wall over the bare SDK's", ratios(few, "wallMs"), "×", 1.15);
    row("live heap of a waiting sub-agent over the bare SDK's", ratios(held, "heapKbPerChild"), "×", 2);
    row(
      "  live heap of one",
      held.map(({ troupe }) => troupe.heapKbPerChild),
      "KB",
    );
    row("500 sub-agents, 100 ms a call: wall over the bare SDK's", ratios(many, "wallMs"), "×", 1.3);
    row(
      "  wall",
      many.map(({ troupe }) => troupe.wallMs),
      "ms",
    );
    row(
      "  floor: the bare SDK's",
      many.map(({ bare }) => bare.wallMs),
      "ms",
    );
    const overFew = many.map(({ troupe }, i) => troupe.cpuMsPerChild / (busy[i]?.troupe.cpuMsPerChild ?? Number.NaN));
    row("  CPU of each over that of one of 8", overFew, "×", 1.2);
  }
  return figures;
}

function ratios<K extends string>(found: readonly Record<Side, Record<K, number>>[], key: K): number[] {
  return found.map(({ bare, troupe }) => troupe[key] / bare[key]);
}
