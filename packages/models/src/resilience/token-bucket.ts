/**
 * What may be taken within a minute, coming back steadily. A little may be saved up for a burst; whoever needs more than
 * that takes it all the same when the bucket is full, and those after it wait until the debt is paid.
 */
export interface Bucket {
  /** Time until so much may be taken; 0: now. */
  waitMs(amount: number, nowMs: number): number;
  take(amount: number, nowMs: number): void;
  /** Less was used than was taken; more, where it is negative. */
  giveBack(amount: number, nowMs: number): void;
}

const minuteMs = 60_000;
/** A bucket holds what comes back in this time: more would let through twice the limit in the first minute. */
export const burstMs = 6_000;

/**
 * @example
 * const bucket = createBucket(600, 0); // 60 at once, then 10 a second
 * bucket.take(60, 0);
 * bucket.waitMs(1, 0); // 100
 */
export function createBucket(perMinute: number, startMs: number): Bucket {
  const perMs = perMinute / minuteMs;
  const capacity = Math.max(1, perMs * burstMs);
  let level = capacity;
  let filledMs = startMs;

  const fill = (nowMs: number): void => {
    level = Math.min(capacity, level + Math.max(0, nowMs - filledMs) * perMs);
    filledMs = Math.max(filledMs, nowMs);
  };
  return {
    waitMs(amount, nowMs) {
      fill(nowMs);
      return Math.max(0, Math.ceil((Math.min(amount, capacity) - level) / perMs));
    },
    take(amount, nowMs) {
      fill(nowMs);
      level -= amount;
    },
    giveBack(amount, nowMs) {
      fill(nowMs);
      level = Math.min(capacity, level + amount);
    },
  };
}
