/** The last words on a task: said only by whoever certainly has it, and repeated only where that can hurt nobody. */

import { momentOf } from "@troupe/core/internal";
import { createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLink, deliveryOf, settle, type TestLink } from "../connection/link.fixture.ts";
import { createRequester } from "../connection/requester.ts";
import { createHolder, type Holder } from "./held-tasks.ts";

const leaseMs = 1_000;
const sureMs = 600;

let clock: TwoClocks;
let link: TestLink;
let holder: Holder;
let gone: boolean | null;
let left: string[];

beforeEach(() => {
  clock = createTwoClocks();
  link = createTestLink();
  gone = false;
  left = [];
  holder = createHolder({
    link,
    asks: createRequester({ link, clock }),
    clock,
    leaseMs,
    isGone: async () => gone,
    leaveToOthers: (subject) => left.push(subject),
  });
});

const delivery = (changes: { seq?: number; count?: number; subject?: string } = {}) =>
  deliveryOf({ askedAt: momentOf(clock), ...changes });
const hold = (of = delivery()) => holder.hold({ run: "r1", bytes: new Uint8Array(), delivery: of, sureMs });
const words = (): string[] => link.said.map(({ word }) => word);
const silence = (): Promise<never> => Promise.reject(new Error("no answer"));

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 25) {
    clock.advance(Math.min(25, left));
    await settle();
  }
}

type Held = ReturnType<typeof hold>;

describe("of a task that is certainly held", () => {
  test.for<{ what: string; end(task: Held): Promise<void> | void; word: string | null; left: boolean }>([
    { what: "parked", end: (task) => task.park(), word: "+ACK", left: false },
    { what: "parked for anybody", end: (task) => task.park({ again: true }), word: "-NAK", left: true },
    { what: "finished", end: (task) => task.finish(), word: "+ACK", left: false },
    { what: "dropped", end: (task) => task.drop(), word: null, left: false },
  ])("$what: the last word is $word", async ({ end, word, left: isLeft }) => {
    await end(hold());
    expect([words(), left.length === 1]).toEqual([word === null ? [] : [word], isLeft]);
    await pass(3 * leaseMs);
    expect(words().length).toBe(word === null ? 0 : 1);
  });

  test("parked for later, others hear of it when it may be taken, and not before", async () => {
    await hold().park({ again: true, againAfterMs: 300 });
    expect([words(), left]).toEqual([['-NAK {"delay":300000000}'], []]);
    await pass(300);
    expect(left.length).toBe(1);
  });
});

describe("of a task whose lease is uncertain", () => {
  test.for<{ what: string; end(task: Held): Promise<void> | void }>([
    { what: "parked", end: (task) => task.park() },
    { what: "parked for anybody", end: (task) => task.park({ again: true }) },
    { what: "dropped", end: (task) => task.drop() },
  ])("$what: nothing is said, for another may have it", async ({ end }) => {
    const task = hold();
    clock.sleep(sureMs);
    await end(task);
    await pass(3 * leaseMs);
    expect([words(), left]).toEqual([[], []]);
  });

  test("finished: it is said all the same, for nobody has anything to do for a run that has ended", async () => {
    const task = hold();
    clock.sleep(sureMs);
    await task.finish();
    expect(words()).toEqual(["+ACK"]);
  });
});

describe("a last word that nobody has heard", () => {
  test("that a run is finished is repeated until it is heard", async () => {
    link.onAsk(silence);
    await hold().finish();
    await pass(leaseMs / 2);
    const tries = words().length;
    expect(tries).toBeGreaterThan(2);
    link.onAsk(async () => {});
    await pass(leaseMs);
    expect(words().length).toBe(tries + 1);
  });

  test("is not repeated for ever", async () => {
    link.onAsk(silence);
    await hold().finish();
    await pass(3 * leaseMs);
    const tries = words().length;
    await pass(3 * leaseMs);
    expect(words().length).toBe(tries);
  });

  test("that it is parked is repeated only while it is certainly held", async () => {
    link.onAsk(silence);
    await hold().park();
    await pass(sureMs);
    const tries = words().length;
    await pass(3 * leaseMs);
    expect(words().length).toBe(tries);
  });

  test("that it is for anybody is said once: the second time might hit whoever has it by then", async () => {
    link.onAsk(silence);
    await hold().park({ again: true });
    await pass(3 * leaseMs);
    expect(words()).toEqual(["-NAK"]);
  });

  test("is not repeated to a server that has lost the task: its number may be another's", async () => {
    link.onAsk(silence);
    await hold().finish();
    gone = true;
    link.onAsk(async () => {});
    await pass(3 * leaseMs);
    expect(words()).toEqual(["+ACK"]);
  });
});

describe("a task that is given out once more", () => {
  test("to the process that holds it, goes on being held there, and is let go of by its newest delivery", async () => {
    const task = hold();
    const next = delivery({ count: 2 });
    expect(holder.adopt(next)).toBe(true);
    await task.finish();
    expect(link.said).toMatchObject([{ subject: next.reply, word: "+ACK" }]);
  });

  test("to one that has let go of it, is a new task", async () => {
    for (const end of ["park", "finish", "drop"] as const) {
      const task = hold();
      await task[end]();
      expect(holder.adopt(delivery({ count: 2 }))).toBe(false);
    }
  });

  test("says so of itself", () => {
    expect([hold(delivery({ count: 1 })).redelivered, hold(delivery({ count: 2 })).redelivered]).toEqual([false, true]);
  });
});

describe("after a gap", () => {
  test("what is still certain is extended at once, and what the server has lost is lost", async () => {
    const task = hold();
    await holder.afterGap();
    expect([words(), task.lost.aborted]).toEqual([["+WPI"], false]);
    gone = true;
    await holder.afterGap();
    expect([task.lost.aborted, task.isCertain()]).toEqual([true, false]);
  });

  test("nothing is said of a task as long as nobody can say whether it is still there, but that it is finished", async () => {
    const [task, other] = [hold(), hold(delivery({ subject: "troupe.task.any.coder.r2", seq: 2 }))];
    gone = null;
    await holder.afterGap();
    await pass(300);
    expect([words(), task.lost.aborted, task.isCertain()]).toEqual([[], false, true]);
    gone = false;
    await pass(250);
    expect([new Set(words()), task.isCertain()]).toEqual([new Set(["+WPI"]), true]);
    gone = null;
    await holder.afterGap();
    await other.finish();
    expect(words().at(-1)).toBe("+ACK");
  });

  test.for<{ what: string; end(task: Held): Promise<void> }>([
    { what: "parked", end: (task) => task.park() },
    { what: "parked for anybody", end: (task) => task.park({ again: true }) },
    { what: "finished", end: (task) => task.finish() },
  ])("a task $what before the server was asked is looked for first: its number may be another's", async ({ end }) => {
    const task = hold();
    gone = null;
    await holder.afterGap();
    gone = true;
    await end(task);
    expect(words()).toEqual([]);
  });

  test("what is uncertain is not extended: only the journal can tell whose it is", async () => {
    const task = hold();
    clock.sleep(sureMs);
    await holder.afterGap();
    expect([words(), task.lost.aborted]).toEqual([[], false]);
  });
});

test("closing loses all that is held, without a word", async () => {
  const tasks = [hold(), hold(delivery({ subject: "troupe.task.any.coder.r2" }))];
  holder.close();
  await pass(3 * leaseMs);
  expect([tasks.map(({ lost }) => lost.aborted), words()]).toEqual([[true, true], []]);
});
