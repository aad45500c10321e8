/** The work of many runs leaves the event loop to others, in order and without losing anybody. */
import { expect, test } from "vitest";
import { pace } from "./pace.ts";

function workFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** Somebody with `hops` steps, who does his work in the last. */
async function worker(done: number[], name: number, hops: number): Promise<void> {
  await pace();
  for (let hop = 0; hop < hops; hop += 1) await null;
  workFor(3);
  done.push(name);
}

test.for([0, 5])(
  "whoever else wants the event loop gets it between the turns of many (work after %i hops)",
  async (hops) => {
    const done: number[] = [];
    const workers = Array.from({ length: 20 }, (_, name) => worker(done, name, hops));
    const seenBy: number[] = [];
    const ticker = setInterval(() => seenBy.push(done.length));
    await Promise.all(workers);
    clearInterval(ticker);
    expect(done).toEqual(Array.from({ length: 20 }, (_, name) => name));
    // The timer saw it under way, again and again.
    expect(new Set(seenBy.filter((count) => count > 0 && count < 20)).size).toBeGreaterThan(2);
  },
);

test("nobody waits while there is time", async () => {
  await new Promise((resolve) => setImmediate(resolve));
  let turns = 0;
  const counting = setImmediate(() => {
    turns += 1;
  });
  for (let i = 0; i < 50; i += 1) await pace();
  clearImmediate(counting);
  expect(turns).toBe(0);
});

test("who comes while others wait comes after them", async () => {
  const order: string[] = [];
  const say = async (word: string): Promise<void> => {
    await pace();
    order.push(word);
  };
  await pace();
  workFor(15);
  const early = [say("first"), say("second")];
  setImmediate(() => early.push(say("third")));
  await Promise.all(early);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(early);
  expect(order).toEqual(["first", "second", "third"]);
});
