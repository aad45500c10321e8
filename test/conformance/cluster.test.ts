import { setTimeout as delay } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import type { Bus, TaskQueue } from "@troupe/core";
import { createNatsBus } from "@troupe/nats";
import { describe, expect, test } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import { newRun } from "../nats/entries.fixture.ts";
import { type PortsUnderTest, useCluster } from "../nats/ports.fixture.ts";
import { blobsConformance } from "./blobs.ts";
import { describeBus } from "./bus.ts";
import { journalConformance } from "./journal.ts";
import { taskQueueConformance } from "./task-queue.ts";

// The promises of every port, over three servers with three copies. The leader of a stream may be another server than the
// one a client is connected to, and a replicated stream refuses with other codes than a single one.

/**
 * The load of three servers decides how soon an offered task can be taken, and the suite does not wait. So it is run by
 * hand, on an idle machine. `test/nats/cluster.test.ts` has the promises that hold under any load.
 */
const isByHand = process.env.TROUPE_TEST_CLUSTER === "all";
const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "over a cluster of three servers" : natsServerMissing, () => {
  const nats = useCluster();
  /** Removes the tasks: leftovers would keep three servers busy. */
  const remove = async ({ link, namespace, dispose }: PortsUnderTest): Promise<void> => {
    const manager = await jetstreamManager(link.connection);
    const streams = [`${namespace}_journal`, `${namespace}_tasks`, `OBJ_${namespace}_blobs`];
    await Promise.all(streams.map((stream) => manager.streams.delete(stream)));
    await dispose();
  };

  journalConformance("NATS", {
    outlives: true,
    async open() {
      const namespace = nats().freshNamespace();
      let ports = await nats().open({ namespace });
      return {
        journal: ports.journal,
        async reopen() {
          await ports.dispose();
          ports = await nats().open({ namespace });
          return ports.journal;
        },
        dispose: () => remove(ports),
      };
    },
  });

  test("of three processes that append to the same subject at once over three servers, one succeeds", async () => {
    const namespace = nats().freshNamespace();
    const ends = await Promise.all(nats().cluster.servers.map(({ url }) => nats().open({ url, namespace })));
    const of = newRun();
    const places = Array.from({ length: 60 }, (_, index) => index);
    for (const index of places) {
      const writes = ends.map(({ journal }, i) => of.append(journal, index - 1, [of.entry(index, `by ${i}`)]));
      const results = await Promise.all(writes);
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    }
    const [texts, ...others] = await Promise.all(ends.map(({ journal }) => journal.readRun(of.session, of.run)));
    expect(texts).toHaveLength(places.length);
    expect(others).toEqual([texts, texts]);
    for (const end of ends) await end.dispose();
  });

  if (isByHand) {
    describe("the task queue", () => {
      taskQueueConformance(async () => {
        const ports = await nats().open();
        return { queue: patient(ports.queue), [Symbol.asyncDispose]: () => remove(ports) };
      });
    });
  }

  describeBus("the bus between clients of two servers", {
    async create(options) {
      const [one, another] = nats().cluster.servers;
      const connect = (server = one) => createNatsBus({ servers: server?.url ?? "", ...options });
      const [near, far] = await Promise.all([connect(one), connect(another)]);
      return { near: knownTo(far, near), far: knownTo(near, far) };
    },
  });

  describe("blobs", () => {
    blobsConformance(async () => {
      const ports = await nats().open();
      return { blobs: ports.blobs, [Symbol.asyncDispose]: () => remove(ports) };
    });
  });
});

/** Times after each of the further polls that a hint causes. */
const lookAgainMs = [50, 250];
let probes = 0;

/**
 * A bus that waits until the other servers know its subscriptions. Servers forward them in order, but do not confirm it.
 * troupe does not rely on it, but the suite must.
 */
function knownTo(other: Bus, bus: Bus): Bus {
  return {
    ...bus,
    async subscribe(pattern, listener) {
      const subscription = await bus.subscribe(pattern, (message) => {
        if (!/^(probe|_INBOX)\./.test(message.subject)) listener(message);
      });
      const subject = `probe.${++probes}`;
      const probe = await bus.subscribe(subject, (message) => message.respond(message.bytes));
      await until(() => other.request(subject, new Uint8Array(), { timeoutMs: 1_000 }).catch(() => null));
      probe.unsubscribe();
      return subscription;
    },
  };
}

/**
 * A queue that is polled again. The consumer may be on another server than the one that confirmed the offer, and learns of
 * the task a moment later. Hosts poll again after a hint for this reason.
 */
function patient(queue: TaskQueue): TaskQueue {
  return {
    ...queue,
    async take(request) {
      const taken = await queue.take(request);
      for (const afterMs of lookAgainMs) {
        if (taken.length === request.max || (taken.length > 0 && afterMs !== lookAgainMs[0])) break;
        await delay(afterMs);
        taken.push(...(await queue.take({ ...request, max: request.max - taken.length })));
      }
      return taken;
    },
  };
}
