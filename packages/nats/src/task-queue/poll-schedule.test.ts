/** When it is worth looking into the queue: told by hints, which may be lost, and by sweeps, which are not. */
import { createSubjects, silentLogger } from "@troupe/core";
import { createMemoryBus, createSimulatedClock } from "@troupe/core/memory";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { settle } from "../connection/link.fixture.ts";
import { laneOf } from "./lane.ts";
import { createWatch, type Watch } from "./poll-schedule.ts";

const subjects = createSubjects();
const [coder, tester, critic] = ["coder", "tester", "critic"].map((agent) => laneOf({ agent, locality: "any" })) as [
  ReturnType<typeof laneOf>,
  ReturnType<typeof laneOf>,
  ReturnType<typeof laneOf>,
];
const nothingEmpty: ReadonlySet<string> = new Set();

let clock: ReturnType<typeof createSimulatedClock>;
let bus: ReturnType<typeof createMemoryBus>;

beforeEach(() => {
  clock = createSimulatedClock();
  bus = createMemoryBus();
});

const watchOf = (id: string): Watch =>
  createWatch({
    ...{ bus, subjects, clock, logger: silentLogger, id },
    ...{ sweepMs: 5_000, hurry: { everyMs: 100, forMs: 1_000 }, othersFirstMs: 50 },
  });
/** What is worth a look, which is crossed off by that. */
const looked = (watch: Watch): string[] => watch.next(100, nothingEmpty).map(({ lane }) => lane.agent);

async function serving(id: string, ...lanes: ReturnType<typeof laneOf>[]): Promise<Watch> {
  const watch = watchOf(id);
  await watch.serve(lanes);
  return watch;
}

describe("a watch", () => {
  test("finds all that it serves worth a look at first, and once", async () => {
    const watch = await serving("a", coder, tester);
    expect(looked(watch)).toEqual(["coder", "tester"]);
    expect(looked(watch)).toEqual([]);
  });

  test("hears of another's offer, and of its own, where it serves them", async () => {
    const [a, b] = [await serving("a", coder, tester), await serving("b", coder, critic)];
    looked(a);
    looked(b);
    const [heardA, heardB] = [vi.fn(), vi.fn()];
    a.onHint(heardA);
    b.onHint(heardB);
    a.announce(coder);
    await settle();
    expect([looked(a), looked(b), heardA.mock.calls.length, heardB.mock.calls.length]).toEqual([
      ["coder"],
      ["coder"],
      1,
      1,
    ]);
    a.announce(tester);
    await settle();
    expect([looked(a), looked(b), heardB.mock.calls.length]).toEqual([["tester"], [], 1]);
  });

  test("leaves to others first what does not suit it, and looks for itself after a moment", async () => {
    const [a, b] = [await serving("a", coder), await serving("b", coder)];
    looked(a);
    looked(b);
    a.leaveToOthers(coder);
    await settle();
    expect([looked(a), looked(b)]).toEqual([[], ["coder"]]);
    clock.advance(50);
    expect(looked(a)).toEqual(["coder"]);
  });

  test("finds by a sweep what no hint has told of", async () => {
    const watch = await serving("a", coder, tester);
    looked(watch);
    const heard = vi.fn();
    watch.onHint(heard);
    clock.advance(4_999);
    await settle();
    expect(heard).not.toHaveBeenCalled();
    clock.advance(1);
    await settle();
    expect([heard.mock.calls.length, looked(watch)]).toEqual([1, ["coder", "tester"]]);
  });

  test("sweeps at once and often while it hurries, and as ever afterwards", async () => {
    const watch = await serving("a", coder);
    const sweeps: number[] = [];
    watch.onHint(() => sweeps.push(clock.monotonicMs()));
    await settle();
    sweeps.length = 0;
    watch.hurry();
    for (let ms = 0; ms < 10_000; ms += 100) {
      await settle();
      clock.advance(100);
    }
    expect(sweeps.slice(0, 11)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
    expect(sweeps.slice(11)).toEqual([6_000]);
  });

  test("hears of nothing that it serves no more", async () => {
    const [a, b] = [await serving("a", coder, tester), await serving("b", coder)];
    await a.serve([tester]);
    looked(a);
    b.announce(coder);
    await settle();
    expect(looked(a)).toEqual([]);
  });

  test("takes whatever anybody sends as a hint: it costs one look, and no more", async () => {
    const watch = await serving("a", coder);
    looked(watch);
    const heard = vi.fn();
    watch.onHint(heard);
    for (const bytes of [new Uint8Array(), new Uint8Array(100_000), new TextEncoder().encode("{")]) {
      bus.publish(subjects.hint("any", "coder"), bytes);
    }
    await settle();
    expect(looked(watch)).toEqual(["coder"]);
    expect(looked(watch)).toEqual([]);
  });

  test("finds what it serves by looking where hints cannot be heard", async () => {
    bus.subscribe = () => Promise.reject(new Error("not permitted"));
    const watch = await serving("a", coder);
    looked(watch);
    clock.advance(5_000);
    expect(looked(watch)).toEqual(["coder"]);
  });

  test("says and hears nothing once it is closed", async () => {
    const watch = await serving("a", coder);
    const heard = vi.fn();
    watch.onHint(heard);
    await settle();
    heard.mockClear();
    watch.close();
    watch.mark(coder);
    watch.hurry();
    clock.advance(20_000);
    bus.publish(subjects.hint("any", "coder"), new Uint8Array());
    await settle();
    expect([heard.mock.calls.length, looked(watch)]).toEqual([0, []]);
  });
});

describe("room for tasks", () => {
  test("is shared among all lanes that are worth a look", async () => {
    const watch = await serving("a", coder, tester, critic);
    expect(watch.next(7, nothingEmpty).map(({ batch }) => batch)).toEqual([3, 2, 2]);
  });

  test("for fewer than there are lanes goes to those that were unasked longest; the rest come next", async () => {
    const watch = await serving("a", coder, tester, critic);
    expect(watch.next(2, nothingEmpty).map(({ lane }) => lane.agent)).toEqual(["coder", "tester"]);
    watch.putBack(coder);
    expect(looked(watch)).toEqual(["critic", "coder"]);
  });

  test("is not given to a lane that was just found empty; it keeps its place", async () => {
    const watch = await serving("a", coder, tester);
    expect(watch.next(9, new Set([coder.consumer])).map(({ lane }) => lane.agent)).toEqual(["tester"]);
    expect(looked(watch)).toEqual(["coder"]);
  });
});
