/** Final acknowledgements: sent only while the lease is certain, and repeated only if a repetition does no harm. */

import { momentOf } from "@troupe/core/internal";
import { createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestLink, settle, type TestLink } from "../connection/link.fixture.ts";
import { createRequester } from "../connection/requester.ts";
import { deliveryOf } from "./delivery.fixture.ts";
import { createHeldTasks, type HeldTasks } from "./held-tasks.ts";

const leaseMs = 1_000;
const certainMs = 600;

let clock: TwoClocks;
let link: TestLink;
let heldTasks: HeldTasks;
let gone: boolean | null;
let left: string[];

beforeEach(() => {
  clock = createTwoClocks();
  link = createTestLink();
  gone = false;
  left = [];
  heldTasks = createHeldTasks({
    link,
    requester: createRequester({ link, clock }),
    clock,
    leaseMs,
    isGone: async () => gone,
    leaveToOthers: (subject) => left.push(subject),
  });
});

const delivery = (changes: { seq?: number; count?: number; subject?: string } = {}) =>
  deliveryOf({ requestedAt: momentOf(clock), ...changes });
const hold = (of = delivery()) => heldTasks.hold({ run: "r1", bytes: new Uint8Array(), delivery: of, certainMs });
const payloads = (): string[] => link.sent.map(({ payload }) => payload);
const noReply = (): Promise<never> => Promise.reject(new Error("no answer"));

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 25) {
    clock.advance(Math.min(25, left));
    await settle();
  }
}

type Held = ReturnType<typeof hold>;

describe("for a task with a certain lease", () => {
  test.for<{ what: string; end(task: Held): Promise<void> | void; payload: string | null; left: boolean }>([
    { what: "parked", end: (task) => task.park(), payload: "+ACK", left: false },
    { what: "parked for any host", end: (task) => task.park({ again: true }), payload: "-NAK", left: true },
    { what: "finished", end: (task) => task.finish(), payload: "+ACK", left: false },
    { what: "dropped", end: (task) => task.drop(), payload: null, left: false },
  ])("$what: the last payload is $payload", async ({ end, payload, left: isLeft }) => {
    await end(hold());
    expect([payloads(), left.length === 1]).toEqual([payload === null ? [] : [payload], isLeft]);
    await pass(3 * leaseMs);
    expect(payloads().length).toBe(payload === null ? 0 : 1);
  });

  test("parked with a delay, it is announced after the delay and not before", async () => {
    await hold().park({ again: true, againAfterMs: 300 });
    expect([payloads(), left]).toEqual([['-NAK {"delay":300000000}'], []]);
    await pass(300);
    expect(left.length).toBe(1);
  });
});

describe("for a task with an uncertain lease", () => {
  test.for<{ what: string; end(task: Held): Promise<void> | void }>([
    { what: "parked", end: (task) => task.park() },
    { what: "parked for any host", end: (task) => task.park({ again: true }) },
    { what: "dropped", end: (task) => task.drop() },
  ])("$what: nothing is sent, because another host may have it", async ({ end }) => {
    const task = hold();
    clock.sleep(certainMs);
    await end(task);
    await pass(3 * leaseMs);
    expect([payloads(), left]).toEqual([[], []]);
  });

  test("finished, it is acknowledged all the same: a settled run needs no host", async () => {
    const task = hold();
    clock.sleep(certainMs);
    await task.finish();
    expect(payloads()).toEqual(["+ACK"]);
  });
});

