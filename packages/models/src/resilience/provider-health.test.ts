/** When a model is left alone, for how long, and what it takes to be asked again. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Breaker, createBreaker, type Trial } from "./circuit-breaker.ts";

function fail(breaker: Breaker, times: number, nowMs = 0, retryAfterMs: number | null = null): void {
  for (let i = 0; i < times; i += 1) breaker.begin(nowMs).failed(nowMs, retryAfterMs);
}

describe("it opens for ten seconds", () => {
  test("after ten failures in a row, and not before", () => {
    const breaker = createBreaker();
    fail(breaker, 9);
    expect(breaker.refusedUntilMs(0)).toBeNull();
    fail(breaker, 1);
    expect(breaker.refusedUntilMs(0)).toBe(10_000);
    expect(breaker.refusedUntilMs(9_999)).toBe(10_000);
    expect(breaker.refusedUntilMs(10_000)).toBeNull();
  });

  test("after sixteen failures among the last twenty, with answers between them", () => {
    const breaker = createBreaker();
    for (const [i] of Array.from({ length: 18 }).entries()) {
      const trial = breaker.begin(0);
      if (i % 5 === 4) trial.answered(0);
      else trial.failed(0, null);
      expect(breaker.refusedUntilMs(0)).toBeNull();
    }
    fail(breaker, 1);
    expect(breaker.refusedUntilMs(0)).toBe(10_000);
  });

  test("or for as long as the provider asks for", () => {
    const breaker = createBreaker();
    fail(breaker, 10, 0, 45_000);
    expect(breaker.refusedUntilMs(0)).toBe(45_000);
  });
});

test("failures of long ago say nothing about now", () => {
  const breaker = createBreaker();
  fail(breaker, 9, 0);
  fail(breaker, 1, 60_001);
  expect(breaker.refusedUntilMs(60_001)).toBeNull();
});

test("what was begun before it opened changes nothing after", () => {
  const breaker = createBreaker();
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

test("each failure of the one that tries it doubles the time, up to a minute", () => {
  const breaker = createBreaker();
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

test("whatever happens, it is tried by one request at a time, and never stays shut", () => {
  fc.assert(
    fc.property(moves, (schedule) => {
      const breaker = createBreaker();
      const underWay: Trial[] = [];
      let nowMs = 0;
      let probe: Trial | null = null;
      let hasOpened = false;

      const begin = (): void => {
        if (breaker.refusedUntilMs(nowMs) !== null) return;
        const trial = breaker.begin(nowMs);
        underWay.push(trial);
        if (!hasOpened) return;
        probe = trial;
        expect(breaker.refusedUntilMs(nowMs)).toBeGreaterThan(nowMs);
      };
      const end = (how: keyof Trial, which: number): void => {
        const [trial] = underWay.splice(which % Math.max(1, underWay.length), 1);
        if (how === "failed") trial?.failed(nowMs, null);
        else trial?.[how](nowMs);
        if (trial === probe && how === "answered") hasOpened = false;
      };
      for (const move of schedule) {
        if (move.kind === "wait") nowMs += move.ms;
        else if (move.kind === "begin") begin();
        else end(move.how, move.which);
        hasOpened ||= breaker.refusedUntilMs(nowMs) !== null;
      }
      for (const trial of underWay) trial.abandoned();
      expect(breaker.refusedUntilMs(nowMs + 60_000)).toBeNull();
    }),
    { numRuns: 1_000 },
  );
});
