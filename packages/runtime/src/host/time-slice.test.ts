/** The work of many runs leaves time for the event loop, in order and without losing a run. */
import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { waitForTimeSlice } from "./time-slice.ts";

/** Time passes where a test says so, and nowhere else. */
let nowMs = 0;
beforeEach(async () => {
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  // The slice of an earlier test is over.
  await nextRound();
  await nextRound();
});
afterEach(() => vi.restoreAllMocks());

/** A caller with so many steps that works for 3 ms in the last one. */
async function worker(done: number[], name: number, steps: number): Promise<void> {
  await waitForTimeSlice();
  for (let step = 0; step < steps; step += 1) await null;
  nowMs += 3;
  done.push(name);
}

test.for([0, 1, 5])("timers get the event loop between the turns of many callers (of %i steps)", async (steps) => {
  const done: number[] = [];
  const workers = Array.from({ length: 12 }, (_, name) => worker(done, name, steps));
  const seen: number[] = [];
  while (done.length < 12) {
    await nextRound();
    seen.push(done.length);
  }
  await Promise.all(workers);
  expect(done).toEqual(Array.from({ length: 12 }, (_, name) => name));
  // Four pieces of work fill a slice of 10 ms. Each round of the event loop has one; the first was before it went round.
  expect(seen).toEqual([8, 12]);
});

test("no caller waits for the event loop within its time slice", async () => {
  let rounds = 0;
  const counting = setImmediate(() => {
    rounds += 1;
  });
  for (let i = 0; i < 50; i += 1) await waitForTimeSlice();
  clearImmediate(counting);
  expect(rounds).toBe(0);
});

test("a caller that arrives while others wait comes after them", async () => {
  const order: string[] = [];
  const say = async (word: string): Promise<void> => {
    await waitForTimeSlice();
    order.push(word);
  };
  await waitForTimeSlice();
  nowMs += 15;
  const waiting = [say("first"), say("second")];
  setImmediate(() => waiting.push(say("third")));
  while (order.length < 3) await nextRound();
  expect(order).toEqual(["first", "second", "third"]);
});
