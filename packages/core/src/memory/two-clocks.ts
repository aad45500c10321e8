import type { Clock } from "../ports/clock.ts";
import { createSimulatedClock } from "./clock.ts";

/** A machine's two clocks, which a test moves together or one without the other. */
export interface TwoClocks extends Clock {
  /** Time passes, by both. */
  advance(ms: number): void;
  /** Somebody sets the wall clock, back or forth. */
  setWall(byMs: number): void;
  /** The machine sleeps: the monotonic clock stands still, and nothing falls due. */
  sleep(ms: number): void;
  /** The wall clock is held while time passes: it was set back by as much. */
  advanceMonotonic(ms: number): void;
}

export function createTwoClocks(): TwoClocks {
  const clock = createSimulatedClock(1_000_000_000);
  let wallAheadMs = 0;
  return {
    ...clock,
    now: () => clock.now() + wallAheadMs,
    setWall(byMs) {
      wallAheadMs += byMs;
    },
    sleep(ms) {
      wallAheadMs += ms;
    },
    advanceMonotonic(ms) {
      wallAheadMs -= ms;
      clock.advance(ms);
    },
  };
}
