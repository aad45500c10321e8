import type { Clock, Ids } from "../ports/clock.ts";

export interface SimulatedClock extends Clock {
  /** Advances the time and fires due timers in order. */
  advance(ms: number): void;
}

/** A clock that advances only when a test says so. */
export function createSimulatedClock(startMs = 0): SimulatedClock {
  let nowMs = startMs;
  let sequence = 0;
  const timers = new Map<number, { dueMs: number; callback: () => void }>();

  const nextDue = (untilMs: number): [number, { dueMs: number; callback: () => void }] | undefined =>
    [...timers].filter(([, timer]) => timer.dueMs <= untilMs).sort(([a, x], [b, y]) => x.dueMs - y.dueMs || a - b)[0];

  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    after(delayMs, callback) {
      sequence += 1;
      const id = sequence;
      timers.set(id, { dueMs: nowMs + Math.max(0, delayMs), callback });
      return () => timers.delete(id);
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let due = nextDue(untilMs); due; due = nextDue(untilMs)) {
        timers.delete(due[0]);
        nowMs = due[1].dueMs;
        due[1].callback();
      }
      nowMs = untilMs;
    },
  };
}

/** A wall clock and a monotonic clock that a test can move together or apart. */
export interface TwoClocks extends Clock {
  /** Advances both clocks. */
  advance(ms: number): void;
  /** Sets the wall clock forwards or backwards. */
  setWall(byMs: number): void;
  /** Simulates a sleeping machine: only the wall clock advances, and no timer fires. */
  sleep(ms: number): void;
  /** Advances only the monotonic clock, as if the wall clock was set back by the same time. */
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

/** Predictable ids: …0001, …0002, and so on. */
export function createCountingIds(): Ids {
  let count = 0;
  return {
    next() {
      count += 1;
      return `00000000-0000-7000-8000-${String(count).padStart(12, "0")}`;
    },
  };
}
