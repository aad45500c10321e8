import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Id } from "../protocol/ids.ts";
import { systemClock, systemIds } from "./clock.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe("a delay on the system clock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test("may be longer than the 24.8 days of a JavaScript timer", () => {
    const fired = vi.fn();
    const timers = vi.spyOn(globalThis, "setTimeout");
    systemClock().after(60 * dayMs, fired);
    expect(timers.mock.calls[0]?.[1]).toBeLessThan(2 ** 31);

    vi.advanceTimersByTime(60 * dayMs - 1);
    expect(fired).not.toHaveBeenCalled();

    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  test("can be cancelled after a part of it", () => {
    const fired = vi.fn();
    const cancel = systemClock().after(60 * dayMs, fired);

    vi.advanceTimersByTime(30 * dayMs);
    cancel();
    vi.advanceTimersByTime(60 * dayMs);

    expect(fired).not.toHaveBeenCalled();
  });
});

test("system ids are valid ids, and sort in the order of their creation", () => {
  const ids = systemIds();
  const made = Array.from({ length: 1000 }, () => ids.next());

  expect(made.every((id) => Id.safeParse(id).success)).toBe(true);
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});
