/** When a lane is worth a look: a hint is true, though the server may not act on it at once. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { createSubjects, silentLogger } from "@troupe/core";
import { createMemoryBus, createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, it } from "vitest";
import { laneOf } from "./lane.ts";
import { createWatch } from "./poll-schedule.ts";

const lane = laneOf({ locality: "any", agent: "coder" });

async function stage() {
  const [bus, clock, subjects] = [createMemoryBus(), createSimulatedClock(), createSubjects()];
  const watchOf = (id: string) =>
    createWatch({
      bus,
      subjects,
      clock,
      logger: silentLogger,
      sweepMs: 5_000,
      hurry: { everyMs: 1_000, forMs: 1 },
      othersFirstMs: 50,
      id,
    });
  const watch = watchOf("one");
  await watch.serve([lane]);
  /** Lanes that a look would go into now; each look finds nothing. */
  const looks = async (): Promise<string[]> => {
    await nextTurn();
    return watch.next(8, new Set()).map(({ lane: { consumer } }) => consumer);
  };
  expect(await looks(), "what is served is looked into first").toEqual([lane.consumer]);
  return { clock, watch, other: watchOf("other"), looks };
}

describe.each(["own", "other's"])("after a hint of its %s", (whose) => {
  it("a lane is looked into at once, and twice more, for the server may not have told its consumer yet", async () => {
    const { clock, watch, other, looks } = await stage();
    (whose === "own" ? watch : other).announce(lane);
    expect(await looks()).toEqual([lane.consumer]);
    clock.advance(24);
    expect(await looks()).toEqual([]);
    clock.advance(1);
    expect(await looks()).toEqual([lane.consumer]);
    clock.advance(225);
    expect(await looks()).toEqual([lane.consumer]);
    clock.advance(4_000);
    expect(await looks(), "until the next sweep").toEqual([]);
    watch.close();
  });
});

it("of many hints in a row the last one counts", async () => {
  const { clock, other, looks } = await stage();
  for (let hint = 0; hint < 10; hint += 1) {
    other.announce(lane);
    expect(await looks()).toEqual([lane.consumer]);
    clock.advance(20);
    expect(await looks()).toEqual([]);
  }
  clock.advance(5);
  expect(await looks()).toEqual([lane.consumer]);
  clock.advance(5);
  expect(await looks()).toEqual([]);
});
