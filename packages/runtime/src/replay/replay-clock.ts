import type { Clock } from "@troupe/core";

/** The clock of one run in a replay. It shows the time of the newest recorded entry, and no timer fires by itself. */
export interface ReplayClock extends Clock {
  set(nowMs: number): void;
  /** Fires the timers that are due, each once. */
  fireDue(): void;
  /** Fires all timers, each once, as if their time had come. The gate holds an entry that comes too early. */
  fireAll(): void;
}

export function createReplayClock(): ReplayClock {
  let nowMs = 0;
  const timers = new Set<{ dueMs: number; callback: () => void }>();
  const fire = (untilMs: number): void => {
    const due = [...timers].filter(({ dueMs }) => dueMs <= untilMs).sort((one, other) => one.dueMs - other.dueMs);
    for (const timer of due) {
      if (timers.delete(timer)) timer.callback();
    }
  };
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    set(toMs) {
      nowMs = toMs;
    },
    fireDue: () => fire(nowMs),
    fireAll: () => fire(Number.POSITIVE_INFINITY),
  };
}
