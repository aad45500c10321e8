import { jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, it, onTestFinished } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import { newRun, type RunUnderTest, readFeed, requestOf } from "./entries.fixture.ts";
import { type PortsUnderTest, type SharedNats, useNats } from "./ports.fixture.ts";

// Followers of the journal, their checkpoints, and purges.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "followers of the journal over NATS" : natsServerMissing, () => {
  const nats = useNats();
  const open = async (...options: Parameters<SharedNats["open"]>): Promise<PortsUnderTest> => {
    const ports = await nats().open(...options);
    onTestFinished(() => ports.dispose());
    return ports;
  };
  const fill = async ({ journal }: PortsUnderTest, of: RunUnderTest, first: number, count: number): Promise<void> => {
    for (let index = first; index < first + count; index += 1) await of.append(journal, index - 1, [of.entry(index)]);
  };

  it("return after a day and catch up from their checkpoint", async () => {
    const ports = await open();
    const of = newRun();
    await fill(ports, of, 0, 5);
    const first = readFeed(ports.journal, 0, "recorder");
    const checkpoint = (await first.until(5))[4]?.position ?? 0;
    await ports.journal.checkpoint("recorder", checkpoint);
    await until(async () => (await ports.journal.followers())[0]?.position === checkpoint);
    await first.stop();

    await fill(ports, of, 5, 2_000);
    const again = await open({ namespace: ports.namespace });
    expect(await again.journal.followers()).toEqual([{ follower: "recorder", position: checkpoint }]);
    const second = readFeed(again.journal, checkpoint, "recorder");
    const items = await second.until(2_000);
    expect(items.map((item) => item.kind === "entry" && item.index)).toEqual(
      Array.from({ length: 2_000 }, (_, i) => i + 5),
    );
    await second.stop();
  });

  it.each([
    { what: "the items after their checkpoint", keep: 1, begin: 1 },
    { what: "all items of a lost copy", keep: 5, begin: 1 },
    { what: "items before their checkpoint, because their copy was lost", keep: 4, begin: 1 },
    { what: "no item, although their last acknowledgement was lost,", keep: 1, begin: 5 },
  ])("receive $what again, in order, from any position", async ({ keep, begin: place }) => {
    const ports = await open();
    const of = newRun();
    await fill(ports, of, 0, 6);
    const first = readFeed(ports.journal, 0, "recorder");
    const places = (await first.until(6)).map(({ position }) => position);
    await ports.journal.checkpoint("recorder", places[keep] ?? 0);
    await first.stop();

    const begin = places[place] ?? 0;
    const second = readFeed(ports.journal, begin, "recorder");
    await fill(ports, of, 6, 3);
    const items = await second.until(8 - place);
    expect(items.map((item) => item.kind === "entry" && item.index)).toEqual([2, 3, 4, 5, 6, 7, 8].slice(place - 1));
    expect(await ports.journal.followers()).toEqual([{ follower: "recorder", position: begin }]);
    await ports.journal.checkpoint("recorder", items.at(-1)?.position ?? 0);
    await until(async () => (await ports.journal.followers())[0]?.position === items.at(-1)?.position);
    await second.stop();
  });

  it("acknowledge only whole messages, with any number of entries", async () => {
    const ports = await open();
    const of = newRun();
    await of.append(ports.journal, -1, [of.entry(0)]);
    await of.append(ports.journal, 0, [of.entry(1), of.entry(2), of.entry(3)]);
    const feed = readFeed(ports.journal, 0, "recorder");
    const [first, , third, last] = (await feed.until(4)).map(({ position }) => position);
    expect([first, third, last]).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    await ports.journal.checkpoint("recorder", third ?? 0);
    await until(async () => (await ports.journal.followers())[0]?.position === first);
    await ports.journal.checkpoint("recorder", last ?? 0);
    await until(async () => (await ports.journal.followers())[0]?.position === last);
    await feed.stop();
  });

  it("have independent checkpoints", async () => {
    const ports = await open();
    const of = newRun();
    await fill(ports, of, 0, 3);
    const [slow, fast] = [readFeed(ports.journal, 0, "slow"), readFeed(ports.journal, 0, "fast")];
    const [one, , three] = (await fast.until(3)).map(({ position }) => position);
    await slow.until(3);
    await ports.journal.checkpoint("slow", one ?? 0);
    await ports.journal.checkpoint("fast", three ?? 0);
    await until(async () => (await ports.journal.followers()).every(({ position }) => position > 0));
    expect((await ports.journal.followers()).sort((a, b) => a.position - b.position)).toEqual([
      { follower: "slow", position: one },
      { follower: "fast", position: three },
    ]);
    await Promise.all([slow.stop(), fast.stop()]);
  });

  it("refuse an invalid name", async () => {
    const { journal } = await open();
    await expect(readFeed(journal, 0, "a.b").until(1)).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
  });

  describe("and settled sessions", () => {
    const settle = async ({ journal }: PortsUnderTest, of: RunUnderTest): Promise<void> => {
      await journal.appendInbox(requestOf(of));
      await of.append(journal, -1, [of.entry(0)]);
      await of.append(journal, 0, [of.entry(1)], true);
    };

    it("list the sessions without an open run, with the time of their end", async () => {
      const ports = await open();
      const [settled, open_, asked] = [newRun(), newRun(), newRun()];
      const before = Date.now();
      await settle(ports, settled);
      await settle(ports, open_);
      await open_.append(ports.journal, -1, [open_.entry(0)]);
      const child = newRun(open_.session);
      await child.append(ports.journal, -1, [child.entry(0)]);
      await ports.journal.appendInbox(requestOf(asked));
      const sessions = await ports.journal.settledSessions();
      expect(sessions).toEqual([
        { session: settled.session, endedAtMs: expect.any(Number), position: expect.any(Number) },
      ]);
      expect(Math.abs((sessions[0]?.endedAtMs ?? 0) - before)).toBeLessThan(5_000);
    });

    it("purge one session completely, and nothing else", async () => {
      const ports = await open();
      const other = await open({ namespace: ports.namespace });
      const [gone, stays] = [newRun(), newRun()];
      await settle(ports, gone);
      await settle(ports, stays);
      const [first] = await other.journal.settledSessions();
      expect(first?.session).toBe(gone.session);
      const tail = await ports.journal.tail();
      expect(await other.journal.purgeSession(gone.session, first?.position ?? 0)).toBe(true);

      expect(await ports.journal.readRun(gone.session, gone.run)).toEqual([]);
      expect(await ports.journal.readInbox(gone.session)).toEqual([]);
      expect(await ports.journal.readRun(stays.session, stays.run)).toEqual(stays.texts(0, 1));
      expect(await ports.journal.readInbox(stays.session)).toHaveLength(1);
      expect(await other.journal.openRuns()).toEqual([]);
      expect((await other.journal.settledSessions()).map(({ session }) => session)).toEqual([stays.session]);
      expect(await ports.journal.tail()).toBe(tail);
      const feed = readFeed(ports.journal);
      expect((await feed.until(3)).every(({ session }) => session === stays.session)).toBe(true);
      await feed.stop();

      await settle(ports, newRun(stays.session));
      expect(await ports.journal.readInbox(stays.session)).toHaveLength(2);
      expect(await ports.journal.tail()).toBeGreaterThan(tail);
    });

    it("keep a turn that began after the purged ones", async () => {
      const ports = await open();
      const first = newRun();
      await settle(ports, first);
      const [{ position = 0 } = {}] = await ports.journal.settledSessions();
      const second = newRun(first.session);
      await ports.journal.appendInbox({ ...requestOf(second), kind: "session.continued" });
      await second.append(ports.journal, -1, [second.entry(0)]);
      expect(await ports.journal.purgeSession(first.session, position)).toBe(true);
      expect(await ports.journal.readRun(first.session, first.run)).toEqual([]);
      expect(await ports.journal.readRun(second.session, second.run)).toEqual(second.texts(0));
      expect((await ports.journal.readInbox(first.session)).map(({ seq }) => seq)).toEqual([2]);
      expect(await ports.journal.appendInbox({ ...requestOf(second), kind: "session.continued" })).toEqual({ seq: 3 });
      expect(await ports.journal.openRuns()).toMatchObject([{ run: second.run, lastIndex: 0 }]);
    });

    it("keep the session that has the newest item, so that positions never go back", async () => {
      const ports = await open();
      const [first, last] = [newRun(), newRun()];
      await settle(ports, first);
      await settle(ports, last);
      const tail = await ports.journal.tail();
      expect(await ports.journal.purgeSession(last.session, tail)).toBe(false);
      expect(await ports.journal.readRun(last.session, last.run)).toEqual(last.texts(0, 1));
    });

    it("find the end of a feed after its newest items were purged", async () => {
      const ports = await open();
      const [stays, gone] = [newRun(), newRun()];
      await settle(ports, stays);
      const tail = await ports.journal.tail();
      await settle(ports, gone);
      await ports.journal.openRuns();
      const manager = await jetstreamManager(ports.link.connection);
      const stream = `${ports.namespace}_journal`;
      await manager.streams.purge(stream, { filter: ports.subjects.inbox(gone.session) });
      await manager.streams.purge(stream, { filter: ports.subjects.all.journalOf(gone.session) });
      expect(await ports.journal.tail()).toBe(tail);
      const later = await open({ namespace: ports.namespace });
      expect(await later.journal.openRuns()).toEqual([]);
      expect(await later.journal.openRuns({ session: stays.session })).toEqual([]);
      await manager.streams.purge(stream);
      expect(await ports.journal.tail()).toBe(0);
      expect(await later.journal.openRuns()).toEqual([]);
    });
  });
});
