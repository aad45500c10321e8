import type { TimelineEvent } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { joinPhases, laneOf, type Phase, phaseTotals, TimelineLog } from "./timeline.ts";

const startMs = Date.UTC(2026, 10, 18, 12);
const at = (seconds: number): number => startMs + seconds * 1_000;
const iso = (seconds: number): string => new Date(at(seconds)).toISOString();
type Given = [kind: TimelineEvent["kind"], seconds: number, more?: Partial<TimelineEvent>];

function events(...given: Given[]): TimelineEvent[] {
  return given.map(([kind, seconds, more]) => ({ run: "r", kind, at: at(seconds), ...more }));
}

const ended = runRow({
  run: "r",
  parentRun: "p",
  startedAt: iso(2),
  completedAt: iso(20),
  status: "completed",
  exactStatus: "completed",
});
const running = { ...ended, completedAt: null, status: "running" as const, exactStatus: "running" };
const seen = (phases: readonly Phase[]) =>
  phases.map(({ kind, startMs: from, endMs: to, name }) => [
    kind,
    (from - startMs) / 1_000,
    (to - startMs) / 1_000,
    ...(name === null ? [] : [name]),
  ]);

describe("a lane", () => {
  it("has the queue, the calls, the waits and the pauses of a run", () => {
    const lane = laneOf(
      ended,
      events(
        ["queued", 0],
        ["opened", 2],
        ["model", 5, { durationMs: 3_000 }],
        ["asked", 5, { name: "a1" }],
        ["answered", 8, { name: "a1" }],
        ["tool", 9, { durationMs: 1_000, name: "shell" }],
        ["delegated", 9],
        ["model", 16, { durationMs: 2_000 }],
        ["paused", 16],
        ["resumed", 18],
        ["model", 20, { durationMs: 2_000 }],
        ["settled", 20],
      ),
      at(99),
    );
    expect(seen(lane.phases)).toEqual([
      ["queued", 0, 2],
      ["delegating", 9, 14],
      ["model", 2, 5],
      ["model", 14, 16],
      ["model", 18, 20],
      ["tool", 8, 9, "shell"],
      ["waiting", 5, 8],
      ["paused", 16, 18],
    ]);
    expect([lane.startMs, lane.endMs]).toEqual([at(0), at(20)]);
  });

  it.each<[string, Given[], Partial<typeof running>, unknown]>([
    ["in the queue", [["queued", 0]], { exactStatus: "queued", status: "pending" }, ["queued", 0, 30]],
    [
      "at work",
      [
        ["opened", 2],
        ["model", 5, { durationMs: 3_000 }],
      ],
      {},
      ["working", 5, 30],
    ],
    [
      "waiting for a person",
      [
        ["opened", 2],
        ["asked", 5, { name: "a" }],
      ],
      { exactStatus: "waiting" },
      ["waiting", 5, 30],
    ],
    [
      "paused",
      [
        ["opened", 2],
        ["paused", 6],
      ],
      { exactStatus: "paused" },
      ["paused", 6, 30],
    ],
    [
      "waiting for its agents",
      [
        ["opened", 2],
        ["delegated", 4],
      ],
      {},
      ["delegating", 4, 30],
    ],
  ])("of a run that is %s lasts until now", (_, given, row, expected) => {
    const lane = laneOf({ ...running, ...row }, events(...given), at(30));
    expect(seen(lane.phases)).toContainEqual(expected);
    expect(lane.endMs).toBe(at(30));
  });

  it("of a run that ended has no phase after its end, although nothing closed it", () => {
    const lane = laneOf(
      ended,
      events(["opened", 2], ["asked", 5, { name: "a" }], ["delegated", 6], ["paused", 7]),
      at(99),
    );
    expect(Math.max(...lane.phases.map(({ endMs }) => endMs))).toBe(at(20));
  });

  it("of a root begins with its request", () => {
    const lane = laneOf({ ...ended, parentRun: null, startedAt: iso(1) }, events(["opened", 3]), at(99));
    expect(seen(lane.phases)).toContainEqual(["queued", 1, 3]);
  });

  it("without events is the time from the start to the end", () => {
    expect(seen(laneOf(ended, [], at(99)).phases)).toEqual([["working", 2, 20]]);
  });

  it("counts a second claim as no second queue", () => {
    const lane = laneOf(ended, events(["queued", 0], ["opened", 2], ["parked", 5], ["opened", 9]), at(99));
    expect(seen(lane.phases).filter(([kind]) => kind === "queued")).toEqual([["queued", 0, 2]]);
  });
});

it("the totals count overlapping phases of one kind once", () => {
  const { phases } = laneOf(
    ended,
    events(["opened", 2], ["tool", 6, { durationMs: 4_000, name: "a" }], ["tool", 7, { durationMs: 4_000, name: "b" }]),
    at(99),
  );
  expect(phaseTotals({ phases })).toEqual([{ kind: "tool", durationMs: 5_000 }]);
});

it("phases of one kind that are too near to tell apart become one", () => {
  const phase = (from: number, to: number, name: string): Phase => ({
    kind: "tool",
    startMs: at(from),
    endMs: at(to),
    name,
  });
  const phases = [phase(0, 1, "read"), phase(1.01, 2, "read"), phase(2.02, 3, "write"), phase(9, 10, "read")];
  expect(seen(joinPhases(phases, 100))).toEqual([
    ["tool", 0, 3],
    ["tool", 9, 10, "read"],
  ]);
  expect(joinPhases(phases, 1)).toHaveLength(4);
});

describe("the log", () => {
  const page = (from: number, next: number, ...given: Given[]) => ({ events: events(...given), from, next });

  it("keeps the events of each run in order, over several pages", () => {
    const log = new TimelineLog();
    log.add(page(0, 2, ["opened", 1], ["model", 2]));
    const before = log.toMap();
    log.add(page(2, 3, ["settled", 3]));
    expect(log.next).toBe(3);
    expect(
      log
        .toMap()
        .get("r")
        ?.map(({ kind }) => kind),
    ).toEqual(["opened", "model", "settled"]);
    expect(before.get("r")).toHaveLength(2);
  });

  it("forgets everything when the record was made anew", () => {
    const log = new TimelineLog();
    log.add(page(0, 9, ["opened", 1]));
    log.add(page(0, 1, ["opened", 2]));
    expect(
      log
        .toMap()
        .get("r")
        ?.map((event) => event.at),
    ).toEqual([at(2)]);
  });
});
