import type { Benchmark, Figure } from "../benchmark.ts";
import type { SandboxCost } from "../sandbox-cost.ts";

export const sandbox: Benchmark = {
  name: "sandbox",
  what: "a shell command in each kind of sandbox, beside the same command without one",
  async *figures(measure) {
    yield* figuresOf(await measure<SandboxCost>(1, "sandbox-cost.ts"));
  },
};

function figuresOf(costs: readonly SandboxCost[]): Figure[] {
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
