/** When a lane is polled: after hints, which may be lost, and periodically, which never fails. */
import { createSubjects, silentLogger } from "@troupe/core";
import { createMemoryBus, createSimulatedClock } from "@troupe/core/memory";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { settle } from "../connection/link.fixture.ts";
import { laneOf } from "./consumers.ts";
import { createPollSchedule, type PollSchedule } from "./poll-schedule.ts";

const subjects = createSubjects();
const [coder, tester, critic] = ["coder", "tester", "critic"].map((agent) => laneOf({ agent, locality: "any" })) as [
  ReturnType<typeof laneOf>,
  ReturnType<typeof laneOf>,
  ReturnType<typeof laneOf>,
];
const noneEmpty: ReadonlySet<string> = new Set();

let clock: ReturnType<typeof createSimulatedClock>;
let bus: ReturnType<typeof createMemoryBus>;

beforeEach(() => {
  clock = createSimulatedClock();
  bus = createMemoryBus();
});

const scheduleOf = (id: string): PollSchedule =>
  createPollSchedule({
    ...{ bus, subjects, clock, logger: silentLogger, id },
    ...{ pollMs: 5_000, fastPoll: { everyMs: 100, forMs: 1_000 }, othersFirstMs: 50 },
  });
/** Takes all lanes out of the schedule. */
const polled = (schedule: PollSchedule): string[] => schedule.next(100, noneEmpty).map(({ lane }) => lane.agent);

async function serving(id: string, ...lanes: ReturnType<typeof laneOf>[]): Promise<PollSchedule> {
  const schedule = scheduleOf(id);
  await schedule.serve(lanes);
  return schedule;
}