describe("a final acknowledgement without a confirmation", () => {
  test("for a finished run is repeated until it is confirmed", async () => {
    link.onRequest(noReply);
    await hold().finish();
    await pass(leaseMs / 2);
    const attempts = payloads().length;
    expect(attempts).toBeGreaterThan(2);
    link.onRequest(async () => {});
    await pass(leaseMs);
    expect(payloads().length).toBe(attempts + 1);
  });

  test("is not repeated for ever", async () => {
    link.onRequest(noReply);
    await hold().finish();
    await pass(3 * leaseMs);
    const attempts = payloads().length;
    await pass(3 * leaseMs);
    expect(payloads().length).toBe(attempts);
  });

  test("for parking is repeated only while the lease is certain", async () => {
    link.onRequest(noReply);
    await hold().park();
    await pass(certainMs);
    const attempts = payloads().length;
    await pass(3 * leaseMs);
    expect(payloads().length).toBe(attempts);
  });

  test("that returns it to the queue is sent once: a repetition could hit the next holder", async () => {
    link.onRequest(noReply);
    await hold().park({ again: true });
    await pass(3 * leaseMs);
    expect(payloads()).toEqual(["-NAK"]);
  });

  test("is not repeated to a server that has lost the task: another task may have its sequence", async () => {
    link.onRequest(noReply);
    await hold().finish();
    gone = true;
    link.onRequest(async () => {});
    await pass(3 * leaseMs);
    expect(payloads()).toEqual(["+ACK"]);
  });
});

describe("a task that is delivered again", () => {
  test("to the process that holds it stays held there, and is acknowledged by its newest delivery", async () => {
    const task = hold();
    const next = delivery({ count: 2 });
    expect(heldTasks.adopt(next)).toBe(true);
    await task.finish();
    expect(link.sent).toMatchObject([{ subject: next.reply, payload: "+ACK" }]);
  });

  test("to a process that has released it is a new task", async () => {
    for (const end of ["park", "finish", "drop"] as const) {
      const task = hold();
      await task[end]();
      expect(heldTasks.adopt(delivery({ count: 2 }))).toBe(false);
    }
  });

  test("is marked as redelivered", () => {
    expect([hold(delivery({ count: 1 })).redelivered, hold(delivery({ count: 2 })).redelivered]).toEqual([false, true]);
  });
});

describe("after a reconnect", () => {
  test("a certain lease is extended at once, and a task that the server has lost is lost", async () => {
    const task = hold();
    await heldTasks.afterReconnect();
    expect([payloads(), task.lost.aborted]).toEqual([["+WPI"], false]);
    gone = true;
    await heldTasks.afterReconnect();
    expect([task.lost.aborted, task.isCertain()]).toEqual([true, false]);
  });

  test("a task is not acknowledged while the stream cannot be read, except as finished", async () => {
    const [task, other] = [hold(), hold(delivery({ subject: "troupe.task.any.coder.r2", seq: 2 }))];
    gone = null;
    await heldTasks.afterReconnect();
    await pass(300);
    expect([payloads(), task.lost.aborted, task.isCertain()]).toEqual([[], false, true]);
    gone = false;
    await pass(250);
    expect([new Set(payloads()), task.isCertain()]).toEqual([new Set(["+WPI"]), true]);
    gone = null;
    await heldTasks.afterReconnect();
    await other.finish();
    expect(payloads().at(-1)).toBe("+ACK");
  });

  test.for<{ what: string; end(task: Held): Promise<void> }>([
    { what: "parked", end: (task) => task.park() },
    { what: "parked for any host", end: (task) => task.park({ again: true }) },
    { what: "finished", end: (task) => task.finish() },
  ])("a task $what before its check is looked for first: another task may have its sequence", async ({ end }) => {
    const task = hold();
    gone = null;
    await heldTasks.afterReconnect();
    gone = true;
    await end(task);
    expect(payloads()).toEqual([]);
  });

  test("an uncertain lease is not extended: only the journal can tell which host has the run", async () => {
    const task = hold();
    clock.sleep(certainMs);
    await heldTasks.afterReconnect();
    expect([payloads(), task.lost.aborted]).toEqual([[], false]);
  });
});

test("closing loses all tasks, without an acknowledgement", async () => {
  const tasks = [hold(), hold(delivery({ subject: "troupe.task.any.coder.r2" }))];
  heldTasks.close();
  await pass(3 * leaseMs);
  expect([tasks.map(({ lost }) => lost.aborted), payloads()]).toEqual([[true, true], []]);
});
