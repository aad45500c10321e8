import { createSubjects, silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsBusOn, type NatsLink, openNatsLink } from "@troupe/nats";
import { createAnnouncer, startMicro } from "@troupe/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatherMicro } from "../harness/micro.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";

// `nats micro ls`, `info` and `stats` send a request on $SRV and collect the replies.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "hosts, for NATS' own tools" : natsServerMissing, () => {
  let server: NatsServer;
  let link: NatsLink;
  const stops: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await startNatsServer();
    link = await openNatsLink({ servers: server.url });
    await openHost("worker-a");
    await openHost("worker-b");
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    await link.close();
    await server.stop();
  });

  async function openHost(host: string): Promise<void> {
    const own = await openNatsLink({ servers: server.url });
    const bus = createNatsBusOn(own);
    const facts = { host, role: "worker", version: "1.2.3", pid: 7, place: "box", capacity: 4, beatMs: 2_000 } as const;
    const ports = { bus, subjects: createSubjects(), clock: systemClock(), logger: silentLogger };
    const announcer = createAnnouncer({
      ...ports,
      facts: { ...facts, startedAt: new Date().toISOString() },
      agents: () => [],
      load: () => ({ runs: 2, busy: 1, draining: false }),
    });
    await announcer.start();
    const micro = await startMicro({ bus, logger: silentLogger, own: announcer });
    stops.push(() => own.close(), announcer.stop, micro.stop);
  }

  const gather = (subject: string, count: number) => gatherMicro(link, subject, count);

  it("answer a request to all of them, and one alone a request by name", async () => {
    const ids = async (subject: string, count: number) => (await gather(subject, count)).map(({ id }) => id).sort();
    expect(await ids("$SRV.PING", 2)).toEqual(["worker-a", "worker-b"]);
    expect(await ids("$SRV.INFO.troupe-worker", 2)).toEqual(["worker-a", "worker-b"]);
    expect(await ids("$SRV.STATS.troupe-worker.worker-b", 1)).toEqual(["worker-b"]);
  });

  it("report their load with their endpoints, whose subjects exist on the server", async () => {
    const [stats] = await gather("$SRV.STATS.troupe-worker.worker-a", 1);
    expect(stats).toMatchObject({
      version: "1.2.3",
      metadata: { host: "worker-a", place: "box" },
      endpoints: [
        { name: "asked", subject: "troupe.control.worker-a", data: { runs: 2, busy: 1, capacity: 4 } },
        { name: "drain", subject: "troupe.drain.worker-a" },
      ],
    });
    const question = new TextEncoder().encode('{"v":1,"kind":"hosts.asked"}');
    const reply = await link.connection.request("troupe.control.worker-a", question, { timeout: 30_000 });
    expect(reply.json()).toMatchObject({ kind: "host.beat", host: "worker-a" });
  });
});
