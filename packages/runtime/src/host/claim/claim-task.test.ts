/** A task on its way to a run: its slot, its state in the queue, and the log lines about it. */
import { type Logger, silentLogger, type TakenTask, TroupeError } from "@troupe/core";
import { createInvalidMessages, encode, type ParkOptions } from "@troupe/core/internal";
import { createSimulatedClock } from "@troupe/core/memory";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createTestDeps, entriesOf, rootRequest, type TestDeps } from "../host-deps.test-helper.ts";
import { createSlots, type Slots } from "../run/slots.ts";
import { claimRun } from "./claim-run.ts";
import { createTaskClaimer, type TaskClaimer } from "./claim-task.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({ run });

let deps: TestDeps;
let clock: ReturnType<typeof createSimulatedClock>;
let slots: Slots;
let stopping: AbortController;
let logged: string[];
let collected: string[];
let queueCalls: unknown[];
let taker: TaskClaimer;

beforeEach(() => {
  clock = createSimulatedClock(1_000_000);
  logged = [];
  collected = [];
  queueCalls = [];
  const note = (_: object, message: string): void => void logged.push(message);
  deps = {
    ...createTestDeps({ agents: [{ id: "main" }], script: () => ({}) }),
    clock,
    leaseMs: 30,
    logger: { ...silentLogger, warn: note, error: note } as Logger,
    invalidMessages: createInvalidMessages(),
  };
  slots = createSlots(2);
  stopping = new AbortController();
  start();
});

function start(): void {
  taker = createTaskClaimer({
    deps,
    slots,
    startRun: (task) => void collected.push(task.run),
    stopping: stopping.signal,
  });
}

function taskOf(bytes: Uint8Array = encode(request), changes: Partial<TakenTask> = {}): TakenTask {
  return {
    run,
    bytes,
    redelivered: true,
    lost: new AbortController().signal,
    isCertain: () => true,
    renew: async () => true,
    onUncertain: () => () => {},
    park: async (options?: ParkOptions) => void queueCalls.push(options?.again ? "parked for anybody" : "parked"),
    finish: async () => void queueCalls.push("finished"),
    drop: () => void queueCalls.push("dropped"),
    ...changes,
  };
}

async function claimTask(task = taskOf()): Promise<void> {
  expect(slots.tryAcquire()).toBe(true);
  let isDone = false;
  const done = taker.claimTask(task).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
  }
  await done;
}

const opened = () => claimRun({ ...deps, hostId: "them" }, request, () => deps.agentSource.load(null));

describe("a task", () => {
  test("of a new run opens the run, which keeps its slot", async () => {
    await claimTask();
    expect([collected, queueCalls, slots.free()]).toEqual([[run], [], 1]);
  });

  test("of a run that its host still holds is dropped silently, and nothing is written", async () => {
    await opened();
    await deps.bus.subscribe(deps.subjects.control("them"), ({ respond }) =>
      respond(encode({ v: 1, run, holds: true })),
    );
    await claimTask();
    expect([collected, queueCalls, slots.free()]).toEqual([[], ["dropped"], 2]);
    expect(await entriesOf(deps, request)).toHaveLength(1);
  });

  test.for([true, false])(
    "of a known run whose host is silent is taken over, delivered before: %s",
    async (redelivered) => {
      await opened();
      await claimTask(taskOf(undefined, { redelivered }));
      expect(collected).toEqual([run]);
      expect((await entriesOf(deps, request)).at(-1)).toMatchObject({
        kind: "run.claimed",
        reason: "taken_over",
        epoch: 2,
      });
    },
  );

  test("of a known run is not taken from its host, even if the queue reports no earlier delivery", async () => {
    await opened();
    await deps.bus.subscribe(deps.subjects.control("them"), ({ respond }) =>
      respond(encode({ v: 1, run, holds: true })),
    );
    await claimTask(taskOf(undefined, { redelivered: false }));
    expect([collected, queueCalls]).toEqual([[], ["dropped"]]);
  });

  test("of a settled run publishes its response again, and is finished", async () => {
    await claimTask(taskOf(encode({ ...request, agent: "ghost" })));
    expect(queueCalls).toEqual(["finished"]);
    const onSettled = vi.fn();
    await deps.bus.subscribe(deps.subjects.settled(run), onSettled);
    await claimTask();
    expect([queueCalls, collected, onSettled.mock.calls.length, slots.free()]).toEqual([
      ["finished", "finished"],
      [],
      1,
      2,
    ]);
  });

  test("of a run of a newer version is left to other hosts, without delay the first time", async () => {
    await opened();
    const { journal } = deps;
    deps.journal = {
      ...journal,
      readRun: async () => (await journal.readRun(request.session, run)).map((text) => text.replace('"v":1', '"v":2')),
    };
    start();
    for (let times = 0; times < 4; times += 1) {
      const beganMs = clock.monotonicMs();
      await claimTask();
      const heldMs = clock.monotonicMs() - beganMs;
      const leastMs = [0, 100, 200, 400][times] ?? 0;
      expect(heldMs).toBeGreaterThanOrEqual(leastMs);
      expect(heldMs).toBeLessThan(leastMs + 100);
    }
    expect([new Set(queueCalls), logged, slots.free()]).toEqual([
      new Set(["parked for anybody"]),
      ["run left to another host"],
      2,
    ]);
  });

  test("from a newer version is left to other hosts, unread", async () => {
    await claimTask(taskOf(new TextEncoder().encode('{"v":2,"what":"an unknown message"}')));
    expect([queueCalls, collected, logged]).toEqual([["parked for anybody"], [], ["run left to another host"]]);
  });
});

