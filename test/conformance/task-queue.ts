import type { TakenTask, TaskOffer, TaskQueue } from "@troupe/core";
import type { TakeRequest } from "@troupe/core/internal";
import { expect, test, vi } from "vitest";

export interface TaskQueueHarness extends AsyncDisposable {
  queue: TaskQueue;
}

const anything: TakeRequest = { agents: ["helper", "writer"], localities: ["w1", "w2"], max: 100 };
const encoder = new TextEncoder();

function runId(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

function offer(n: number, changes: Partial<TaskOffer> = {}): TaskOffer {
  return { run: runId(n), agent: "helper", locality: "any", bytes: encoder.encode(`task ${n}`), ...changes };
}

/** The numbers of the runs that were taken, in order. */
function numbers(tasks: readonly TakenTask[]): number[] {
  return tasks.map(({ run }) => Number(run.slice(-12)));
}

/** The contract of the TaskQueue port, tested on each adapter. */
export function taskQueueConformance(create: () => Promise<TaskQueueHarness>): void {
  async function withQueue(use: (queue: TaskQueue) => Promise<void>): Promise<void> {
    await using harness = await create();
    await use(harness.queue);
  }

  /** A server that does not answer in time gives nothing, so hosts ask again. */
  async function takeThere(queue: TaskQueue, wanted = anything): Promise<readonly TakenTask[]> {
    let taken: readonly TakenTask[] = [];
    await expect
      .poll(async () => {
        taken = await queue.take(wanted);
        return taken.length;
      })
      .toBeGreaterThan(0);
    return taken;
  }

  async function takeOne(queue: TaskQueue): Promise<TakenTask> {
    const [task] = await takeThere(queue, { ...anything, max: 1 });
    if (!task) throw new Error("nothing was there to take");
    return task;
  }

  test("a task is taken once, with the bytes that were offered", () =>
    withQueue(async (queue) => {
      expect(await queue.offer(offer(1))).toBe("offered");
      const task = await takeOne(queue);
      expect([task.run, new TextDecoder().decode(task.bytes), task.lost.aborted]).toEqual([runId(1), "task 1", false]);
      expect(await queue.take(anything)).toEqual([]);
    }));

  test("taking never waits: an empty queue returns nothing at once", () =>
    withQueue(async (queue) => {
      expect(await queue.take(anything)).toEqual([]);
      await queue.offer(offer(1));
      expect(numbers(await takeThere(queue))).toEqual([1]);
    }));

  test.for([
    { what: "queued", state: async () => {}, remaining: ["task 1"] },
    { what: "held", state: async (queue: TaskQueue) => void (await queue.take(anything)), remaining: [] },
  ])("a run that is $what cannot be offered again", ({ state, remaining }) =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      await state(queue);
      expect(await queue.offer(offer(1, { bytes: encoder.encode("other") }))).toBe("duplicate");
      const again = await queue.take(anything);
      expect(again.map(({ bytes }) => new TextDecoder().decode(bytes))).toEqual(remaining);
    }),
  );

  test("a run that is offered ten times at once is queued once", () =>
    withQueue(async (queue) => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => queue.offer(offer(1))));
      expect(answers.filter((answer) => answer === "offered")).toHaveLength(1);
      expect(numbers(await queue.take(anything))).toEqual([1]);
    }));

  test("two takers never get the same task", () =>
    withQueue(async (queue) => {
      for (let n = 1; n <= 20; n += 1) await queue.offer(offer(n));
      const takes = await Promise.all(Array.from({ length: 8 }, () => queue.take({ ...anything, max: 3 })));
      const taken = takes.flatMap(numbers);
      expect(new Set(taken).size).toBe(taken.length);
      expect(takes.every((tasks) => tasks.length <= 3)).toBe(true);
      taken.push(...numbers(await queue.take(anything)));
      expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    }));

  test("tasks are taken in the order of their offers", () =>
    withQueue(async (queue) => {
      for (const n of [3, 1, 2]) await queue.offer(offer(n));
      expect(numbers(await queue.take({ ...anything, max: 2 }))).toEqual([3, 1]);
      expect(numbers(await queue.take({ ...anything, max: 2 }))).toEqual([2]);
    }));

  test("a take returns at most the requested number, and none for zero", () =>
    withQueue(async (queue) => {
      for (let n = 1; n <= 3; n += 1) await queue.offer(offer(n));
      expect(await queue.take({ ...anything, max: 0 })).toEqual([]);
      expect(numbers(await queue.take({ ...anything, max: 2 }))).toEqual([1, 2]);
    }));

  test.for<{ what: string; request: Partial<TakeRequest>; taken: number[] }>([
    { what: "every agent and locality", request: {}, taken: [1, 2, 3, 4] },
    { what: "one agent", request: { agents: ["writer"] }, taken: [2, 4] },
    { what: "no agent", request: { agents: [] }, taken: [] },
    { what: "no locality but any", request: { localities: [] }, taken: [1, 2] },
    { what: "one locality and any", request: { localities: ["w1"] }, taken: [1, 2, 3] },
    { what: "one agent in one locality", request: { agents: ["writer"], localities: ["w2"] }, taken: [2, 4] },
    {
      what: "an agent and a locality without a task",
      request: { agents: ["critic"], localities: ["w9"] },
      taken: [],
    },
  ])("a host that serves $what gets its tasks, and leaves the rest", ({ request, taken }) =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      await queue.offer(offer(2, { agent: "writer" }));
      await queue.offer(offer(3, { locality: "w1" }));
      await queue.offer(offer(4, { agent: "writer", locality: "w2" }));
      const mine = numbers(await queue.take({ ...anything, ...request }));
      expect(mine.sort()).toEqual(taken);
      expect(numbers(await queue.take(anything)).sort()).toEqual([1, 2, 3, 4].filter((n) => !taken.includes(n)));
    }),
  );

  test.for([
    { what: "an array's", bytes: encoder.encode("task 1") },
    { what: "a Buffer's", bytes: Buffer.from("task 1") },
  ])("bytes are copies, $what too: later changes by either side have no effect", ({ bytes }) =>
    withQueue(async (queue) => {
      const task = offer(1, { bytes });
      await queue.offer(task);
      task.bytes.fill(0);
      const taken = await takeOne(queue);
      expect(new TextDecoder().decode(taken.bytes)).toBe("task 1");
      taken.bytes.fill(0);
      await taken.park();
      await queue.offer(offer(1));
      expect(new TextDecoder().decode((await takeOne(queue)).bytes)).toBe("task 1");
    }),
  );

  test("a task that is delivered for the first time is certain, and marked as the first delivery", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const task = await takeOne(queue);
      expect([task.redelivered, task.isCertain(), await task.renew(), task.isCertain()]).toEqual([
        false,
        true,
        true,
        true,
      ]);
      const stop = task.onUncertain(() => {});
      stop();
    }));

  test("a task that is parked with `again` is available to every host at once, and announced", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const task = await takeOne(queue);
      const onHint = vi.fn();
      queue.onHint(onHint);
      await task.park({ again: true });
      await vi.waitFor(() => expect(onHint).toHaveBeenCalled());
      const again = await takeOne(queue);
      expect([again.run, new TextDecoder().decode(again.bytes)]).toEqual([runId(1), "task 1"]);
      expect(await queue.offer(offer(1))).toBe("duplicate");
      await again.finish();
      expect(await queue.offer(offer(1))).toBe("offered");
    }));

  test("a run parked for later is available after the delay, and not lost before it", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const task = await takeOne(queue);
      const parkedAtMs = performance.now();
      await task.park({ again: true, againAfterMs: 300 });
      const found = new Promise<number>((resolve) => {
        queue.onHint(async () => {
          if ((await queue.take(anything)).length > 0) resolve(performance.now() - parkedAtMs);
        });
      });
      expect(await queue.take(anything)).toEqual([]);
      expect(await queue.offer(offer(1))).toBe("duplicate");
      expect(await found).toBeGreaterThanOrEqual(299);
    }));

  test("a released task is neither certain nor renewed, and all calls about it are ignored", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const task = await takeOne(queue);
      task.drop();
      expect(await task.renew()).toBe(false);
      await Promise.all([task.finish(), task.park(), task.park({ again: true })]);
      expect(await queue.take(anything)).toEqual([]);
      expect(task.lost.aborted).toBe(false);
    }));

  test.for(["park", "finish"] as const)("after %s a run is not held, and may be offered again", (release) =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const task = await takeOne(queue);
      await task[release]();
      expect(await queue.take(anything)).toEqual([]);
      expect(await queue.offer(offer(1))).toBe("offered");
      // A server that is busy may not have the new task ready at once.
      await vi.waitFor(async () => expect(numbers(await queue.take(anything))).toEqual([1]), 60_000);
      expect(task.lost.aborted).toBe(false);
    }),
  );

  test("returning a task twice does not take it from its next holder", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      const first = await takeOne(queue);
      await first.park();
      await queue.offer(offer(1));
      await takeOne(queue);
      await first.finish();
      expect(await queue.offer(offer(1))).toBe("duplicate");
    }));

  test("every offer is announced, until the listener is removed", () =>
    withQueue(async (queue) => {
      const [onHint, leftListener] = [vi.fn(), vi.fn()];
      const stop = queue.onHint(leftListener);
      const unsubscribe = queue.onHint(onHint);
      stop();
      await queue.offer(offer(1));
      await vi.waitFor(() => expect(onHint).toHaveBeenCalled());
      expect(leftListener).not.toHaveBeenCalled();
      unsubscribe();
    }));

  test("an announcement comes after the task can be taken", () =>
    withQueue(async (queue) => {
      const taken = new Promise<number[]>((resolve) => {
        queue.onHint(() => void queue.take(anything).then((tasks) => resolve(numbers(tasks))));
      });
      await queue.offer(offer(1));
      expect(await taken).toEqual([1]);
    }));

  test("closing loses held tasks, and refuses every take and offer", () =>
    withQueue(async (queue) => {
      await queue.offer(offer(1));
      await queue.offer(offer(2));
      const held = await takeOne(queue);
      await queue.close();
      expect(held.lost.aborted).toBe(true);
      await expect(queue.offer(offer(3))).rejects.toMatchObject({ code: "CLOSED" });
      expect(await queue.take(anything)).toEqual([]);
      await queue.close();
    }));

  test("a removed listener gets no announcement, not even of an offer in progress", () =>
    withQueue(async (queue) => {
      const onHint = vi.fn();
      const unsubscribe = queue.onHint(onHint);
      const offering = queue.offer(offer(1));
      unsubscribe();
      await offering;
      await queue.take(anything);
      expect(onHint).not.toHaveBeenCalled();
    }));
}
