import type { Clock, Ids } from "../ports/clock.ts";

export interface SimulatedClock extends Clock {
  /** Moves time on, firing what falls due in order. */
  advance(ms: number): void;
}

/** Time that stands still until a test moves it. */
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

/** Ids that a test can foretell: …0001, …0002, and so on. */
export function createCountingIds(): Ids {
  let count = 0;
  return {
    next() {
      count += 1;
      return `00000000-0000-7000-8000-${String(count).padStart(12, "0")}`;
    },
  };
}
