import fc from "fast-check";
import type { Budget } from "../../protocol/budget.ts";

/** Faults in a schedule. Each can be absent, so that a failing schedule shrinks to the necessary ones. */
export interface Faults {
  /** Hosts crash, and others resume their runs. */
  crashes: boolean;
  /** Models and summaries fail, models misbehave. */
  failures: boolean;
  /** Runs and the whole session are cancelled. */
  cancels: boolean;
  /** People pause, resume, and answer approvals. */
  people: boolean;
  /** Deadlines and grace periods end before the work does. */
  timeouts: boolean;
  /** There are no faults any more. */
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
  /** After this many actions the faults end, and running work finishes. */
  actions: number;
  budget: Budget;
  faults: Faults;
  /** Whether streaming batches are allowed. */
  mayStream: boolean;
}

/** Enough for every schedule of flat agents with six children, including all retries and lost calls. */
export const ampleBudget: Budget = { tokens: 10_000_000, costUsd: 200, toolCalls: 400, spawns: 100 };

const limit = (min: number, max: number): fc.Arbitrary<number | null> =>
  fc.option(fc.noBias(fc.integer({ min, max })), { freq: 4 });

/** From a tiny to an ample budget. */
export const someBudget: fc.Arbitrary<Budget> = fc.record({
  tokens: fc.oneof(limit(1_500, 20_000), limit(20_000, 200_000)),
  costUsd: fc.oneof(limit(5, 100), limit(100, 2_000)).map((thousandth) => thousandth && thousandth / 1_000),
  toolCalls: limit(0, 40),
  spawns: limit(0, 12),
});

/** Schedules with this budget and these kinds of faults. */
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
