import type { Clock } from "@troupe/core";

/** A run's time: that of its newest recorded entry. Nothing fires by itself. */
export interface ReplayClock extends Clock {
  set(nowMs: number): void;
  /** Fires what is due by now, each timer once. */
  fireDue(): void;
  /** Fires whatever waits, each timer once, as if the time had come: what comes too early waits for its turn. */
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
