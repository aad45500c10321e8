import type { Benchmark, Figure } from "../benchmark.ts";
import type { NatsJournalCost } from "../nats-journal.ts";

/** A journal that reaches 60 % of the bare rate is so many times slower. */
const slowerMax = 1.67;

export const appends: Benchmark = {
  name: "appends",
  what: "appends per second to the journal over NATS, beside the client's bare publish and acknowledge",
  needsNats: true,
  async *figures(measure) {
    yield* figuresOf("default sync", await measure<NatsJournalCost>(1, "nats-journal.ts"));
    const always = await measure<NatsJournalCost>(1, "nats-journal.ts", "always");
    yield* figuresOf("synced before each acknowledgement", always);
  },
};

function figuresOf(sync: string, costs: readonly NatsJournalCost[]): Figure[] {
  return [
    {
      what: `appends of 1 KB over NATS, 256 runs at once, ${sync}`,
      values: costs.map((c) => c.manyPerSecond),
      unit: "/s",
    },
    {
      what: "  floor: the client's bare publish and acknowledge",
      values: costs.map((c) => c.manyFloorPerSecond),
      unit: "/s",
    },
    { what: "  how much slower", values: costs.map((c) => 1 / c.manyRatio), unit: "×", aim: slowerMax },
    { what: "  to one run, one after the other", values: costs.map((c) => c.onePerSecond), unit: "/s" },
    { what: "    floor: the same of the client", values: costs.map((c) => c.oneFloorPerSecond), unit: "/s" },
    { what: "    how much slower", values: costs.map((c) => 1 / c.oneRatio), unit: "×", aim: slowerMax },
    { what: "  reading a run of 20 entries", values: costs.map((c) => c.readRunMs), unit: "ms" },
  ];
}
