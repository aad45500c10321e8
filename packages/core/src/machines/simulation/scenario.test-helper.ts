import fc from "fast-check";
import type { Budget } from "../../protocol/budget.ts";

/** What may go wrong in a schedule; each can be left out, so that a failing schedule shrinks to what it needs. */
export interface Faults {
  /** Hosts die, and others take their runs up. */
  crashes: boolean;
  /** Models and summaries fail, models misbehave. */
  failures: boolean;
  /** Runs and the whole session are told to stop. */
  cancels: boolean;
  /** People pause, resume, and are asked. */
  people: boolean;
  /** Deadlines and graces are over before the work is. */
  timeouts: boolean;
  /** Everything has calmed down. */
  none: boolean;
}

export const noFaults: Faults = {
  crashes: false,
  failures: false,
  cancels: false,
  people: false,
  timeouts: false,
  none: true,
};

export interface Scenario {
  seed: number;
  /** After so many actions all that is under way finishes in order, and nothing new begins. */
  actions: number;
  budget: Budget;
  faults: Faults;
  /** Whether models may go on while children of theirs work. */
  mayStream: boolean;
}

/** In which no schedule of a flat company of six children, with all their retries and lost calls, can be short of anything. */
export const ampleBudget: Budget = { tokens: 10_000_000, costUsd: 200, toolCalls: 400, spawns: 100 };

const limit = (min: number, max: number): fc.Arbitrary<number | null> =>
  fc.option(fc.noBias(fc.integer({ min, max })), { freq: 4 });

/** From hardly anything to plenty. */
export const someBudget: fc.Arbitrary<Budget> = fc.record({
  tokens: fc.oneof(limit(1_500, 20_000), limit(20_000, 200_000)),
  costUsd: fc.oneof(limit(5, 100), limit(100, 2_000)).map((thousandth) => thousandth && thousandth / 1_000),
  toolCalls: limit(0, 40),
  spawns: limit(0, 12),
});

/** Schedules with this budget, and with faults of these kinds. */
export function schedules(
  budget: fc.Arbitrary<Budget>,
  kinds: readonly (keyof Faults)[],
  { mayStream = true } = {},
): fc.Arbitrary<Scenario> {
  const may = (kind: keyof Faults): fc.Arbitrary<boolean> => (kinds.includes(kind) ? fc.boolean() : fc.constant(false));
  return fc.record({
    seed: fc.noBias(fc.nat()),
    actions: fc.noBias(fc.nat(120)),
    budget,
    mayStream: fc.constant(mayStream),
    faults: fc.record({
      crashes: may("crashes"),
      failures: may("failures"),
      cancels: may("cancels"),
      people: may("people"),
      timeouts: may("timeouts"),
      none: fc.constant(false),
    }),
  });
}
