/** A run's time excludes waits for people, time without a host, and the waits of its children. */
import { describe, expect, test } from "vitest";
import {
  aBatch,
  anError,
  childSettled,
  childWaiting,
  claimed,
  commanded,
  delegations,
  reply,
  timerFired,
} from "../fixtures.test-helper.ts";
import { drive, openedAt } from "../machine-driver.test-helper.ts";
import { activeMs, openClock, skipUnheldTime, startClock, stopClock } from "./clock.ts";

describe("the clock", () => {
  test("counts while the run is active", () => {
    expect(activeMs({ clock: openClock(100), lastAt: 150 })).toBe(50);
  });

  test("does not count from stop to start", () => {
    const clock = startClock(stopClock(openClock(100), 150), 1_000);
    expect(activeMs({ clock, lastAt: 1_007 })).toBe(57);
  });

  test("ignores a second stop and a second start", () => {
    const once = stopClock(openClock(100), 150);
    expect(stopClock(once, 900)).toEqual(once);
    const again = startClock(once, 1_000);
    expect(startClock(again, 2_000)).toEqual(again);
  });

  test("ignores a host whose time goes backwards", () => {
    expect(stopClock(openClock(100), 50)).toEqual({ activeMs: 0, runningSince: null });
  });

  test("does not count the time between the newest entry and the next claim", () => {
    const clock = skipUnheldTime({ clock: openClock(100), lastAt: 150 }, 900);
    expect(activeMs({ clock, lastAt: 910 })).toBe(60);
    const still = stopClock(openClock(100), 150);
    expect(skipUnheldTime({ clock: still, lastAt: 150 }, 900)).toEqual(still);
  });
});

describe("a child that waits for a person", () => {
  function delegating() {
    const d = drive({ limits: { maxDurationMs: 100_000 } });
    d.feed(reply(1, "", [aBatch([{}, {}])]), openedAt + 1_000);
    d.look();
    return d;
  }

  test("stops its parent's clock until it continues", () => {
    const d = delegating();
    expect(d.on(childWaiting(1, 0, true, 1), openedAt + 2_000).stopped).toEqual(["timer/deadline"]);
    expect(d.on(timerFired("deadline")).state).toBe("execute.act.working");
    d.feed(childWaiting(1, 0, false, 1), openedAt + 902_000);
    expect(d.effect("startTimer")).toMatchObject({ delayMs: 98_000, since: openedAt + 902_000 });
  });

  test("and ends while it waits, starts the clock again", () => {
    const d = delegating();
    d.feed(childWaiting(1, 0, true, 1), openedAt + 2_000);
    d.feed(childSettled(1, 0, {}, 1, 1), openedAt + 902_000);
    expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: openedAt + 902_000 });
  });

  test("keeps the clock stopped until the last child has its answer", () => {
    const d = delegating();
    d.feed(childWaiting(1, 0, true, 0), openedAt + 2_000);
    d.feed(childWaiting(1, 0, true, 1), openedAt + 3_000);
    d.feed(childWaiting(1, 0, false, 0), openedAt + 4_000);
    expect(d.context().clock.runningSince).toBeNull();
    d.feed(childWaiting(1, 0, false, 1), openedAt + 5_000);
    expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: openedAt + 5_000 });
  });

  test("leaves a sibling that starts later all its time", () => {
    const d = drive({ limits: { maxDurationMs: 100_000, maxConcurrent: 1 } });
    d.feed(reply(1, "", delegations(2)), openedAt + 1_000);
    d.feed(childWaiting(1, 0, true), openedAt + 2_000);
    d.feed(childWaiting(1, 0, false), openedAt + 902_000);
    d.feed(childSettled(1, 0), openedAt + 903_000);
    expect(d.effect("runChild").request.remainingMs).toBe(100_000 - 3_000 - 1_000);
  });

  test.each([
    ["of a settled attempt", { ...childWaiting(1, 0, true), attempt: 1 }],
    ["of a later attempt", { ...childWaiting(1, 0, true), attempt: 3 }],
    ["of an unknown task", childWaiting(1, 0, true, 7)],
    ["of an unknown call", childWaiting(1, 5, true)],
    ["of another step", childWaiting(2, 0, true)],
  ])("news %s does not stop its parent's clock", (_, fact) => {
    const d = drive();
    d.feed(reply(1, "", delegations(1)));
    d.feed(childSettled(1, 0, { error: anError() }));
    d.feed(timerFired("retry/1/0/0/1"));
    d.look();
    expect(d.on(fact)).toEqual({ state: "execute.act.working", started: [], stopped: [] });
    expect(d.context().clock.runningSince).toBe(openedAt);
  });

  test("and a pause of its parent stop the clock until both have ended", () => {
    const d = delegating();
    d.feed(childWaiting(1, 0, true), openedAt + 2_000);
    d.feed(commanded({ kind: "run.paused" }), openedAt + 3_000);
    d.feed(childWaiting(1, 0, false), openedAt + 4_000);
    expect(d.context().clock.runningSince).toBeNull();
    d.feed(commanded({ kind: "run.resumed" }), openedAt + 5_000);
    expect(d.context().clock).toEqual({ activeMs: 2_000, runningSince: openedAt + 5_000 });
  });
});

test("a claim does not start a stopped clock", () => {
  const d = drive();
  d.feed(reply(1, "", delegations(1)));
  d.feed(childWaiting(1, 0, true));
  d.look();
  expect(d.on(claimed(), openedAt + 99_000).started).toEqual([]);
  expect(d.context().clock.runningSince).toBeNull();
});

test("the host that resumes the run starts the deadline again, for the remaining time", () => {
  const d = drive({ limits: { maxDurationMs: 100_000 } });
  d.feed({ kind: "run.parked", reason: "drain" }, openedAt + 30_000);
  d.look();
  d.feed(claimed(), openedAt + 500_000);
  expect(d.effect("startTimer")).toMatchObject({ delayMs: 70_000, since: openedAt + 500_000 });
});
