import { jetstreamManager } from "@nats-io/jetstream";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsJournal, ensureStreams, type NatsLink } from "@troupe/nats";
import { describe, expect, it, onTestFinished } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { seededRandom } from "../harness/seeded-random.ts";
import { startTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { until } from "../harness/until.ts";
import { newRun, readFeed } from "./entries.fixture.ts";
import { type PortsUnderTest, type SharedNats, useNats } from "./ports.fixture.ts";

// Lost answers, killed servers, lost streams: acknowledged appends are stored, other appends are stored once or not at all,
// and no call waits for ever.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "the journal over NATS, when something fails" : natsServerMissing, () => {
  const nats = useNats();
  const open = async (...options: Parameters<SharedNats["open"]>): Promise<PortsUnderTest> => {
    const ports = await nats().open(...options);
    onTestFinished(() => ports.dispose());
    return ports;
  };
  const ownServer = async (): Promise<NatsServer> => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    return server;
  };
  /** Two processes. The first one is behind a proxy that the test controls. */
  const openBehindProxy = async (): Promise<{ proxy: TcpProxy; near: PortsUnderTest; far: PortsUnderTest }> => {
    const proxy = await startTcpProxy(nats().server.port);
    onTestFinished(() => proxy.close());
    const near = await open({ url: `nats://127.0.0.1:${proxy.port}` });
    return { proxy, near, far: await open({ namespace: near.namespace }) };
  };

  describe("an append whose answer is lost", () => {
    it("is found in the stream when it is tried again, and stored once", async () => {
      const { proxy, near, far } = await openBehindProxy();
      const of = newRun();
      await of.append(near.journal, -1, [of.entry(0)]);
      proxy.lose("toClient");
      const lost = of.append(near.journal, 0, [of.entry(1), of.entry(2)]);
      await until(async () => (await far.journal.readRun(of.session, of.run)).length === 3);
      proxy.cut();
      await expect(lost).rejects.toMatchObject({ code: "UNREACHABLE" });
      await reconnected(near.link);
      expect(await of.append(near.journal, 0, [of.entry(1), of.entry(2)])).toEqual({ ok: true });
      expect(await of.append(near.journal, 2, [of.entry(3)])).toEqual({ ok: true });
      expect(await far.journal.readRun(of.session, of.run)).toEqual(of.texts(0, 1, 2, 3));
    });

    it("is found even if other processes have written after it", async () => {
      const { proxy, near, far } = await openBehindProxy();
      const of = newRun();
      proxy.lose("toClient");
      const lost = of.append(near.journal, -1, [of.entry(0)]);
      await until(() => far.journal.lastOf(of.session, of.run));
      await of.append(far.journal, 0, [of.entry(1)], true);
      proxy.cut();
      await expect(lost).rejects.toMatchObject({ code: "UNREACHABLE" });
      await reconnected(near.link);
      expect(await of.append(near.journal, -1, [of.entry(0)])).toEqual({ ok: true });
      expect(await of.append(near.journal, 0, [of.entry(1, "mine")])).toMatchObject({ ok: false, lastIndex: 1 });
    });

    it("is a conflict if another process was first", async () => {
      const { proxy, near, far } = await openBehindProxy();
      const of = newRun();
      await of.append(near.journal, -1, [of.entry(0)]);
      await of.append(far.journal, 0, [of.entry(1, "theirs")]);
      proxy.lose("toClient");
      const lost = of.append(near.journal, 0, [of.entry(1)]);
      setTimeout(() => proxy.cut(), 50);
      await expect(lost).rejects.toMatchObject({ code: "UNREACHABLE" });
      await reconnected(near.link);
      expect(await of.append(near.journal, 0, [of.entry(1)])).toEqual({ ok: false, reason: "conflict", lastIndex: 1 });
    });
  });

  it("looks up writes without an answer, and writes none of them twice", async () => {
    const { proxy, near, far } = await openBehindProxy();
    const { link, namespace, blobs } = near;
    const clock = systemClock();
    const journal = await createNatsJournal({
      ...{ link, namespace, blobs, clock },
      logger: silentLogger,
      answerTimeoutMs: 200,
    });
    onTestFinished(() => journal.close());
    const of = newRun();
    const cancelItem = { v: 1, kind: "session.cancelled", at: 1, session: of.session, reason: "enough" } as const;
    proxy.loseReplies(`{"stream":"${namespace}_journal"`);
    expect(await journal.appendInbox(cancelItem)).toEqual({ seq: 1 });
    expect(await of.append(journal, -1, [of.entry(0)])).toEqual({ ok: true });
    expect(await journal.appendInbox(cancelItem)).toEqual({ seq: 2 });
    expect(await far.journal.readRun(of.session, of.run)).toEqual(of.texts(0));
    expect(await far.journal.readInbox(of.session)).toHaveLength(2);
  });

  it("numbers the items of an inbox without a gap while answers are lost and others write", async () => {
    const { proxy, near, far } = await openBehindProxy();
    const { session } = newRun();
    const cancelItem = (reason: string) => ({ v: 1, kind: "session.cancelled", at: 1, session, reason }) as const;
    proxy.lose("toClient");
    const lost = near.journal.appendInbox(cancelItem("near 0"));
    setTimeout(() => proxy.cut(), 50);
    await expect(lost).rejects.toMatchObject({ code: "UNREACHABLE" });
    await reconnected(near.link);
    const seqs = await Promise.all(
      Array.from({ length: 40 }, (_, i) => [near, far][i % 2]?.journal.appendInbox(cancelItem(`item ${i}`))),
    );
    expect(new Set(seqs.map((each) => each?.seq)).size).toBe(40);
    const items = await far.journal.readInbox(session);
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, i) => i + 1));
    expect(items.length - 40).toBeLessThanOrEqual(1);
    expect(await near.journal.readInbox(session, 30)).toEqual(items.slice(30));
  });

  it("loses no acknowledged append, and repeats none, while the server is killed again and again", async () => {
    const server = await ownServer();
    const { journal, link } = await open({ url: server.url, namespace: "kills" });
    const random = seededRandom(7);
    const feed = readFeed(journal);
    const runs = Array.from({ length: 20 }, () => newRun());
    const writing = Promise.all(
      runs.map(async (of) => {
        for (let index = 0; index < 60; index += 1) {
          const result = await of.appendForSure(journal, index - 1, [of.entry(index)]);
          if (!result.ok) throw new Error(`lost at ${index}: ${JSON.stringify(result)}`);
        }
      }),
    );
    for (let kill = 0; kill < 3; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, 30 + 60 * random()));
      await server.restart();
      await reconnected(link);
    }
    await writing;
    const indexes = Array.from({ length: 60 }, (_, i) => i);
    const items = await feed.until(1_200);
    for (const of of runs) {
      expect(await journal.readRun(of.session, of.run)).toEqual(of.texts(...indexes));
      const seen = items.filter((item) => item.kind === "entry" && item.run === of.run);
      expect(seen.map(({ text }) => text)).toEqual(of.texts(...indexes));
    }
    await feed.stop();
    expect(items).toHaveLength(1_200);
    expect(await journal.openRuns()).toHaveLength(20);
  });

  it("reports at once that the server is unreachable, and resumes by itself when it is back", async () => {
    const server = await ownServer();
    const { journal, link } = await open({ url: server.url });
    const of = newRun();
    await of.append(journal, -1, [of.entry(0)]);
    const feed = readFeed(journal);
    await feed.until(1);
    await journal.openRuns();
    await server.kill();
    await until(() => !link.connected);
    const began = performance.now();
    const unreachable = { code: "UNREACHABLE" };
    await expect(of.append(journal, 0, [of.entry(1)])).rejects.toMatchObject(unreachable);
    await expect(journal.readRun(of.session, of.run)).rejects.toMatchObject(unreachable);
    await expect(journal.lastOf(of.session, of.run)).rejects.toMatchObject(unreachable);
    await expect(journal.readInbox(of.session)).rejects.toMatchObject(unreachable);
    await expect(journal.openRuns()).rejects.toMatchObject(unreachable);
    await expect(journal.tail()).rejects.toMatchObject(unreachable);
    expect(performance.now() - began).toBeLessThan(10_000);

    await server.restart();
    await reconnected(link);
    const back = performance.now();
    expect(await of.append(journal, 0, [of.entry(1)])).toEqual({ ok: true });
    expect((await feed.until(2)).map(({ text }) => text)).toEqual(of.texts(0, 1));
    expect(await journal.openRuns()).toMatchObject([{ run: of.run, lastIndex: 1 }]);
    expect(performance.now() - back).toBeLessThan(15_000);
    await feed.stop();
  });

  it("reports that it is lost when its stream is gone, also to watches when another stream has replaced it", async () => {
    const { journal, link, namespace } = await open();
    const of = newRun();
    await of.append(journal, -1, [of.entry(0)]);
    const feed = readFeed(journal);
    await feed.until(1);
    const manager = await jetstreamManager(link.connection);
    await manager.streams.delete(`${namespace}_journal`);
    const lost = { code: "JOURNAL_LOST" };
    await expect(of.append(journal, 0, [of.entry(1)])).rejects.toMatchObject(lost);
    await expect(journal.readRun(of.session, of.run)).rejects.toMatchObject(lost);
    await expect(journal.tail()).rejects.toMatchObject(lost);
    await expect(feed.until(2)).rejects.toMatchObject(lost);

    await ensureStreams({ link, namespace });
    await expect(of.append(journal, 0, [of.entry(1)])).rejects.toMatchObject(lost);
    await expect(readFeed(journal).until(1)).rejects.toMatchObject(lost);
  });

  it("does not open if its streams are missing and must not be created", async () => {
    await expect(open({ createStreams: false })).rejects.toMatchObject({
      code: "JOURNAL_LOST",
      message: expect.stringContaining("_journal"),
    });
  });
});

async function reconnected(link: NatsLink): Promise<void> {
  await until(() => link.connected);
  await link.connection.flush();
}
