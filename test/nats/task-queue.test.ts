/**
 * Tasks on a real server, and the faults that could duplicate, lose or block them: a holder that is suspended, a server that
 * goes away, lost hints, and messages of other programs.
 */
import { setTimeout as delay } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import { openQueueEnd, type QueueEnd, type QueueEndOptions, runId } from "./queues.fixture.ts";

const hasServer = findNatsServer() !== null;
const leaseMs = 1_000;
let namespaces = 0;

const text = new TextEncoder();
const offer = (n: number, changes: object = {}) => ({
  ...{ run: runId(n), agent: "coder", locality: "any", bytes: text.encode(`task ${n}`) },
  ...changes,
});

/** Processes on one queue. They are closed at the end of a test. */
function createFixture(url: string) {
  const namespace = `tasks${++namespaces}`;
  const ends: QueueEnd[] = [];
  return {
    namespace,
    async end(options: Partial<QueueEndOptions> = {}): Promise<QueueEnd> {
      const end = await openQueueEnd({ url, namespace, ...options });
      ends.push(end);
      return end;
    },
    async tasks(): Promise<number> {
      const manager = await jetstreamManager(ends[0]?.link.connection as QueueEnd["link"]["connection"]);
      return (await manager.streams.info(`${namespace}_tasks`)).state.messages;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((end) => end.close()));
    },
  };
}

