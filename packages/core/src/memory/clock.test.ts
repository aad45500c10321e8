import { expect, test } from "vitest";
import { Id } from "../protocol/ids.ts";
import { createCountingIds, createSimulatedClock } from "./clock.ts";

test("a callback reads the time at which it was due, also a callback that another one starts", () => {
  const clock = createSimulatedClock(1_000);
  const seen: [string, number, number][] = [];
  clock.after(30, () => seen.push(["late", clock.now(), clock.monotonicMs()]));
  clock.after(10, () => {
    seen.push(["early", clock.now(), clock.monotonicMs()]);
    clock.after(5, () => seen.push(["next", clock.now(), clock.monotonicMs()]));
  });
  clock.advance(100);
  expect(seen).toEqual([
    ["early", 1_010, 10],
    ["next", 1_015, 15],
    ["late", 1_030, 30],
  ]);
  expect(clock.now()).toBe(1_100);
});

test("callbacks due at the same time run in the order of their requests", () => {
  const clock = createSimulatedClock();
  const seen: number[] = [];
  for (const n of [1, 2, 3]) clock.after(10, () => seen.push(n));
  clock.advance(10);
  expect(seen).toEqual([1, 2, 3]);
});

test("time never goes back, with any delay", () => {
  const clock = createSimulatedClock(1_000);
  const seen: number[] = [];
  clock.after(-500, () => seen.push(clock.now()));
  clock.advance(0);
  expect([seen, clock.now()]).toEqual([[1_000], 1_000]);
});

test("counted ids are valid ids, in counting order", () => {
  const ids = createCountingIds();
  const [first, second] = [ids.next(), ids.next()];
  expect([first, second]).toEqual(["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"]);
  expect(Id.safeParse(first).success).toBe(true);
});
