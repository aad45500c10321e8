import { createSimulatedClock } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import { describe, vi } from "vitest";
import { clockConformance } from "./clock.ts";

describe("the simulated clock", () => {
  clockConformance(() => {
    const clock = createSimulatedClock(1_700_000_000_000);
    return { clock, pass: async (ms) => clock.advance(ms) };
  });
});

describe("the system's clock", () => {
  clockConformance(() => {
    const clock = systemClock();
    return {
      clock,
      async pass(ms) {
        const untilMs = performance.now() + ms;
        await vi.waitUntil(() => performance.now() >= untilMs, { interval: 1 });
      },
    };
  });
});
