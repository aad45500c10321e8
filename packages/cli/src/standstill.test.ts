import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchUntilIdle } from "./standstill.ts";

/** A moment without anything at work is not the end: what was just answered has to be taken up first. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const rows = { missing: true, needsPerson: () => rows.missing };
  return { rows, standstill: watchUntilIdle(rows) };
}

test("only people are missing, and stay so", () => {
  const { standstill } = setUp();
  standstill.look();
  vi.advanceTimersByTime(299);
  expect(standstill.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(standstill.signal.aborted).toBe(true);
});

test("it goes on meanwhile", () => {
  const { rows, standstill } = setUp();
  standstill.look();
  vi.advanceTimersByTime(200);
  rows.missing = false;
  standstill.look();
  vi.advanceTimersByTime(10_000);
  expect(standstill.signal.aborted).toBe(false);
});

test("another change begins the moment anew", () => {
  const { standstill } = setUp();
  standstill.look();
  vi.advanceTimersByTime(200);
  standstill.look();
  vi.advanceTimersByTime(200);
  expect(standstill.signal.aborted).toBe(false);
  vi.advanceTimersByTime(100);
  expect(standstill.signal.aborted).toBe(true);
});

test("nobody watches any more", () => {
  const { standstill } = setUp();
  standstill.look();
  standstill.stop();
  expect(vi.getTimerCount()).toBe(0);
});
