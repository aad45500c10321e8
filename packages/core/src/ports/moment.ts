import type { Clock } from "./clock.ts";

/** A point in time by both clocks: a machine that sleeps stops the one, and whoever sets the other makes it jump. */
export interface Moment {
  monotonicMs: number;
  wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now() };
}

/** By whichever clock says more. A wall clock that was set back says nothing about the time in between: it counts as far. */
export function ageMs(clock: Clock, { monotonicMs, wallMs }: Moment): number {
  return Math.max(clock.monotonicMs() - monotonicMs, Math.abs(clock.now() - wallMs));
}
