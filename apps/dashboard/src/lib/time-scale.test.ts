import { describe, expect, it } from "vitest";
import { timeScale } from "./time-scale.ts";

const span = (startMs: number, endMs: number) => ({ startMs, endMs });

describe("a scale of time", () => {
  it("is linear while there is work", () => {
    const scale = timeScale([span(1_000, 6_000), span(3_000, 11_000)]);
    expect([1_000, 3_500, 6_000, 11_000].map(scale.shareOf)).toEqual([0, 0.25, 0.5, 1]);
    expect([scale.startMs, scale.endMs]).toEqual([1_000, 11_000]);
    expect([-5, 99_999].map(scale.shareOf)).toEqual([0, 1]);
    expect(scale.breaks).toEqual([]);
    expect(scale.msPerPixel(100)).toBe(100);
  });

  it("shortens a long idle time, and says how long it was", () => {
    const hour = 3_600_000;
    const scale = timeScale([span(0, 10_000), span(hour, hour + 10_000)]);
    expect(scale.shareOf(10_000)).toBeCloseTo(0.48, 1);
    expect(scale.shareOf(hour)).toBeCloseTo(0.52, 1);
    expect(scale.breaks).toEqual([{ share: expect.closeTo(0.5, 2), durationMs: hour - 10_000 }]);
  });

  it("keeps a short idle time as it is", () => {
    expect(timeScale([span(0, 100_000), span(104_000, 200_000)]).breaks).toEqual([]);
  });

  it.each([
    [10_000, 900, [0, 1_000, 2_000]],
    [90_000, 400, [0, 30_000, 60_000, 90_000]],
    [7_200_000, 360, [0, 1_800_000, 3_600_000]],
  ])("of %i ms at %i pixels has even ticks", (durationMs, widthPx, first) => {
    const ticks = timeScale([span(5, durationMs + 5)]).ticks(widthPx);
    expect(ticks.slice(0, first.length).map(({ elapsedMs }) => elapsedMs)).toEqual(first);
    for (const [i, tick] of ticks.entries()) {
      const before = ticks[i - 1];
      if (before) expect((tick.share - before.share) * widthPx).toBeGreaterThan(50);
    }
  });

  it("has a tick only where there is work", () => {
    const scale = timeScale([span(0, 60_000), span(36_000_000, 36_060_000)]);
    const ticks = scale.ticks(1_000).map(({ elapsedMs }) => elapsedMs);
    expect(ticks.every((elapsedMs) => elapsedMs <= 60_000 || elapsedMs >= 36_000_000)).toBe(true);
    expect(ticks.some((elapsedMs) => elapsedMs >= 36_000_000)).toBe(true);
  });

  it("without any time is a point", () => {
    expect(timeScale([]).shareOf(5)).toBe(0);
    expect(timeScale([span(3, 3)]).ticks(500)).toEqual([{ share: 0, elapsedMs: 0 }]);
  });
});
