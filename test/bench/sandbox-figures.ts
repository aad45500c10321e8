import type { Figure } from "./figure.ts";
import type { SandboxCost } from "./sandbox-cost.ts";

type Measure = <T>(times: number, script: string, ...args: string[]) => Promise<T[]>;

/** Commands in a sandbox, beside the same command without one. */
export async function sandboxFigures(measure: Measure): Promise<Figure[]> {
  const costs = await measure<SandboxCost>(1, "sandbox-cost.ts");
  const kinds = [...new Set(costs.flatMap((cost) => cost.kinds.map(({ kind }) => kind)))];
  return [
    { what: "a shell command without a sandbox, there and back", values: costs.map((c) => c.plainMs), unit: "ms" },
    ...kinds.flatMap((kind): Figure[] => {
      const ofKind = costs.flatMap((cost) => cost.kinds.filter((one) => one.kind === kind));
      return [
        { what: `  the same in a sandbox: ${kind}`, values: ofKind.map((c) => c.roundTripMs), unit: "ms" },
        {
          what: "    it floods 10 GB: event loop lag, p99",
          values: ofKind.map((c) => c.flood.p99Ms),
          unit: "ms",
          aim: 100,
        },
        { what: "      the longest", values: ofKind.map((c) => c.flood.maxMs), unit: "ms" },
      ];
    }),
  ];
}