describe("a poll schedule", () => {
  test("polls every lane once at first", async () => {
    const schedule = await serving("a", coder, tester);
    expect(polled(schedule)).toEqual(["coder", "tester"]);
    expect(polled(schedule)).toEqual([]);
  });

  test("polls a lane after an announcement by another process or its own, if it serves the lane", async () => {
    const [a, b] = [await serving("a", coder, tester), await serving("b", coder, critic)];
    polled(a);
    polled(b);
    const [onHintA, onHintB] = [vi.fn(), vi.fn()];
    a.onHint(onHintA);
    b.onHint(onHintB);
    a.announce(coder);
    await settle();
    expect([polled(a), polled(b), onHintA.mock.calls.length, onHintB.mock.calls.length]).toEqual([
      ["coder"],
      ["coder"],
      1,
      1,
    ]);
    a.announce(tester);
    await settle();
    expect([polled(a), polled(b), onHintB.mock.calls.length]).toEqual([["tester"], [], 1]);
  });

  test("leaves a task to the other hosts first, and polls after their head start", async () => {
    const [a, b] = [await serving("a", coder), await serving("b", coder)];
    polled(a);
    polled(b);
    a.leaveToOthers(coder);
    await settle();
    expect([polled(a), polled(b)]).toEqual([[], ["coder"]]);
    clock.advance(50);
    expect(polled(a)).toEqual(["coder"]);
  });

  test("polls every lane periodically, without a hint", async () => {
    const schedule = await serving("a", coder, tester);
    polled(schedule);
    const onHint = vi.fn();
    schedule.onHint(onHint);
    clock.advance(4_999);
    await settle();
    expect(onHint).not.toHaveBeenCalled();
    clock.advance(1);
    await settle();
    expect([onHint.mock.calls.length, polled(schedule)]).toEqual([1, ["coder", "tester"]]);
  });

  test("polls at once and often after pollFaster, and as usual afterwards", async () => {
    const schedule = await serving("a", coder);
    const polls: number[] = [];
    schedule.onHint(() => polls.push(clock.monotonicMs()));
    await settle();
    polls.length = 0;
    schedule.pollFaster();
    for (let ms = 0; ms < 10_000; ms += 100) {
      await settle();
      clock.advance(100);
    }
    expect(polls.slice(0, 11)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
    expect(polls.slice(11)).toEqual([6_000]);
  });

  test("ignores hints about lanes that it no longer serves", async () => {
    const [a, b] = [await serving("a", coder, tester), await serving("b", coder)];
    await a.serve([tester]);
    polled(a);
    b.announce(coder);
    await settle();
    expect(polled(a)).toEqual([]);
  });

  test("treats any bytes as a hint: each costs one poll", async () => {
    const schedule = await serving("a", coder);
    polled(schedule);
    const onHint = vi.fn();
    schedule.onHint(onHint);
    for (const bytes of [new Uint8Array(), new Uint8Array(100_000), new TextEncoder().encode("{")]) {
      bus.publish(subjects.hint("any", "coder"), bytes);
    }
    await settle();
    expect(polled(schedule)).toEqual(["coder"]);
    expect(polled(schedule)).toEqual([]);
  });

  test("polls periodically if hints cannot be received", async () => {
    bus.subscribe = () => Promise.reject(new Error("not permitted"));
    const schedule = await serving("a", coder);
    polled(schedule);
    clock.advance(5_000);
    expect(polled(schedule)).toEqual(["coder"]);
  });

  test("sends and receives nothing once it is closed", async () => {
    const schedule = await serving("a", coder);
    const onHint = vi.fn();
    schedule.onHint(onHint);
    await settle();
    onHint.mockClear();
    schedule.close();
    schedule.mark(coder);
    schedule.pollFaster();
    clock.advance(20_000);
    bus.publish(subjects.hint("any", "coder"), new Uint8Array());
    await settle();
    expect([onHint.mock.calls.length, polled(schedule)]).toEqual([0, []]);
  });
});

describe("the capacity for tasks", () => {
  test("is shared among all scheduled lanes", async () => {
    const schedule = await serving("a", coder, tester, critic);
    expect(schedule.next(7, noneEmpty).map(({ batch }) => batch)).toEqual([3, 2, 2]);
  });

  test("smaller than the number of lanes goes to the lanes that waited longest; the others come next", async () => {
    const schedule = await serving("a", coder, tester, critic);
    expect(schedule.next(2, noneEmpty).map(({ lane }) => lane.agent)).toEqual(["coder", "tester"]);
    schedule.reschedule(coder);
    expect(polled(schedule)).toEqual(["critic", "coder"]);
  });

  test("is not given to a lane that was just found empty; the lane keeps its place", async () => {
    const schedule = await serving("a", coder, tester);
    expect(schedule.next(9, new Set([coder.consumer])).map(({ lane }) => lane.agent)).toEqual(["tester"]);
    expect(polled(schedule)).toEqual(["coder"]);
  });
});

async function served() {
  const scheduleFor = (id: string) =>
    createPollSchedule({
      bus,
      subjects,
      clock,
      logger: silentLogger,
      pollMs: 5_000,
      fastPoll: { everyMs: 1_000, forMs: 1 },
      othersFirstMs: 50,
      id,
    });
  const schedule = scheduleFor("one");
  await schedule.serve([coder]);
  /** Lanes to poll now. Each poll finds nothing. */
  const polls = async (): Promise<string[]> => {
    await settle();
    return schedule.next(8, new Set()).map(({ lane: { consumer } }) => consumer);
  };
  expect(await polls(), "every lane is polled first").toEqual([coder.consumer]);
  return { clock, schedule, other: scheduleFor("other"), polls };
}

describe.each(["own", "other's"])("after a hint of its %s", (whose) => {
  test("a lane is polled at once, and twice more: the server may not have told its consumer yet", async () => {
    const { clock, schedule, other, polls } = await served();
    (whose === "own" ? schedule : other).announce(coder);
    expect(await polls()).toEqual([coder.consumer]);
    clock.advance(24);
    expect(await polls()).toEqual([]);
    clock.advance(1);
    expect(await polls()).toEqual([coder.consumer]);
    clock.advance(225);
    expect(await polls()).toEqual([coder.consumer]);
    clock.advance(4_000);
    expect(await polls(), "until the next periodic poll").toEqual([]);
    schedule.close();
  });
});

test("of many hints in a row the last one counts", async () => {
  const { clock, other, polls } = await served();
  for (let hint = 0; hint < 10; hint += 1) {
    other.announce(coder);
    expect(await polls()).toEqual([coder.consumer]);
    clock.advance(20);
    expect(await polls()).toEqual([]);
  }
  clock.advance(5);
  expect(await polls()).toEqual([coder.consumer]);
  clock.advance(5);
  expect(await polls()).toEqual([]);
});
