/** A paused run starts no effect, finishes running effects, and its clock stops. */
import { describe, expect, test } from "vitest";
import {
  aBatch,
  anError,
  aToolCall,
  cancelled,
  childSettled,
  claimed,
  commanded,
  delegations,
  modelFailed,
  reads,
  reply,
  type SpecChanges,
  timerFired,
  toolFinished,
  verified,
} from "../fixtures.test-helper.ts";
import { drive, type FactBody, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";

const pause = commanded({ kind: "run.paused" });
const resume = commanded({ kind: "run.resumed" });
const network = { error: anError() };
const summarised = {
  kind: "context.summarised",
  step: 1,
  text: "in short",
  usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0 },
  error: null,
  durationMs: 1,
} as const;

/** [running effect, driver in that state, its outcome, effects that start only after a resume] */
const places: [string, () => MachineDriver, FactBody[], string[]][] = [
  ["the model thinks", () => drive(), [reply(1, "", [aToolCall("read")])], ["tool/1/0"]],
  [
    "the model answers while it listens to a stream",
    () => streaming(),
    [reply(2, "early"), childSettled(1, 0, {}, 1, 1)],
    ["model/3"],
  ],
  [
    "tools run, and others queue",
    () => at({ limits: { maxParallelTools: 1 } }, reply(1, "", reads(2))),
    [toolFinished(1, 0, "x")],
    ["tool/1/1"],
  ],
  ["the last tool runs", () => at({}, reply(1, "", reads(1))), [toolFinished(1, 0, "x")], ["model/2"]],
  [
    "a child runs, and another queues",
    () => at({ limits: { maxConcurrent: 1 } }, reply(1, "", delegations(2))),
    [childSettled(1, 0)],
    ["child/1/1/0/1"],
  ],
  [
    "a child runs, and another waits for it",
    () => at({}, reply(1, "", [aBatch([{ name: "a" }, { name: "b", after: ["a"] }])])),
    [childSettled(1, 0)],
    ["child/1/0/1/1"],
  ],
  [
    "a child waits for its retry",
    () => at({}, reply(1, "", delegations(1)), childSettled(1, 0, network)),
    [timerFired("retry/1/0/0/1")],
    ["child/1/0/0/2"],
  ],
  [
    "its model is rate-limited",
    () => at({}, modelFailed(1, { type: "rate_limit" })),
    [timerFired("rate/1/1")],
    ["model/1"],
  ],
  [
    "the model thinks about a child with a summary",
    () => drive(),
    [reply(1, "", [aBatch([{ context: "summary" }])])],
    ["summary/1"],
  ],
  [
    "the conversation is summed up",
    () => at({}, reply(1, "", [aBatch([{ context: "summary" }])])),
    [summarised],
    ["child/1/0/0/1"],
  ],
  [
    "its answer is verified, in vain",
    () => at({ definition: { verifiers: [{ name: "exists", params: {} }] } }, reply(1, "done")),
    [verified(1, ["no"])],
    ["model/2"],
  ],
];

function at(changes: SpecChanges, ...facts: FactBody[]): MachineDriver {
  const d = drive(changes);
  for (const fact of facts) d.feed(fact);
  return d;
}

function streaming(): MachineDriver {
  return at({}, reply(1, "", [aBatch([{}, {}], { mode: "parallel_streaming" })]), childSettled(1, 0, {}, 1, 0));
}

const isWork = (key: string): boolean => key !== "timer/deadline" && !key.startsWith("plan/");