describe("an invalid task", () => {
  const text = (words: string): Uint8Array => new TextEncoder().encode(words);
  test("is removed; each is counted, and the first of them logged", async () => {
    await claimTask(taskOf(Uint8Array.of(0xff)));
    await claimTask(taskOf(text("hello")));
    await claimTask(taskOf(text('{"v":1}')));
    await claimTask(taskOf(text(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)));
    await claimTask(taskOf(encode(rootRequest({ run: "0198a000-0000-7000-8000-00000000000f" }))));
    expect([queueCalls, collected, slots.free()]).toEqual([Array(5).fill("parked"), [], 2]);
    expect([deps.invalidMessages?.counts(), logged]).toEqual([{ "malformed task": 5 }, ["task refused"]]);
  });
});

describe("while a run cannot be claimed", () => {
  const unreadable = () => Promise.reject(new Error("the journal is out of reach"));

  test("the claim is retried, with a slot only during each try", async () => {
    const { journal } = deps;
    deps.journal = { ...journal, append: unreadable, lastOf: unreadable, readRun: unreadable };
    start();
    slots.tryAcquire();
    const trying = taker.claimTask(taskOf());
    await vi.waitFor(() => expect(slots.free()).toBe(2));
    expect([taker.isClaiming(run), queueCalls]).toEqual([false, []]);
    Object.assign(deps.journal, journal);
    clock.advance(1_000);
    await trying;
    expect([collected, slots.free()]).toEqual([[run], 1]);
  });

  test("the queue gets no message about a lost task", async () => {
    deps.journal = { ...deps.journal, append: unreadable, lastOf: unreadable, readRun: unreadable };
    start();
    const lost = new AbortController();
    slots.tryAcquire();
    const trying = taker.claimTask(taskOf(undefined, { lost: lost.signal }));
    await vi.waitFor(() => expect(slots.free()).toBe(2));
    lost.abort();
    clock.advance(1_000);
    await trying;
    expect([queueCalls, collected]).toEqual([["dropped"], []]);
  });

  test("a stopping host returns the task", async () => {
    deps.journal = { ...deps.journal, append: unreadable, lastOf: unreadable, readRun: unreadable };
    start();
    slots.tryAcquire();
    const trying = taker.claimTask(taskOf());
    await vi.waitFor(() => expect(slots.free()).toBe(2));
    stopping.abort();
    await trying;
    expect([queueCalls, collected]).toEqual([["parked for anybody"], []]);
  });

  test("without a connection to its host: no host takes it", async () => {
    await opened();
    const { bus } = deps;
    deps.bus = { ...bus, request: () => Promise.reject(new TroupeError("UNREACHABLE", "no server")) };
    start();
    slots.tryAcquire();
    const trying = taker.claimTask(taskOf());
    await vi.waitFor(() => expect(slots.free()).toBe(2));
    expect(await entriesOf(deps, request)).toHaveLength(1);
    stopping.abort();
    await trying;
  });
});
