/** Retries for a provider, limited by the calls that it gets: when it is down, retries do not double its load. */
export interface RetryBudget {
  /** A call's first request. */
  noteCall(nowMs: number): void;
  /** A request that was made before, and has waited for a timer of its run's: it counts, and is not refused. */
  noteRetry(nowMs: number): void;
  /** Takes room for one retry that is to follow; false where there is none. */
  take(nowMs: number): boolean;
}

const windowMs = 60_000;
const slotMs = 1_000;
/** Of the calls within the window. */
const retriesShareMax = 0.5;
/** So few in a minute harm nobody, however few calls there are. */
const retriesAlways = 10;

export function createRetryBudget(): RetryBudget {
  let slots: { startMs: number; calls: number; retries: number }[] = [];

  const slotAt = (nowMs: number) => {
    const last = slots.at(-1);
    if (last && nowMs < last.startMs + slotMs) return last;
    const opened = { startMs: nowMs, calls: 0, retries: 0 };
    slots = [...slots.filter(({ startMs }) => startMs > nowMs - windowMs), opened];
    return opened;
  };

  const noteRetry = (nowMs: number): void => {
    slotAt(nowMs).retries += 1;
  };
  return {
    noteRetry,
    noteCall(nowMs) {
      slotAt(nowMs).calls += 1;
    },
    take(nowMs) {
      const recent = slots.filter(({ startMs }) => startMs > nowMs - windowMs);
      const calls = recent.reduce((sum, slot) => sum + slot.calls, 0);
      const retries = recent.reduce((sum, slot) => sum + slot.retries, 0);
      const hasRoom = retries + 1 <= Math.max(retriesAlways, calls * retriesShareMax);
      if (hasRoom) noteRetry(nowMs);
      return hasRoom;
    },
  };
}
