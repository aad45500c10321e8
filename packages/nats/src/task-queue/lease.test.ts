/**
 * How long a task is certainly nobody else's. The server says yes to every extension, also to one of a task that another
 * has: whatever stands here keeps a host from believing it.
 */

import { momentOf } from "@troupe/core/internal";
import { createTwoClocks, type TwoClocks } from "@troupe/core/memory";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createTestLink, deliveryOf, settle, type TestLink } from "../connection/link.fixture.ts";
import { createRequester } from "../connection/requester.ts";
import { Lease } from "./lease.ts";

const sureMs = 600;
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
  const delivery = deliveryOf({ askedAt: momentOf(clock), ...changes });
  return new Lease(delivery, {
    link,
    asks: createRequester({ link, clock }),
    clock,
    sureMs,
    extendMs,
    isGone: async () => gone,
    onLost: () => (lost += 1),
  });
}

/** The next delivery of the same task to this process. */
const again = (changes: { seq?: number; count?: number } = {}) =>
  deliveryOf({ askedAt: momentOf(clock), count: 2, ...changes });

const silence = (): Promise<never> => Promise.reject(new Error("no answer"));
const extensions = (): number => link.said.filter(({ word }) => word === "+WPI").length;

/** Time passes as it does: in small steps, with what falls due in between. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    clock.advance(Math.min(50, left));
    await settle();
  }
}

describe("a lease is certain", () => {
  test("from the moment that its task was asked for", () => {
    link.onAsk(silence);
    const lease = leaseOf();
    clock.advance(sureMs - 1);
    expect(lease.isSure()).toBe(true);
    clock.advance(1);
    expect(lease.isSure()).toBe(false);
  });

  test.for<{ what: string; happens(): void }>([
    { what: "the wall clock is set an hour on", happens: () => clock.setWall(hourMs) },
    { what: "the wall clock is set an hour back", happens: () => clock.setWall(-hourMs) },
    { what: "the wall clock is set a month on", happens: () => clock.setWall(30 * 24 * hourMs) },
    { what: "the machine has slept", happens: () => clock.sleep(sureMs) },
    { what: "time has passed that the wall clock knows nothing of", happens: () => clock.advanceMonotonic(sureMs) },
  ])("no more once $what, but is not lost, and certain again once renewed", async ({ happens }) => {
    link.onAsk(silence);
    const lease = leaseOf();
    happens();
    expect([lease.isSure(), lease.lost.aborted]).toEqual([false, false]);
    link.onAsk(async () => {});
    expect(await lease.renew()).toBe(true);
    expect([lease.isSure(), lost]).toEqual([true, 0]);
  });

  test("for as long as it is extended, each time counted from the asking", async () => {
    const lease = leaseOf();
    await pass(10_000);
    expect(lease.isSure()).toBe(true);
    expect(extensions()).toBe(10_000 / extendMs);
    link.onAsk(silence);
    const sinceLastMs = 10_000 % extendMs;
    await pass(sureMs - sinceLastMs - 1);
    expect(lease.isSure()).toBe(true);
    await pass(1);
    expect(lease.isSure()).toBe(false);
  });

  test("not for an extension that was confirmed too late", async () => {
    const answer = Promise.withResolvers<void>();
    link.onAsk(() => answer.promise);
    const lease = leaseOf();
    clock.advance(extendMs);
    clock.advance(sureMs - extendMs);
    answer.resolve();
    await settle();
    expect(lease.isSure()).toBe(false);
  });

  test("no longer for an extension of the delivery before", async () => {
    const answer = Promise.withResolvers<void>();
    link.onAsk(() => answer.promise);
    const lease = leaseOf();
    clock.advance(extendMs);
    lease.adopt(again({ count: 3 }));
    answer.resolve();
    await settle();
    expect(lease.isSure()).toBe(false);
  });
});

describe("an uncertain lease", () => {
  test("is never extended by itself; whoever can read the journal is told, every quarter of a lease", async () => {
    const lease = leaseOf();
    const told = vi.fn();
    const stop = lease.onUnsure(told);
    clock.sleep(sureMs);
    await pass(4 * extendMs);
    expect([extensions(), told.mock.calls.length]).toEqual([0, 4]);
    stop();
    await pass(extendMs);
    expect(told.mock.calls.length).toBe(4);
  });

  test("tells nobody while there is no connection to renew it over", async () => {
    const lease = leaseOf();
    const told = vi.fn();
    lease.onUnsure(told);
    link.disconnect();
    await pass(10 * extendMs);
    expect(told).not.toHaveBeenCalled();
    link.reconnect();
    await pass(extendMs);
    expect(told).toHaveBeenCalledTimes(1);
    expect(lease.lost.aborted).toBe(false);
  });

  test.for<{ what: string; answer(): Promise<void>; gone: boolean | null; renewed: boolean; lost: boolean }>([
    { what: "confirmed", answer: async () => {}, gone: false, renewed: true, lost: false },
    {
      what: "confirmed where nobody can say what is there",
      answer: async () => {},
      gone: null,
      renewed: true,
      lost: false,
    },
    { what: "not confirmed", answer: silence, gone: false, renewed: false, lost: false },
    { what: "of a task that is there no more", answer: async () => {}, gone: true, renewed: false, lost: true },
  ])("asked for anew and $what: renewed $renewed, lost $lost", async (given) => {
    const lease = leaseOf();
    clock.sleep(sureMs);
    link.onAsk(given.answer);
    gone = given.gone;
    expect(await lease.renew()).toBe(given.renewed);
    expect([lease.isSure(), lease.lost.aborted, lost]).toEqual([given.renewed, given.lost, given.lost ? 1 : 0]);
  });

  test("is asked for once by all who want it renewed at the same time", async () => {
    const lease = leaseOf();
    clock.sleep(sureMs);
    expect(await Promise.all([lease.renew(), lease.renew(), lease.renew()])).toEqual([true, true, true]);
    expect(extensions()).toBe(1);
  });

  test("is not certain for a renewal of the delivery before", async () => {
    const answer = Promise.withResolvers<void>();
    link.onAsk(() => answer.promise);
    const lease = leaseOf();
    clock.sleep(sureMs);
    const renewing = lease.renew();
    lease.adopt(again());
    answer.resolve();
    expect([await renewing, lease.isSure()]).toEqual([false, false]);
  });

  test("is not certain where its renewal took longer than a lease", async () => {
    const lease = leaseOf();
    clock.sleep(sureMs);
    link.onAsk(async () => clock.sleep(sureMs));
    expect(await lease.renew()).toBe(false);
  });
});

describe("a task that is given out to its holder once more", () => {
  test.for<{ what: string; changes: { seq?: number; count?: number }; afterMs: number; isSure: boolean }>([
    { what: "next, in time", changes: { count: 2 }, afterMs: 500, isSure: true },
    { what: "next, too late", changes: { count: 2 }, afterMs: 700, isSure: false },
    { what: "after somebody else had it", changes: { count: 3 }, afterMs: 500, isSure: false },
    {
      what: "under another number, by a server that lost the first",
      changes: { seq: 7, count: 2 },
      afterMs: 500,
      isSure: false,
    },
  ])("$what: certain $isSure", ({ changes, afterMs, isSure }) => {
    link.onAsk(silence);
    const lease = leaseOf();
    const told = vi.fn();
    lease.onUnsure(told);
    clock.advance(afterMs);
    told.mockClear();
    lease.adopt(again(changes));
    expect([lease.isSure(), told.mock.calls.length]).toEqual([isSure, isSure ? 0 : 1]);
    clock.advance(499);
    expect(lease.isSure()).toBe(isSure);
  });

  test("goes on by the newest delivery: nothing is said of the one before", async () => {
    const lease = leaseOf();
    const next = again();
    lease.adopt(next);
    await pass(extendMs);
    expect(link.said.map(({ subject }) => subject)).toEqual([next.reply]);
    expect(lease.letGo()).toBe(next);
  });

  test("is not taken for gone by what was asked about the number before", async () => {
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
    { what: "let go of", end: (lease) => void lease.letGo(), lost: 0 },
    { what: "lost", end: (lease) => lease.lose(), lost: 1 },
  ])("nothing is sent for a task that was $what, however long one waits", async ({ end, lost: times }) => {
    const lease = leaseOf();
    end(lease);
    expect([lease.lost.aborted, lost]).toEqual([times === 1, times]);
    lease.adopt(again());
    await pass(10 * extendMs);
    await lease.extend();
    expect(await lease.renew()).toBe(false);
    lease.lose();
    expect([lease.isSure(), lease.letGo(), lost, link.said]).toEqual([false, null, times, []]);
  });

  test("a confirmation that comes then makes nothing certain again", async () => {
    const answer = Promise.withResolvers<void>();
    link.onAsk(() => answer.promise);
    const lease = leaseOf();
    clock.sleep(sureMs);
    const renewing = lease.renew();
    lease.lose();
    answer.resolve();
    expect([await renewing, lease.isSure()]).toEqual([false, false]);
  });
});
