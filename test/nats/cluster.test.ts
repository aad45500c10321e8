import { setTimeout as delay } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import { describe, type TestContext, test } from "vitest";
import { type NatsCluster, startNatsCluster } from "../harness/nats-cluster.ts";
import { findNatsServer, type NatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import { newRun, type RunUnderTest, readFeed } from "./entries.fixture.ts";
import type { PortsUnderTest } from "./ports.fixture.ts";
import { runId } from "./queues.fixture.ts";

// Three servers with three copies: leaders that die or step down, replicas that are behind, a lost quorum. Acknowledged
// messages are never lost or duplicated, and everything resumes by itself.

/** An election takes four to nine seconds, and is repeated if it has no winner. */
const limitMs = 90_000;
const hasServer = findNatsServer() !== null;
const namespace = "three";
const journalStream = `${namespace}_journal`;
/** Between two appends of one writer. */
const writePauseMs = 10;
const taskStream = `${namespace}_tasks`;

// Each test has its own cluster, and mostly waits for elections.
const what = hasServer ? "over a cluster of three servers" : natsServerMissing;
describe.skipIf(!hasServer).concurrent(what, { timeout: limitMs }, () => {
  test("no append is lost, repeated or refused to its own writer while leaders step down", async (context) => {
    const { expect } = context;
    const { cluster, ends } = await startEnds(context);
    const writing = startWriters(ends, 6);
    const feed = readFeed(oneOf(ends, 0).journal);
    for (let step = 0; step < 8; step += 1) {
      await delay(300);
      await Promise.all([cluster.stepDown(journalStream), cluster.stepDown(taskStream)]);
    }
    await writing.stop();
    expect(writing.conflicts).toEqual([]);
    await expectAllThere(context, writing.runs, ends);
    const total = writing.runs.reduce((sum, { count }) => sum + count, 0);
    expect(await feed.until(total)).toHaveLength(total);
    await feed.stop();
  });

  test("a task that is offered three times is queued once, and every task is taken and finished, while leaders step down", async (context) => {
    const { expect } = context;
    const { cluster, ends } = await startEnds(context);
    const numbers = Array.from({ length: 30 }, (_, i) => i + 1);
    const offer = (n: number) => ({ run: runId(n), agent: "coder", locality: "any", bytes: new Uint8Array([n]) });
    await duringStepDowns(cluster, async () => {
      for (const n of numbers) await Promise.all(ends.map(({ queue }) => offerForSure(queue, offer(n))));
    });
    expect(await messagesOf(oneOf(ends, 0), taskStream)).toBe(30);

    const taken = new Set<number>();
    const takeAll = async ({ queue }: End): Promise<void> => {
      while (taken.size < 30) {
        queue.pollFaster();
        for (const task of await queue.take({ agents: ["coder"], localities: [], max: 4 })) {
          taken.add(task.bytes[0] ?? 0);
          await task.finish();
        }
      }
    };
    await duringStepDowns(cluster, () => Promise.all(ends.map(takeAll)));
    expect([...taken].sort((a, b) => a - b)).toEqual(numbers);
    await until(async () => (await messagesOf(oneOf(ends, 0), taskStream)) === 0);
  });

  test("appends resume by themselves when the server of the leader is killed, for its own clients, too", async (context) => {
    const { expect } = context;
    const { cluster, ends } = await startEnds(context);
    const writing = startWriters(ends, 3);
    const feed = readFeed(oneOf(ends, 1).journal);
    await until(() => feed.items.length > 60);
    const leader = await cluster.leaderOf(journalStream);
    await leader.kill();
    // Each end was given one address. It has learned the others from the cluster.
    await until(() => ends.every(({ link }) => link.connected && link.connection.getServer() !== addressOf(leader)));
    const before = writing.count();
    await until(() => writing.count() > before + 60);
    await leader.restart();
    await cluster.whole(journalStream);
    await writing.stop();
    expect(writing.conflicts).toEqual([]);
    await expectAllThere(context, writing.runs, ends);
    const total = writing.runs.reduce((sum, { count }) => sum + count, 0);
    expect(await feed.until(total)).toHaveLength(total);
    await feed.stop();
  });

  test("messages that a replica lacks are read from the leader: no run goes back, and none starts again", async (context) => {
    const { expect } = context;
    const { cluster, ends } = await startEnds(context);
    const [behind] = await cluster.followersOf(journalStream);
    const far = ends.find(({ server }) => server === behind);
    const near = ends.find(({ server }) => server !== behind);
    if (!behind || !far || !near) throw new Error("no follower");
    const [old, begun] = [newRun(), newRun()];
    await old.append(near.journal, -1, [old.entry(0)]);
    await cluster.whole(journalStream);
    // Even an up-to-date replica is behind for a millisecond.
    for (let i = 0; i < 100; i += 1) {
      const fresh = newRun();
      await fresh.append(near.journal, -1, [fresh.entry(0)], true);
      expect(await far.journal.readRun(fresh.session, fresh.run)).toHaveLength(1);
    }

    behind.freeze();
    const indexes = Array.from({ length: 400 }, (_, i) => i);
    for (const index of indexes.slice(1)) await old.append(near.journal, index - 1, [old.entry(index)]);
    await begun.append(near.journal, -1, [begun.entry(0)]);
    const cancelItem = { v: 1, kind: "session.cancelled", at: 1, session: old.session, reason: "enough" } as const;
    await near.journal.appendInbox(cancelItem);
    // The suspended server receives all of these before the messages of the other servers.
    const reads = Promise.all([
      far.journal.readRun(old.session, old.run),
      far.journal.lastOf(begun.session, begun.run),
      far.journal.readInbox(old.session),
      far.journal.openRuns(),
      begun.append(far.journal, -1, [begun.entry(0, "anew")]),
    ]);
    behind.thaw();
    const [texts, last, items, open, anew] = await reads;
    expect(texts).toEqual(old.texts(...indexes));
    expect(last).toBe(begun.entry(0).text);
    expect(items).toHaveLength(1);
    expect(open.map(({ run, lastIndex }) => [run, lastIndex])).toEqual([
      [old.run, 399],
      [begun.run, 0],
    ]);
    expect(anew).toEqual({ ok: false, reason: "conflict", lastIndex: 0 });
  });

  test("with one server of three nothing is written and no host loses its run; with two everything resumes", async (context) => {
    const { expect } = context;
    const { cluster, ends } = await startEnds(context);
    const held = oneOf(ends, 2);
    await held.queue.offer({ run: runId(1), agent: "coder", locality: "any", bytes: new Uint8Array([1]) });
    const [task] = await until(async () => {
      const taken = await held.queue.take({ agents: ["coder"], localities: [], max: 1 });
      return taken.length > 0 && taken;
    });
    const writing = startWriters(ends, 3);
    await until(() => writing.count() > 30);
    const [one, two] = cluster.servers;
    await Promise.all([one?.kill(), two?.kill()]);
    const third = addressOf(oneOf(ends, 2).server);
    await until(() => ends.every(({ link }) => link.connected && link.connection.getServer() === third));
    await until(() => !task?.isCertain());
    // Acknowledgements from before the kill may have been on their way until now.
    const before = writing.count();
    expect(await held.queue.take({ agents: ["coder"], localities: [], max: 1 })).toEqual([]);
    expect(task?.lost.aborted).toBe(false);
    expect(writing.count()).toBe(before);

    await one?.restart();
    await until(() => writing.count() > before + 30);
    await until(() => task?.renew());
    await writing.stop();
    expect(writing.conflicts).toEqual([]);
    await expectAllThere(context, writing.runs, ends);
  });
});

/** Makes the leader of the work queue step down repeatedly meanwhile. */
async function duringStepDowns<T>(cluster: NatsCluster, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const stepping = (async () => {
    while (!isOver) {
      await cluster.stepDown(taskStream);
      await delay(200);
    }
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await stepping;
  }
}

/** Repeats an offer as parent runs do: the stream may lack a leader for longer than its time limit. */
async function offerForSure(queue: End["queue"], offer: Parameters<End["queue"]["offer"]>[0]): Promise<void> {
  await until(() => queue.offer(offer).then(Boolean, () => false));
}

interface End extends PortsUnderTest {
  server: NatsServer;
}

/** A cluster, and for each of its servers a process that was given that address only. */
async function startEnds({ onTestFinished }: TestContext): Promise<{ cluster: NatsCluster; ends: End[] }> {
  const cluster = await startNatsCluster();
  onTestFinished(() => cluster.stop());
  const ends = await Promise.all(cluster.servers.map(openEnd));
  onTestFinished(async () => {
    await Promise.all(ends.map((end) => end.dispose()));
  });
  return { cluster, ends };
}

async function openEnd(server: NatsServer): Promise<End> {
  const link = await openNatsLink({ servers: server.url, reconnectDelayMs: 20 });
  const ports = await openNatsPorts({ link, namespace, leaseMs: 2_000, clock: systemClock(), logger: silentLogger });
  return {
    ...ports,
    link,
    namespace,
    server,
    async dispose() {
      await ports.close();
      await link.close();
    },
  };
}

interface Written {
  of: RunUnderTest;
  /** Entries that were acknowledged. */
  count: number;
}

/**
 * Writers with one run each. They repeat appends without an answer. Their pace leaves the processor to the servers, whose
 * elections need it.
 */
function startWriters(ends: readonly End[], writers: number) {
  const runs: Written[] = Array.from({ length: writers }, () => ({ of: newRun(), count: 0 }));
  const conflicts: unknown[] = [];
  let stopped = false;
  const write = async (mine: Written, end: End): Promise<void> => {
    while (!stopped) {
      const result = await mine.of.appendForSure(end.journal, mine.count - 1, [mine.of.entry(mine.count)]);
      if (!result.ok) {
        conflicts.push(result);
        return;
      }
      mine.count += 1;
      await delay(writePauseMs);
    }
  };
  const writing = runs.map((mine, i) => write(mine, oneOf(ends, i % ends.length)));
  return {
    runs,
    conflicts,
    count: () => runs.reduce((sum, { count }) => sum + count, 0),
    async stop() {
      stopped = true;
      await Promise.all(writing);
    },
  };
}

/** Every reader reads every run as it was written. */
async function expectAllThere({ expect }: TestContext, runs: readonly Written[], ends: readonly End[]): Promise<void> {
  for (const [i, { of, count }] of runs.entries()) {
    const { journal } = oneOf(ends, (i + 1) % ends.length);
    // The stream may have no leader at the moment.
    const texts = await until(() => journal.readRun(of.session, of.run).catch(() => null));
    expect(texts).toEqual(of.texts(...Array.from({ length: count }, (_, index) => index)));
  }
}

function oneOf(ends: readonly End[], i: number): End {
  const end = ends[i];
  if (!end) throw new Error(`there is no end ${i}`);
  return end;
}

function addressOf({ port }: NatsServer): string {
  return `127.0.0.1:${port}`;
}

async function messagesOf({ link }: End, stream: string): Promise<number | null> {
  const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: 1_000 });
  return await manager.streams.info(stream).then(
    ({ state }) => state.messages,
    () => null,
  );
}
