import type { Benchmark, Figure } from "../benchmark.ts";

interface OfficeCost {
  search: { frequentMs: number; severalMs: number; rareMs: number; floorMs: number };
  freeBusy: { ownMs: number; fiveMs: number; floorMs: number };
}

export const office: Benchmark = {
  name: "office",
  what: "the local office: search in 100,000 messages, free time among 10,000 events, beside bare SQL",
  async *figures(measure) {
    yield* figuresOf(await measure<OfficeCost>(1, "office-cost.ts"));
  },
};

function figuresOf(costs: readonly OfficeCost[]): Figure[] {
  const figure = (what: string, value: (cost: OfficeCost) => number, aim?: number): Figure => ({
    what,
    values: costs.map(value),
    unit: "ms",
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    figure("search in 100,000 messages, a word of most of them", ({ search }) => search.frequentMs, 50),
    figure("  three words and a sender", ({ search }) => search.severalMs, 50),
    figure("  a word of ten messages", ({ search }) => search.rareMs, 50),
    figure("  floor: the index of SQLite alone", ({ search }) => search.floorMs),
    figure("free time of the user in a week, 10,000 events", ({ freeBusy }) => freeBusy.ownMs, 50),
    figure("  of five people, with free slots", ({ freeBusy }) => freeBusy.fiveMs, 50),
    figure("  floor: all spans of the week, by SQL alone", ({ freeBusy }) => freeBusy.floorMs),
  ];
}
