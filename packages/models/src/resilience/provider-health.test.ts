/** The circuit breaker: when it opens, for how long, and when it closes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Attempt, type CircuitBreaker, createCircuitBreaker } from "./provider-health.ts";

function fail(breaker: CircuitBreaker, times: number, nowMs = 0, retryAfterMs: number | null = null): void {
  for (let i = 0; i < times; i += 1) breaker.begin(nowMs).failed(nowMs, retryAfterMs);
}

describe("it opens for ten seconds", () => {
  test("after ten failures in a row, and not before", () => {
    const breaker = createCircuitBreaker();
    fail(breaker, 9);
    expect(breaker.refusedUntilMs(0)).toBeNull();
    fail(breaker, 1);
    expect(breaker.refusedUntilMs(0)).toBe(10_000);
    expect(breaker.refusedUntilMs(9_999)).toBe(10_000);
    expect(breaker.refusedUntilMs(10_000)).toBeNull();
  });

  test("after sixteen failures among the last twenty, with answers between them", () => {
    const breaker = createCircuitBreaker();
    for (const [i] of Array.from({ length: 18 }).entries()) {
      const attempt = breaker.begin(0);
      if (i % 5 === 4) attempt.answered(0);
      else attempt.failed(0, null);
      expect(breaker.refusedUntilMs(0)).toBeNull();
    }
    fail(breaker, 1);
    expect(breaker.refusedUntilMs(0)).toBe(10_000);
  });

  test("or for as long as the provider asks for", () => {
    const breaker = createCircuitBreaker();
    fail(breaker, 10, 0, 45_000);
    expect(breaker.refusedUntilMs(0)).toBe(45_000);
  });
});

test("old failures no longer count", () => {
  const breaker = createCircuitBreaker();
  fail(breaker, 9, 0);
  fail(breaker, 1, 60_001);
  expect(breaker.refusedUntilMs(60_001)).toBeNull();
});

test("a request that began before it opened does not count afterwards", () => {
  const breaker = createCircuitBreaker();
  const [slow, slower] = [breaker.begin(0), breaker.begin(0)];
  fail(breaker, 10);
  slow.answered(1);
  slower.failed(1, null);
  expect(breaker.refusedUntilMs(1)).toBe(10_000);
  const probe = breaker.begin(10_000);
  slow.answered(10_001);
  expect(breaker.refusedUntilMs(10_001)).not.toBeNull();
  probe.answered(10_002);
  expect(breaker.refusedUntilMs(10_002)).toBeNull();
});

test("each failed probe doubles the time, up to a minute", () => {
  const breaker = createCircuitBreaker();
  fail(breaker, 10);
  let nowMs = 0;
  const openMs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const untilMs = breaker.refusedUntilMs(nowMs) ?? nowMs;
    openMs.push(untilMs - nowMs);
    nowMs = untilMs;
    breaker.begin(nowMs).failed(nowMs, null);
  }
  expect(openMs).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
});

const moves = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(15_000) }) },
    { weight: 5, arbitrary: fc.constant({ kind: "begin" as const }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("end" as const),
        how: fc.constantFrom("failed" as const, "failed" as const, "answered" as const, "abandoned" as const),
        which: fc.nat(50),
      }),
    },
  ),
  { maxLength: 300 },
);

test("one probe runs at a time, and the breaker never stays open for ever", () => {
  fc.assert(
    fc.property(moves, (schedule) => {
      const breaker = createCircuitBreaker();
      const underWay: Attempt[] = [];
      let nowMs = 0;
      let probe: Attempt | null = null;
      let hasOpened = false;

      const begin = (): void => {
        if (breaker.refusedUntilMs(nowMs) !== null) return;
        const attempt = breaker.begin(nowMs);
        underWay.push(attempt);
        if (!hasOpened) return;
        probe = attempt;
        expect(breaker.refusedUntilMs(nowMs)).toBeGreaterThan(nowMs);
      };
      const end = (how: keyof Attempt, which: number): void => {
        const [attempt] = underWay.splice(which % Math.max(1, underWay.length), 1);
        if (how === "failed") attempt?.failed(nowMs, null);
        else attempt?.[how](nowMs);
        if (attempt === probe && how === "answered") hasOpened = false;
      };
      for (const move of schedule) {
        if (move.kind === "wait") nowMs += move.ms;
        else if (move.kind === "begin") begin();
        else end(move.how, move.which);
        hasOpened ||= breaker.refusedUntilMs(nowMs) !== null;
      }
      for (const attempt of underWay) attempt.abandoned();
      expect(breaker.refusedUntilMs(nowMs + 60_000)).toBeNull();
    }),
    { numRuns: 1_000 },
  );
});
