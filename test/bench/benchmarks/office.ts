import { type Benchmark, type Figure, iterations } from "../benchmark.ts";

interface OfficeCost {
  search: { frequentMs: number; severalMs: number; rareMs: number; floorMs: number };
  freeBusy: { ownMs: number; fiveMs: number; floorMs: number };
}

interface Times {
  p50: number;
  p99: number;
  cpu: number;
}

interface RequestCost {
  findMs: Times;
  summarizeMs: Times;
  teamMs: Times;
  floorMs: Times;
}

export const office: Benchmark = {
  name: "office",
  what: "the office: requests by patterns, search in 100,000 messages, free time among 10,000 events, beside bare SQL",
  async *figures(measure) {
    yield* requestFigures(await measure<RequestCost>(iterations, "office-request-cost.ts"));
    yield* figuresOf(await measure<OfficeCost>(1, "office-cost.ts"));
  },
};

function requestFigures(costs: readonly RequestCost[]): Figure[] {
  const figure = (what: string, value: (cost: RequestCost) => number, aim?: number): Figure => ({
    what,
    values: costs.map(value),
    unit: "ms",
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    figure("a request by patterns to its response, journal and record on, p50", ({ findMs }) => findMs.p50, 15),
    figure("  p99", ({ findMs }) => findMs.p99),
    figure("  time of the processor", ({ findMs }) => findMs.cpu),
    figure("  the summary of a channel, two calls, p50", ({ summarizeMs }) => summarizeMs.p50),
    figure("  by the team: main and one agent, p50", ({ teamMs }) => teamMs.p50),
    figure("  floor: the search by the connector alone", ({ floorMs }) => floorMs.p50),
  ];
}

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
