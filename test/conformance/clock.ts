import type { Clock } from "@troupe/core";
import { expect, test, vi } from "vitest";

export interface ClockHarness {
  clock: Clock;
  /** Lets at least this much of the clock's time pass. Due callbacks may come slightly later on a busy machine. */
  pass(ms: number): Promise<void>;
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** The contract of the Clock port. Delays are short, because one of the clocks is real. */
export function clockConformance(create: () => ClockHarness): void {
  test("a callback comes once, and not before its time", async () => {
    const { clock, pass } = create();
    const startedMs = clock.monotonicMs();
    const calledMs: number[] = [];
    clock.after(20, () => calledMs.push(clock.monotonicMs()));
    expect(calledMs).toEqual([]);

    await pass(60);

    await vi.waitFor(() => expect(calledMs).toHaveLength(1));
    expect((calledMs[0] ?? 0) - startedMs).toBeGreaterThanOrEqual(20);
  });

  test("callbacks come in the order of their times", async () => {
    const { clock, pass } = create();
    const called: string[] = [];
    clock.after(40, () => called.push("third"));
    clock.after(5, () => called.push("first"));
    clock.after(20, () => called.push("second"));

    await pass(80);

    await vi.waitFor(() => expect(called).toEqual(["first", "second", "third"]));
  });

  test("a cancelled callback does not come, and may be cancelled again", async () => {
    const { clock, pass } = create();
    const callback = vi.fn();
    const cancel = clock.after(10, callback);
    cancel();
    cancel();

    await pass(30);

    expect(callback).not.toHaveBeenCalled();
  });

  test("a callback may schedule the next one", async () => {
    const { clock, pass } = create();
    const last = vi.fn();
    clock.after(5, () => clock.after(5, last));

    await pass(50);

    await vi.waitFor(() => expect(last).toHaveBeenCalledOnce());
  });

  test("a year is not over at once", async () => {
    const { clock, pass } = create();
    const callback = vi.fn();
    const cancel = clock.after(yearMs, callback);

    await pass(20);
    cancel();

    expect(callback).not.toHaveBeenCalled();
  });

  test("a callback without a delay waits for the end of the caller's turn", async () => {
    const { clock, pass } = create();
    const callback = vi.fn();
    clock.after(0, callback);
    expect(callback).not.toHaveBeenCalled();

    await pass(20);

    await vi.waitFor(() => expect(callback).toHaveBeenCalledOnce());
  });

  test("both times advance", async () => {
    const { clock, pass } = create();
    const before = { now: clock.now(), monotonicMs: clock.monotonicMs() };

    await pass(20);

    expect(clock.monotonicMs() - before.monotonicMs).toBeGreaterThanOrEqual(20);
    // The wall clock counts whole milliseconds.
    expect(clock.now() - before.now).toBeGreaterThanOrEqual(19);
  });
}