describe.skipIf(!hasServer)(hasServer ? "tasks over NATS" : natsServerMissing, { concurrent: true }, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  it("a suspended holder loses its task to another host, and cannot affect it when it resumes", async () => {
    await using stage = createFixture(server.url);
    const [a, b] = [await stage.end(), await stage.end({ sweepMs: 100 })];
    await a.queue.offer(offer(1));
    const task = await a.next();
    a.clock.sleep();
    const silentSinceMs = performance.now();
    const again = await b.next();
    expect(performance.now() - silentSinceMs).toBeLessThan(10 * leaseMs);
    expect([again.run, again.redelivered, again.isCertain()]).toEqual([runId(1), true, true]);
    a.clock.wake();
    expect([task.isCertain(), task.lost.aborted]).toEqual([false, false]);
    await task.park({ again: true });
    await task.park();
    // A late acknowledgement would have returned or deleted the task of its new holder.
    expect(await a.take()).toEqual([]);
    expect(await b.queue.offer(offer(1))).toBe("duplicate");
    await again.finish();
    expect(await stage.tasks()).toBe(0);
  });

  it("a holder that no longer extends its lease does not block the task: another host gets it", async () => {
    await using stage = createFixture(server.url);
    const [a, b] = [await stage.end(), await stage.end({ sweepMs: 100 })];
    await a.queue.offer(offer(1));
    const task = await a.next();
    a.clock.sleep();
    await delay(0.65 * leaseMs);
    expect(task.isCertain()).toBe(false);
    a.clock.wake();
    expect((await b.next()).run).toBe(runId(1));
  });

  it("a task that is delivered to its holder again stays held there", async () => {
    await using stage = createFixture(server.url);
    // A busy machine must not make the lease uncertain again.
    const longLeaseMs = 4 * leaseMs;
    const a = await stage.end({ sweepMs: 100, leaseMs: longLeaseMs });
    await a.queue.offer(offer(1));
    const task = await a.next();
    a.clock.sleep();
    await delay(0.8 * longLeaseMs);
    a.clock.wake();
    const unsure = new Promise<void>((resolve) => task.onUncertain(resolve));
    a.queue.onHint(() => void a.take().then((tasks) => expect(tasks).toEqual([])));
    await unsure;
    expect([await task.renew(), task.isCertain(), task.lost.aborted]).toEqual([true, true, false]);
    await delay(1.5 * longLeaseMs);
    expect([task.isCertain(), task.lost.aborted]).toEqual([true, false]);
    await task.finish();
    expect(await stage.tasks()).toBe(0);
  });

  it("a task that one host leaves to others goes to another one, although the first host takes every task", async () => {
    await using stage = createFixture(server.url);
    // A lease that runs out on a busy machine would end the test: nothing is parked then, and no hint follows.
    const slow = { sweepMs: 60_000, leaseMs: 30_000 };
    const [a, b] = [await stage.end(slow), await stage.end(slow)];
    let left = 0;
    const leave = async (): Promise<void> => {
      for (const task of await a.take()) {
        left += 1;
        await task.park({ again: true });
      }
    };
    a.queue.onHint(() => void leave());
    await leave();
    await b.take();
    const found = b.next();
    await a.queue.offer(offer(1));
    expect((await found).run).toBe(runId(1));
    expect(left).toBeLessThan(3);
  });

  it("a task parked with a delay is taken after the delay, not before, and without a periodic poll", async () => {
    await using stage = createFixture(server.url);
    // A lease that runs out on a busy machine would end the test: nothing is parked then, and no hint follows.
    const slow = { sweepMs: 60_000, leaseMs: 30_000 };
    const [a, b] = [await stage.end(slow), await stage.end(slow)];
    await a.queue.offer(offer(1));
    const task = await a.next();
    const parkedAtMs = performance.now();
    await task.park({ again: true, againAfterMs: 400 });
    await b.next();
    const tookMs = performance.now() - parkedAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(399);
    expect(tookMs).toBeLessThan(20_000);
  });

  it("a task whose hint was lost is found by the periodic poll", async () => {
    await using stage = createFixture(server.url);
    const [a, b] = [await stage.end({ isMute: true }), await stage.end({ sweepMs: 300 })];
    await b.take();
    const found = b.next();
    await a.queue.offer(offer(1));
    expect((await found).run).toBe(runId(1));
  });

  it("an offer is found at once by its hint, not by the periodic poll", async () => {
    await using stage = createFixture(server.url);
    const [a, b] = [await stage.end({ sweepMs: 60_000 }), await stage.end({ sweepMs: 60_000 })];
    await b.take();
    const found = b.next();
    const offeredAtMs = performance.now();
    await a.queue.offer(offer(1));
    await found;
    expect(performance.now() - offeredAtMs).toBeLessThan(20_000);
  });

  it("320 tasks of one agent of fifty go to eight hosts, each once, and never more than their capacity", async () => {
    await using stage = createFixture(server.url);
    const agents = Array.from({ length: 50 }, (_, i) => `agent-${i}`);
    const ends = await Promise.all(Array.from({ length: 8 }, () => stage.end({ leaseMs: 8_000 })));
    await Promise.all(ends.map((end) => end.take({ agents })));
    let pulls = 0;
    const watcher = ends[0]?.link.connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${stage.namespace}_tasks.>`, {
      callback() {
        pulls += 1;
      },
    });
    const done: string[] = [];
    const all = Promise.withResolvers<void>();
    const mostHeld = ends.map((end) => {
      const held = { now: 0, most: 0 };
      const work = async (): Promise<void> => {
        const free = 4 - held.now;
        held.now += free;
        const tasks = await end.take({ agents, max: free });
        held.now -= free - tasks.length;
        held.most = Math.max(held.most, held.now);
        for (const task of tasks) {
          void delay(5)
            .then(() => task.finish())
            .then(() => {
              held.now -= 1;
              done.push(task.run);
              if (done.length === 320) all.resolve();
              return work();
            });
        }
      };
      end.queue.onHint(() => void work());
      return held;
    });
    const numbers = Array.from({ length: 320 }, (_, n) => n);
    await Promise.all(numbers.map((n) => ends[n % 8]?.queue.offer(offer(n, { agent: "agent-7" }))));
    await all.promise;
    watcher?.unsubscribe();
    expect(new Set(done).size).toBe(320);
    expect(Math.max(...mostHeld.map(({ most }) => most))).toBeLessThanOrEqual(4);
    expect(await stage.tasks()).toBe(0);
    // About one poll for each task, not one for each agent and host.
    expect(pulls).toBeGreaterThan(320 / 4);
    expect(pulls).toBeLessThan(3_000);
  });

  describe("a message that is not a task", () => {
    const versioned = (version: string) => {
      const fields = headers();
      fields.set("Troupe-Version", version);
      return fields;
    };

    it("has no effect: it is counted, and each kind logged once", async () => {
      await using stage = createFixture(server.url);
      const a = await stage.end({ sweepMs: 100 });
      const { connection } = a.link;
      const subject = (n: number, of = stage.namespace): string => `${of}.task.any.coder.${runId(n)}`;
      for (let n = 1; n <= 20; n += 1) await connection.request(subject(n), n % 2 ? "hello" : new Uint8Array(50_000));
      await connection.request(`${subject(21)}.more`, "of another shape");
      await connection.request(`${stage.namespace}.task.x`, "of another shape");
      await connection.request(subject(22), "from tomorrow", { headers: versioned("99"), timeout: 1_000 });
      await a.queue.offer(offer(23));
      const task = await a.next({ max: 30 });
      expect([task.run, a.queue.refused]).toEqual([runId(23), 20]);
      expect(a.logged).toEqual(["message in the work queue refused", "task left to others"]);
      await task.finish();
      // A task of a newer version stays for newer hosts. Messages that no consumer selects stay, too.
      expect(await stage.tasks()).toBe(3);
      const newest = await (await jetstreamManager(connection)).streams.getMessage(`${stage.namespace}_tasks`, {
        last_by_subj: subject(22),
      });
      expect(newest?.string()).toBe("from tomorrow");
    });

    it("on the subject of a run gives way to the later offer of that run", async () => {
      await using stage = createFixture(server.url);
      const a = await stage.end({ sweepMs: 100 });
      await a.link.connection.request(`${stage.namespace}.task.any.coder.${runId(1)}`, "hello");
      expect(await a.queue.offer(offer(1))).toBe("duplicate");
      await until(async () => (await a.take()).length === 0 && (await stage.tasks()) === 0);
      expect(await a.queue.offer(offer(1))).toBe("offered");
      expect((await a.next()).run).toBe(runId(1));
    });

    it("larger than any message is refused before it is sent, and the connection stays", async () => {
      await using stage = createFixture(server.url);
      const a = await stage.end();
      const events: string[] = [];
      a.link.onEvent(({ kind }) => events.push(kind));
      for (const bytes of [1024 * 1024 + 1, 16 * 1024 * 1024]) {
        await expect(a.queue.offer(offer(1, { bytes: new Uint8Array(bytes) }))).rejects.toMatchObject({
          code: "TOO_LARGE",
        });
      }
      expect(await a.queue.offer(offer(2))).toBe("offered");
      expect(events).toEqual([]);
    });
  });
});

describe.skipIf(!hasServer)(hasServer ? "a server that goes away" : natsServerMissing, { concurrent: true }, () => {
  it("for seconds, and comes back: holders keep their tasks, and waiting tasks are still there", async () => {
    const server = await startNatsServer();
    try {
      await using stage = createFixture(server.url);
      const [a, b] = [await stage.end({ sweepMs: 100 }), await stage.end({ sweepMs: 100 })];
      for (let n = 1; n <= 20; n += 1) await a.queue.offer(offer(n));
      const held = await a.take({ max: 5 });
      const gone = await b.take({ max: 2 });
      for (const task of gone) await task.finish();
      await server.kill();
      await delay(2.5 * leaseMs);
      expect(held.map((task) => [task.isCertain(), task.lost.aborted])).toEqual(held.map(() => [false, false]));
      await server.restart();
      await until(() => a.link.connected && b.link.connected);
      // The holder has read the journal meanwhile: the tasks are still its own.
      for (const task of held) await until(() => task.renew());
      const rest = new Set<string>();
      const takeRest = async (end: QueueEnd): Promise<void> => {
        for (const task of await end.take({ max: 20 })) {
          rest.add(task.run);
          await task.finish();
        }
      };
      await until(async () => {
        // Every holder does this: without a renewal the lease is not certain.
        for (const task of held) await task.renew();
        await takeRest(a);
        return rest.size >= 13;
      });
      await until(async () => (await Promise.all(held.map((task) => task.renew()))).every(Boolean));
      expect(held.map((task) => [task.isCertain(), task.lost.aborted])).toEqual(held.map(() => [true, false]));
      for (const task of held) await task.finish();
      await takeRest(b);
      const finished = new Set([...held, ...gone].map(({ run }) => run));
      expect([...rest].filter((run) => finished.has(run))).toEqual([]);
      expect(await stage.tasks()).toBe(0);
    } finally {
      await server.stop();
    }
  });

  it("and comes back empty: held tasks are lost without an acknowledgement, and all can be offered again", async () => {
    const server = await startNatsServer();
    const { port } = server;
    let next: NatsServer | null = null;
    try {
      await using stage = createFixture(server.url);
      const a = await stage.end({ sweepMs: 100 });
      for (let n = 1; n <= 3; n += 1) await a.queue.offer(offer(n));
      const [first, second] = await a.take({ max: 2 });
      const lost = [first, second].map(
        (task) => new Promise((resolve) => task?.lost.addEventListener("abort", resolve)),
      );
      await server.stop();
      next = await startNatsServer({ port });
      // The next troupe creates the streams again.
      const b = await stage.end({ sweepMs: 100 });
      for (const n of [3, 1]) expect(await b.queue.offer(offer(n))).toBe("offered");
      const [held] = await b.take();
      const renewing = setInterval(() => void Promise.all([first?.renew(), second?.renew()]), 100);
      await Promise.all(lost);
      clearInterval(renewing);
      await Promise.all([first?.finish(), second?.park()]);
      expect([held?.run, held?.lost.aborted, await stage.tasks()]).toEqual([runId(3), false, 2]);
      expect((await a.next()).run).toBe(runId(1));
    } finally {
      await next?.stop();
      await server.stop();
    }
  });
});
