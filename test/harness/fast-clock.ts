import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";

/** The system clock, sped up: minutes pass in seconds, in the same order. */
export function fastClock(times: number): Clock {
  const real = systemClock();
  const began = { now: real.now(), monotonicMs: real.monotonicMs() };
  const elapsedMs = (): number => (real.monotonicMs() - began.monotonicMs) * times;
  return {
    now: () => Math.floor(began.now + elapsedMs()),
    monotonicMs: elapsedMs,
    after: (delayMs, callback) => real.after(delayMs / times, callback),
  };
}
