/**
 * How long a lease is certain. The server confirms every extension, even of a task that another host holds: these rules keep
 * a host from trusting such a confirmation.
 */

import { momentOf } from "@troupe/core/internal";
import { createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createTestLink, settle, type TestLink } from "../connection/link.fixture.ts";
import { createRequester } from "../connection/requester.ts";
import { deliveryOf } from "./delivery.fixture.ts";
import { Lease } from "./task-lease.ts";

const certainMs = 600;
const extendMs = 250;
const hourMs = 3_600_000;

let clock: TwoClocks;
let link: TestLink;
let gone: boolean | null;
let lost: number;

beforeEach(() => {
  clock = createTwoClocks();
  link = createTestLink();
  gone = false;
  lost = 0;
});

function leaseOf(changes: { seq?: number; count?: number } = {}): Lease {
  const delivery = deliveryOf({ requestedAt: momentOf(clock), ...changes });
  return new Lease(delivery, {
    link,
    requester: createRequester({ link, clock }),
    clock,
    certainMs,
    extendMs,
    isGone: async () => gone,
    onLost: () => (lost += 1),
  });
}

/** The next delivery of the same task to this process. */
const again = (changes: { seq?: number; count?: number } = {}) =>
  deliveryOf({ requestedAt: momentOf(clock), count: 2, ...changes });

const silence = (): Promise<never> => Promise.reject(new Error("no answer"));
const extensions = (): number => link.sent.filter(({ payload }) => payload === "+WPI").length;

