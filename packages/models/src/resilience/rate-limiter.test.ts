/** The token bucket keeps to its rate in every interval, for any sequence of requests. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { burstMs, createTokenBucket } from "./rate-limiter.ts";

const minuteMs = 60_000;

const asking = fc.record({
  perMinute: fc.double({ min: 0.5, max: 100_000, noNaN: true }),
  amounts: fc.array(fc.record({ amount: fc.integer({ min: 1, max: 5_000 }), idleMs: fc.nat(3_000) }), {
    minLength: 1,
    maxLength: 100,
  }),
});

test("no interval sees more than its refill, the burst and one oversized request", () => {
  fc.assert(
    fc.property(asking, ({ perMinute, amounts }) => {
      const bucket = createTokenBucket(perMinute, 0);
      const capacity = Math.max(1, (perMinute * burstMs) / minuteMs);
      const taken: { atMs: number; amount: number }[] = [];
      let nowMs = 0;
      for (const { amount, idleMs } of amounts) {
        nowMs += idleMs;
        const waitMs = bucket.waitMs(amount, nowMs);
        nowMs += waitMs;
        expect(bucket.waitMs(amount, nowMs)).toBe(0);
        bucket.take(amount, nowMs);
        taken.push({ atMs: nowMs, amount });
      }
      for (const [first, { atMs: fromMs }] of taken.entries()) {
        const largest = Math.max(...taken.slice(first).map(({ amount }) => amount));
        let sum = 0;
        for (const { atMs, amount } of taken.slice(first)) {
          sum += amount;
          const most = ((atMs - fromMs) * perMinute) / minuteMs + Math.max(capacity, largest);
          expect(sum).toBeLessThanOrEqual(most + largest * 1e-6 + 1e-6);
        }
      }
    }),
  );
});

test("once debts are paid, the longest wait is the time of a full refill", () => {
  const bucket = createTokenBucket(600, 0);
  bucket.take(1_000, 0);
  expect(bucket.waitMs(1, 0)).toBe(94_100);
  expect(bucket.waitMs(5_000, 94_000)).toBe(6_000);
});

test("unused amounts return to the bucket; use beyond the estimate is a debt", () => {
  const bucket = createTokenBucket(600, 0);
  bucket.take(60, 0);
  bucket.giveBack(30, 0);
  expect(bucket.waitMs(30, 0)).toBe(0);
  bucket.giveBack(-40, 0);
  expect(bucket.waitMs(1, 0)).toBe(1_100);
});

test("it never holds more than its capacity", () => {
  const bucket = createTokenBucket(600, 0);
  bucket.giveBack(1_000, 0);
  bucket.take(60, 3_600_000);
  expect(bucket.waitMs(1, 3_600_000)).toBe(100);
});