describe.each(places)("paused while %s", (_, place, ends, next) => {
  test("it finishes, nothing follows, and a resume continues", () => {
    const d = place();
    const atWork = d.pendingKeys().filter(isWork);
    d.look();
    expect(d.on(pause)).toMatchObject({ started: [], stopped: ["timer/deadline"] });
    expect(d.pendingKeys().filter(isWork)).toEqual(atWork);
    for (const fact of ends) expect(d.on(fact).started.filter(isWork)).toEqual([]);
    expect(d.pending()).toEqual([]);
    expect(d.on(resume).started.filter(isWork)).toEqual(next);
  });

  test("a cancel still ends it", () => {
    const d = place();
    d.feed(pause);
    for (const fact of ends) d.feed(fact);
    d.feed(cancelled());
    d.settleDropped();
    expect([d.state(), d.response().status]).toEqual(["respond.settling", "cancelled"]);
  });
});

describe("time", () => {
  test("stops, and moves the deadline by the length of the pause", () => {
    const d = drive();
    d.feed(pause, openedAt + 10_000);
    d.feed(resume, openedAt + 3_610_000);
    expect(d.effect("startTimer")).toMatchObject({ timer: "deadline", delayMs: 290_000, since: openedAt + 3_610_000 });
    d.feed(reply(1, "42"), openedAt + 3_615_000);
    expect(d.response().metrics).toMatchObject({ durationMs: 3_615_000, waitedMs: 3_600_000 });
  });

  test("stops for the children's remaining time, too", () => {
    const d = drive({ limits: { maxDurationMs: 60_000 } });
    d.feed(pause, openedAt + 10_000);
    d.feed(resume, openedAt + 3_610_000);
    d.feed(reply(1, "", delegations(1)), openedAt + 3_620_000);
    expect(d.effect("runChild").request.remainingMs).toBe(39_000);
  });

  test("ends no run when the deadline fires during the pause", () => {
    const d = drive();
    d.feed(pause);
    expect(d.on(timerFired("deadline"))).toEqual({ state: "execute.think", started: [], stopped: [] });
  });

  test("is not started by another host that resumes the run", () => {
    const d = drive();
    d.feed(pause, openedAt + 10_000);
    d.feed({ kind: "run.parked", reason: "pause" }, openedAt + 20_000);
    d.feed(claimed(), openedAt + 100_000);
    expect([d.state(), d.pendingKeys()]).toEqual(["execute.paused", []]);
    d.feed(resume, openedAt + 200_000);
    expect(d.effect("startTimer")).toMatchObject({ delayMs: 290_000, since: openedAt + 200_000 });
  });
});

test.each<[string, () => MachineDriver, string]>([
  ["an assessment", () => drive({ definition: { intent: "model" } }), "intent"],
  ["a model call", () => drive(), "model/1"],
  ["a summary", () => at({}, reply(1, "", [aBatch([{ context: "summary" }])])), "summary/1"],
])("%s that was lost with its host is repeated after the resume, not before", (_, place, key) => {
  const d = place();
  d.feed(pause);
  d.look();
  expect(d.on(claimed()).started).toEqual([]);
  expect(d.pending()).toEqual([]);
  expect(d.on(resume).started.sort()).toEqual([key, "timer/deadline"].sort());
});

test("a second pause is ignored, and so is a resume without a pause", () => {
  const d = drive();
  d.look();
  expect(d.on(resume)).toEqual({ state: "execute.think", started: [], stopped: [] });
  d.feed(pause);
  d.look();
  expect(d.on(pause)).toEqual({ state: "execute.think", started: [], stopped: [] });
  d.feed(resume);
  expect(d.pendingKeys()).toEqual(["model/1", "timer/deadline"]);
});

test("a final answer is accepted during a pause", () => {
  const d = drive();
  d.feed(pause);
  expect(d.on(reply(1, "42")).state).toBe("respond.settling");
});

test("a task that is stopped while it waits for its retry ends", () => {
  const d = at({}, reply(1, "", [aBatch([{}, {}], { mode: "parallel_streaming" })]), childSettled(1, 0, {}, 1, 0));
  d.feed(childSettled(1, 0, network, 1, 1));
  d.feed(reply(2, "", [aToolCall("delegate", { cancel: ["1.0.1"] })]));
  expect(d.context().batches).toEqual({});
});