/** Advances in small steps, so that timers fire in between. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    clock.advance(Math.min(50, left));
    await settle();
  }
}

describe("a lease is certain", () => {
  test("from the moment that its pull was sent", () => {
    link.onRequest(silence);
    const lease = leaseOf();
    clock.advance(certainMs - 1);
    expect(lease.isCertain()).toBe(true);
    clock.advance(1);
    expect(lease.isCertain()).toBe(false);
  });

  test.for<{ what: string; happens(): void }>([
    { what: "the wall clock is set an hour on", happens: () => clock.setWall(hourMs) },
    { what: "the wall clock is set an hour back", happens: () => clock.setWall(-hourMs) },
    { what: "the wall clock is set a month on", happens: () => clock.setWall(30 * 24 * hourMs) },
    { what: "the machine has slept", happens: () => clock.sleep(certainMs) },
    {
      what: "the monotonic clock advanced and the wall clock did not",
      happens: () => clock.advanceMonotonic(certainMs),
    },
  ])("no longer once $what, but not lost, and certain again once renewed", async ({ happens }) => {
    link.onRequest(silence);
    const lease = leaseOf();
    happens();
    expect([lease.isCertain(), lease.lost.aborted]).toEqual([false, false]);
    link.onRequest(async () => {});
    expect(await lease.renew()).toBe(true);
    expect([lease.isCertain(), lost]).toEqual([true, 0]);
  });

  test("for as long as it is extended, each time counted from the request", async () => {
    const lease = leaseOf();
    await pass(10_000);
    expect(lease.isCertain()).toBe(true);
    expect(extensions()).toBe(10_000 / extendMs);
    link.onRequest(silence);
    const sinceLastMs = 10_000 % extendMs;
    await pass(certainMs - sinceLastMs - 1);
    expect(lease.isCertain()).toBe(true);
    await pass(1);
    expect(lease.isCertain()).toBe(false);
  });

  test("not for an extension that was confirmed too late", async () => {
    const answer = Promise.withResolvers<void>();
    link.onRequest(() => answer.promise);
    const lease = leaseOf();
    clock.advance(extendMs);
    clock.advance(certainMs - extendMs);
    answer.resolve();
    await settle();
    expect(lease.isCertain()).toBe(false);
  });

  test("no longer for an extension of the delivery before", async () => {
    const answer = Promise.withResolvers<void>();
    link.onRequest(() => answer.promise);
    const lease = leaseOf();
    clock.advance(extendMs);
    lease.adopt(again({ count: 3 }));
    answer.resolve();
    await settle();
    expect(lease.isCertain()).toBe(false);
  });
});

describe("an uncertain lease", () => {
  test("is never extended automatically; its listeners are called every quarter of a lease", async () => {
    const lease = leaseOf();
    const listener = vi.fn();
    const stop = lease.onUncertain(listener);
    clock.sleep(certainMs);
    await pass(4 * extendMs);
    expect([extensions(), listener.mock.calls.length]).toEqual([0, 4]);
    stop();
    await pass(extendMs);
    expect(listener.mock.calls.length).toBe(4);
  });

  test("does not call its listeners while there is no connection to renew it over", async () => {
    const lease = leaseOf();
    const listener = vi.fn();
    lease.onUncertain(listener);
    link.disconnect();
    await pass(10 * extendMs);
    expect(listener).not.toHaveBeenCalled();
    link.reconnect();
    await pass(extendMs);
    expect(listener).toHaveBeenCalledTimes(1);
    expect(lease.lost.aborted).toBe(false);
  });

  test.for<{ what: string; answer(): Promise<void>; gone: boolean | null; renewed: boolean; lost: boolean }>([
    { what: "confirmed", answer: async () => {}, gone: false, renewed: true, lost: false },
    {
      what: "confirmed while the stream cannot be read",
      answer: async () => {},
      gone: null,
      renewed: true,
      lost: false,
    },
    { what: "not confirmed", answer: silence, gone: false, renewed: false, lost: false },
    { what: "of a task that is gone", answer: async () => {}, gone: true, renewed: false, lost: true },
  ])("renewed and $what: renewed $renewed, lost $lost", async (given) => {
    const lease = leaseOf();
    clock.sleep(certainMs);
    link.onRequest(given.answer);
    gone = given.gone;
    expect(await lease.renew()).toBe(given.renewed);
    expect([lease.isCertain(), lease.lost.aborted, lost]).toEqual([given.renewed, given.lost, given.lost ? 1 : 0]);
  });

  test("is renewed once for concurrent calls", async () => {
    const lease = leaseOf();
    clock.sleep(certainMs);
    expect(await Promise.all([lease.renew(), lease.renew(), lease.renew()])).toEqual([true, true, true]);
    expect(extensions()).toBe(1);
  });

  test("is not certain for a renewal of the delivery before", async () => {
    const answer = Promise.withResolvers<void>();
    link.onRequest(() => answer.promise);
    const lease = leaseOf();
    clock.sleep(certainMs);
    const renewing = lease.renew();
    lease.adopt(again());
    answer.resolve();
    expect([await renewing, lease.isCertain()]).toEqual([false, false]);
  });

  test("is not certain where its renewal took longer than a lease", async () => {
    const lease = leaseOf();
    clock.sleep(certainMs);
    link.onRequest(async () => clock.sleep(certainMs));
    expect(await lease.renew()).toBe(false);
  });
});

describe("a task that is delivered to its holder again", () => {
  test.for<{ what: string; changes: { seq?: number; count?: number }; afterMs: number; isCertain: boolean }>([
    { what: "next, in time", changes: { count: 2 }, afterMs: 500, isCertain: true },
    { what: "next, too late", changes: { count: 2 }, afterMs: 700, isCertain: false },
    { what: "after another process held it", changes: { count: 3 }, afterMs: 500, isCertain: false },
    {
      what: "with another sequence, by a server that lost the first",
      changes: { seq: 7, count: 2 },
      afterMs: 500,
      isCertain: false,
    },
  ])("$what: certain $isCertain", ({ changes, afterMs, isCertain }) => {
    link.onRequest(silence);
    const lease = leaseOf();
    const listener = vi.fn();
    lease.onUncertain(listener);
    clock.advance(afterMs);
    listener.mockClear();
    lease.adopt(again(changes));
    expect([lease.isCertain(), listener.mock.calls.length]).toEqual([isCertain, isCertain ? 0 : 1]);
    clock.advance(499);
    expect(lease.isCertain()).toBe(isCertain);
  });

  test("is acknowledged by the newest delivery, never by the one before", async () => {
    const lease = leaseOf();
    const next = again();
    lease.adopt(next);
    await pass(extendMs);
    expect(link.sent.map(({ subject }) => subject)).toEqual([next.reply]);
    expect(lease.release()).toBe(next);
  });

  test("is not lost by a check of the sequence before", async () => {
    const lease = leaseOf();
    gone = true;
    const checking = lease.check();
    lease.adopt(again({ seq: 9 }));
    await checking;
    expect(lease.lost.aborted).toBe(false);
  });
});

describe("after its end", () => {
  test.for<{ what: string; end(lease: Lease): void; lost: number }>([
    { what: "released", end: (lease) => void lease.release(), lost: 0 },
    { what: "lost", end: (lease) => lease.lose(), lost: 1 },
  ])("nothing is sent for a task that was $what, however much time passes", async ({ end, lost: times }) => {
    const lease = leaseOf();
    end(lease);
    expect([lease.lost.aborted, lost]).toEqual([times === 1, times]);
    lease.adopt(again());
    await pass(10 * extendMs);
    await lease.extend();
    expect(await lease.renew()).toBe(false);
    lease.lose();
    expect([lease.isCertain(), lease.release(), lost, link.sent]).toEqual([false, null, times, []]);
  });

  test("a confirmation that comes then makes nothing certain again", async () => {
    const answer = Promise.withResolvers<void>();
    link.onRequest(() => answer.promise);
    const lease = leaseOf();
    clock.sleep(certainMs);
    const renewing = lease.renew();
    lease.lose();
    answer.resolve();
    expect([await renewing, lease.isCertain()]).toEqual([false, false]);
  });
});
